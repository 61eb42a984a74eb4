"""The server's end of one SMTP or LMTP connection: lines and content in, replies out, deadlines.

One coroutine handles each connection and awaits its input here. Replies are buffered until it waits for input, so that
pipelined commands are answered in one write (RFC 2920 §3.2). At most `INPUT_HIGH` bytes are buffered unread.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Coroutine
from typing import cast

from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.waiter import Waiter

INPUT_HIGH = 256 * 1024
LINE_HIGH = 64 * 1024
_OUTPUT_HIGH = 16 * 1024


class ChannelEnd(Exception):
    """The session can't continue."""


class PeerDisconnect(ChannelEnd):
    """The client closed the connection, or the connection failed."""


class SessionTimeout(ChannelEnd):
    """No input for the idle time, or the session took too long."""


class ServerStop(ChannelEnd):
    """The server is shutting down."""


class SessionRevoked(ChannelEnd):
    """The session may not be used any more."""


class BareLineFeed(ChannelEnd):
    """A command line ended with LF alone."""


class EndlessLine(ChannelEnd):
    """A command line is longer than `LINE_HIGH` bytes."""


class LineTooLong(Exception):
    """A command line is longer than allowed. All of it was discarded."""


class Channel(asyncio.Protocol):
    """One accepted connection. It starts `converse`, which owns it until it returns."""

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
        self._waiter = Waiter()
        self._ended = False
        self._discarding = False
        self._discarded = 0
        self._reading_paused = False
        self._writing_paused = False
        self._interruptible = False
        self._revoked = False
        self._encrypted = False
        self.stopping = False
        self.peer: tuple[str, int] = ("", 0)
        self.task: asyncio.Task[None] | None = None

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start `converse`."""
        self._transport = cast(asyncio.Transport, transport)
        peer = cast("tuple[str, int] | str | None", transport.get_extra_info("peername"))
        if isinstance(peer, tuple):  # not a Unix socket
            self.peer = (peer[0], peer[1])
        self.task = self._loop.create_task(self._converse(self))

    def data_received(self, data: bytes) -> None:
        """Buffer the input. Reading pauses while too much is buffered."""
        if self._discarding:
            self._discarded += len(data)
        else:
            self._input += data
            if len(self._input) > INPUT_HIGH and not self._reading_paused and self._transport:
                self._reading_paused = True
                self._transport.pause_reading()
        self._waiter.wake()

    def eof_received(self) -> bool:
        """Keep the connection: input received before the end is still answered (not with TLS, which can't)."""
        self._ended = True
        self._waiter.wake()
        return not self._encrypted

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake the waiting coroutine."""
        self._ended, self._writing_paused, self._transport = True, False, None
        self._waiter.stop_timer()
        self._waiter.wake()

    def pause_writing(self) -> None:
        """The client doesn't read its replies."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """The client reads again."""
        self._writing_paused = False
        self._waiter.wake()

    # Called by `converse`.

    @property
    def pending(self) -> bool:
        """Whether there is unread input."""
        return bool(self._input)

    async def read_line(self, limit: int) -> bytes:
        """Return the next command line without its CRLF. `limit` is in bytes, with the CRLF.

        Raises `LineTooLong`, or a `ChannelEnd`.
        """
        searched = 0
        while (end := self._input.find(b"\n", searched)) < 0:
            searched = len(self._input)
            if searched > LINE_HIGH:
                raise EndlessLine
            self._interruptible = True
            try:
                await self._wait_for_input()
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

    async def read_chunk(self) -> bytearray:
        """Return the buffered input, at least one byte. Raises a `ChannelEnd`."""
        while not self._input:
            await self._wait_for_input()
        chunk, self._input = self._input, bytearray()
        self._resume_reading()
        return chunk

    def unread(self, data: bytes) -> None:
        """Put input back that `read_chunk` returned."""
        self._input[:0] = data

    def reply(self, reply: SmtpReply) -> None:
        """Buffer a reply; it is written before the next wait for input."""
        wire = reply.wire()
        self._output.append(wire)
        self._output_size += len(wire)
        if self._output_size > _OUTPUT_HIGH:
            self.flush()

    def flush(self) -> None:
        """Write the buffered replies."""
        if self._output and self._transport:
            self._transport.write(b"".join(self._output))
        self._output.clear()
        self._output_size = 0

    async def linger(self, *, seconds: float, max_bytes: int) -> None:
        """Send the last reply and discard further input until the client closes.

        Closing at once would reset the connection: the client would not see the reply, and would retry.
        """
        self.flush()
        self._input.clear()
        self._discarding = True
        self._resume_reading()
        self._ends_at = self._loop.time() + seconds
        if self._transport and self._transport.can_write_eof() and not self._ended:
            with contextlib.suppress(OSError):  # the client has reset the connection meanwhile
                self._transport.write_eof()
        while not self._ended and not self.stopping and self._discarded < max_bytes:
            try:
                await self._wait_for_input()
            except ChannelEnd:
                break

    async def close(self, *, seconds: float) -> None:
        """Write the buffered replies and close. After `seconds` without the client reading them, abort."""
        self.flush()
        self._ends_at = self._loop.time() + seconds
        if self._transport:
            self._transport.close()
        while self._transport:
            try:
                await self._wait()
            except SessionTimeout:
                self._transport.abort()
                return

    def abort(self) -> None:
        """Close at once, without writing buffered replies."""
        if self._transport:
            self._transport.abort()

    def stop(self) -> None:
        """End the session: at once if it waits for a command, otherwise after the reply."""
        self.stopping = True
        self._waiter.wake()

    def revoke(self) -> None:
        """End the session as soon as it waits for input, also for the content of a message."""
        self._revoked = True
        self._waiter.wake()

    async def start_tls(self, context: ssl.SSLContext, *, seconds: float) -> None:
        """Start TLS after the buffered replies. Input that came before it is discarded, never read as commands
        (RFC 3207 §4.2). Raises PeerDisconnect if the handshake fails or takes longer than `seconds`.
        """
        self.flush()
        transport = self._transport
        if transport is None:
            raise PeerDisconnect
        self._input.clear()
        try:
            async with asyncio.timeout(seconds):
                encrypted = await self._loop.start_tls(transport, self, context, server_side=True)
        except (OSError, EOFError, TimeoutError):  # ssl.SSLError is an OSError
            transport.abort()
            raise PeerDisconnect from None
        if encrypted is None:
            raise PeerDisconnect
        self._transport, self._encrypted = encrypted, True

    # Waiting.

    async def _wait_for_input(self) -> None:
        """Wait for input. Raises a `ChannelEnd`."""
        self.flush()
        while self._writing_paused:
            await self._wait()
        if self._ended:
            raise PeerDisconnect
        if self._revoked and not self._discarding:
            raise SessionRevoked
        if self.stopping and self._interruptible:
            raise ServerStop
        await self._wait()
        if self._revoked and not self._discarding:
            raise SessionRevoked
        if self.stopping and self._interruptible and not self._input:
            raise ServerStop

    async def _wait(self) -> None:
        try:
            await self._waiter.wait(min(self._loop.time() + self._idle_seconds, self._ends_at))
        except TimeoutError:
            raise SessionTimeout from None

    def _resume_reading(self) -> None:
        if self._reading_paused and len(self._input) <= INPUT_HIGH and self._transport:
            self._reading_paused = False
            self._transport.resume_reading()
