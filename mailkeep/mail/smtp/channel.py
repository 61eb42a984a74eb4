"""The server's end of one SMTP or LMTP connection: lines and content in, replies out, deadlines.

One coroutine drives each connection and awaits its input here; replies are held back until it waits, so that
a pipelined group is answered in one write (RFC 2920 §3.2). No more than `INPUT_HIGH` bytes wait unread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import cast

from mailkeep.mail.smtp.reply import SmtpReply

INPUT_HIGH = 256 * 1024
LINE_HIGH = 64 * 1024
_OUTPUT_HIGH = 16 * 1024


class ChannelEnd(Exception):
    """The conversation can't go on."""


class PeerDisconnect(ChannelEnd):
    """The client closed the connection, or it broke."""


class SessionTimeout(ChannelEnd):
    """Nothing came for the idle time, or the session has lasted for too long."""


class ServerStop(ChannelEnd):
    """The server is being stopped."""


class BareLineFeed(ChannelEnd):
    """A command line ended with LF alone."""


class EndlessLine(ChannelEnd):
    """A command line has no end within `LINE_HIGH` bytes."""


class LineTooLong(Exception):
    """A command line was longer than allowed; all of it has been thrown away."""


class Channel(asyncio.Protocol):
    """One accepted connection. `converse` is started with it and owns it until it returns."""

    def __init__(
        self,
        converse: Callable[[Channel], Coroutine[None, None, None]],
        *,
        idle_seconds: float,
        session_seconds: float,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._converse = converse
        self._idle_seconds = idle_seconds
        self._ends_at = self._loop.time() + session_seconds
        self._transport: asyncio.Transport | None = None
        self._input = bytearray()
        self._output: list[bytes] = []
        self._output_size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._expires_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._expired = False
        self._ended = False
        self._discarding = False
        self._discarded = 0
        self._reading_paused = False
        self._writing_paused = False
        self._interruptible = False
        self.stopping = False
        self.peer: tuple[str, int] = ("", 0)
        self.task: asyncio.Task[None] | None = None

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the conversation."""
        self._transport = cast(asyncio.Transport, transport)
        peer = cast("tuple[str, int] | str | None", transport.get_extra_info("peername"))
        if isinstance(peer, tuple):  # not a Unix socket
            self.peer = (peer[0], peer[1])
        self.task = self._loop.create_task(self._converse(self))

    def data_received(self, data: bytes) -> None:
        """Keep what came; stop reading while too much of it waits."""
        if self._discarding:
            self._discarded += len(data)
        else:
            self._input += data
            if len(self._input) > INPUT_HIGH and not self._reading_paused and self._transport:
                self._reading_paused = True
                self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        """Keep the connection: what came before the end is still answered."""
        self._ended = True
        self._wake()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake the conversation, which then learns of it."""
        self._ended, self._writing_paused, self._transport = True, False, None
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._wake()

    def pause_writing(self) -> None:
        """The client doesn't read its replies."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """The client reads again."""
        self._writing_paused = False
        self._wake()

    # What the conversation calls.

    @property
    def pending(self) -> bool:
        """Whether input waits that has not been read."""
        return bool(self._input)

    async def line(self, limit: int) -> bytes:
        """The next command line without its CRLF, of at most `limit` bytes with it.

        Raises `LineTooLong`, or a `ChannelEnd`.
        """
        searched = 0
        while (end := self._input.find(b"\n", searched)) < 0:
            searched = len(self._input)
            if searched > LINE_HIGH:
                raise EndlessLine
            self._interruptible = True
            try:
                await self._more()
            finally:
                self._interruptible = False
        line = bytes(self._input[: end + 1])
        del self._input[: end + 1]
        self._resume_reading()
        if not line.endswith(b"\r\n"):
            raise BareLineFeed
        if len(line) > limit:
            raise LineTooLong
        return line[:-2]

    async def chunk(self) -> bytearray:
        """Whatever has come, at least one byte. Raises a `ChannelEnd`."""
        while not self._input:
            await self._more()
        chunk, self._input = self._input, bytearray()
        self._resume_reading()
        return chunk

    def unread(self, rest: bytes) -> None:
        """Give back what `chunk` returned too much of."""
        self._input[:0] = rest

    def reply(self, reply: SmtpReply) -> None:
        """Answer, at the latest when more input is waited for."""
        wire = reply.wire()
        self._output.append(wire)
        self._output_size += len(wire)
        if self._output_size > _OUTPUT_HIGH:
            self.flush()

    def flush(self) -> None:
        """Write the replies held back."""
        if self._output and self._transport:
            self._transport.write(b"".join(self._output))
        self._output.clear()
        self._output_size = 0

    async def linger(self, *, seconds: float, max_bytes: int) -> None:
        """Say the last word and let the client come to reading it: throw away what it still sends.

        To close at once would reset the connection, and the client, never seeing the reply, would retry.
        """
        self.flush()
        self._input.clear()
        self._discarding = True
        self._resume_reading()
        self._expired, self._ends_at = False, self._loop.time() + seconds
        if self._transport and self._transport.can_write_eof() and not self._ended:
            with contextlib.suppress(OSError):  # the client has reset the connection meanwhile
                self._transport.write_eof()
        while not self._ended and not self.stopping and self._discarded < max_bytes:
            try:
                await self._more()
            except ChannelEnd:
                break

    async def close(self, *, seconds: float) -> None:
        """Write what is held back and close; give a client that doesn't read it `seconds`."""
        self.flush()
        self._expired, self._ends_at = False, self._loop.time() + seconds
        if self._transport:
            self._transport.close()
        while self._transport:
            try:
                await self._wait()
            except SessionTimeout:
                self._transport.abort()
                return

    def abort(self) -> None:
        """Close now, unwritten replies or not."""
        if self._transport:
            self._transport.abort()

    def stop(self) -> None:
        """Ask the conversation to end: at once when it waits for a command, else after its answer."""
        self.stopping = True
        self._wake()

    # Waiting.

    async def _more(self) -> None:
        """Wait until something came. Raises a `ChannelEnd`."""
        self.flush()
        while self._writing_paused:
            await self._wait()
        if self._ended:
            raise PeerDisconnect
        if self.stopping and self._interruptible:
            raise ServerStop
        await self._wait()
        if self.stopping and self._interruptible and not self._input:
            raise ServerStop

    async def _wait(self) -> None:
        now = self._loop.time()
        self._expires_at = min(now + self._idle_seconds, self._ends_at)
        if self._timer is None or self._timer.when() > self._expires_at:
            if self._timer:
                self._timer.cancel()
            self._timer = self._loop.call_at(self._expires_at, self._tick)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self._expired:
            raise SessionTimeout

    def _tick(self) -> None:
        """One timer serves all the waits of a connection: it is moved on only when it fires early."""
        self._timer = None
        if self._waiter is None:
            return
        if self._loop.time() >= self._expires_at:
            self._expired = True
            self._wake()
        else:
            self._timer = self._loop.call_at(self._expires_at, self._tick)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _resume_reading(self) -> None:
        if self._reading_paused and len(self._input) <= INPUT_HIGH and self._transport:
            self._reading_paused = False
            self._transport.resume_reading()
