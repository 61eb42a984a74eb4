"""A pool of SMTP connections to one relay, limited in number.

An idle connection that the server has closed, or sent data on, is replaced before it is used. If a connection fails
during the envelope it is replaced once, which is safe because no content was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope, submit
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpConnection, SmtpRefusal, connect


class SmtpPool:
    """Connections to `relay`, at most `size`, each closed after `idle_seconds` without a message."""

    def __init__(self, relay: Relay, *, size: int = 10, idle_seconds: float = 60.0, wait_seconds: float = 60.0) -> None:
        """`wait_seconds` bounds the wait for a connection while all of them are in use."""
        self.relay = relay
        self.size = size
        self._wait_seconds = wait_seconds
        self._idle_seconds = idle_seconds
        self._slots = asyncio.Semaphore(size)
        self._idle: list[SmtpConnection] = []
        self._reaper: asyncio.TimerHandle | None = None
        self._closed = False

    async def submit(
        self, envelope: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
    ) -> AcceptedSubmission:
        """Send one message as `client.submit` does, on an idle or new connection."""
        await self._acquire()
        try:
            if self._closed:
                raise ConnectionLost("the pool is closed", "connect")
            connection = self._take_idle()
            if connection is not None:
                try:
                    return await self._submit(connection, envelope, body, stuffed=stuffed)
                except (ConnectionLost, SmtpRefusal) as error:
                    if not _may_retry(error):
                        raise
            connection = await connect(self.relay)
            return await self._submit(connection, envelope, body, stuffed=stuffed)
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Close the idle connections; those in use are closed after their message."""
        self._closed = True
        if self._reaper:
            self._reaper.cancel()
            self._reaper = None
        while self._idle:
            self._idle.pop().quit()
        await asyncio.sleep(0)

    async def _acquire(self) -> None:
        if not self._slots.locked():
            await self._slots.acquire()
            return
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._slots.acquire()
        except TimeoutError:
            reason = f"no free connection within {self._wait_seconds:g} s"
            raise ConnectionLost(reason, "connect", timed_out=True) from None

    async def _submit(
        self, connection: SmtpConnection, envelope: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool
    ) -> AcceptedSubmission:
        try:
            return await submit(connection, envelope, body, stuffed=stuffed, timeouts=self.relay.timeouts)
        except SmtpRefusal as error:
            if _needs_new_session(error) and connection.is_quiet:
                connection.quit()
            raise
        finally:
            self._put_back(connection)

    def _take_idle(self) -> SmtpConnection | None:
        """The most recently used idle connection that is still open."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet:
                connection.idle_since = None
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: SmtpConnection) -> None:
        if not connection.is_quiet:
            connection.abort()
        elif self._closed:
            connection.quit()
        else:
            loop = asyncio.get_running_loop()
            connection.idle_since = loop.time()
            self._idle.append(connection)
            if self._reaper is None:
                self._reaper = loop.call_later(self._idle_seconds, self._close_expired)

    def _close_expired(self) -> None:
        """Close connections that have been idle for too long; the oldest are first in the list."""
        loop = asyncio.get_running_loop()
        self._reaper = None
        now = loop.time()
        while self._idle and now - (self._idle[0].idle_since or 0.0) >= self._idle_seconds:
            self._idle.pop(0).quit()
        if self._idle:
            self._reaper = loop.call_at((self._idle[0].idle_since or now) + self._idle_seconds, self._close_expired)


def _may_retry(error: ConnectionLost | SmtpRefusal) -> bool:
    """Whether the transaction failed before any content was sent, and not because of a recipient: connection closed,
    421, or the sender deferred (Postfix does that if the milter of the session was restarted).
    """
    if error.stage != "envelope":
        return False
    if isinstance(error, SmtpRefusal):
        return error.reply.code == 421 or (not error.permanent and not error.rejected) or _has_system_error(error)
    return not error.timed_out


def _needs_new_session(error: SmtpRefusal) -> bool:
    """Whether the next message should use a new session: a deferral here may not occur there."""
    if _has_system_error(error):
        return True
    return not error.permanent and not error.rejected and error.stage in ("envelope", "acceptance")


def _has_system_error(error: SmtpRefusal) -> bool:
    """Whether recipients were deferred because of a system failure of the server (4.3.x, RFC 3463 §3.4). A Postfix
    process queries a failed database again only after a minute, but a new process does so at once.
    """
    return any(reply.code < 500 and reply.enhanced.startswith("4.3.") for reply in error.rejected.values())
