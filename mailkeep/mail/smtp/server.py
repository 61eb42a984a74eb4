"""An SMTP or LMTP server: accepts connections within limits, and shuts down gracefully."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from mailkeep.core.network import source_of
from mailkeep.mail.smtp.channel import Channel
from mailkeep.mail.smtp.dialogue import CLOSE_SECONDS, STOPPING, SmtpDialogue
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.session import SmtpHandler, SmtpLimits, SmtpLogin, SmtpSession
from mailkeep.mail.smtp.unix_socket import listen_unix

log = logging.getLogger(__name__)

_BUSY = SmtpReply(421, "4.7.0", "Too many connections, try again later")
_BACKLOG = 512


class SmtpServer:
    """Accepts connections until `close`."""

    def __init__(
        self,
        handler: SmtpHandler,
        limits: SmtpLimits,
        protocol: Literal["smtp", "lmtp"],
        hostname: str,
        login: SmtpLogin | None = None,
    ) -> None:
        self._handler = handler
        self._limits = limits
        self._protocol: Literal["smtp", "lmtp"] = protocol
        self._hostname = hostname
        self._login = login
        self._channels: set[Channel] = set()
        self._sources: Counter[str] = Counter()
        self._listener: asyncio.Server | None = None
        self._closing = False
        self.port = 0
        self.on_session: Callable[[], None] | None = None  # called for each new session
        self.on_session_end: Callable[[SmtpSession], None] | None = None

    async def listen(self, host: str, port: int) -> None:
        """Bind and accept; with port 0, `port` has the assigned port. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(self._new_channel, host, port, backlog=_BACKLOG)
        self.port = int(self._listener.sockets[0].getsockname()[1])

    async def listen_unix(self, path: Path, mode: int, group: int) -> None:
        """Listen on a Unix socket with this mode and group, which replaces an existing one. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._listener = await listen_unix(
            path, mode, group, lambda new: loop.create_unix_server(self._new_channel, new, backlog=_BACKLOG)
        )

    @property
    def sessions(self) -> int:
        """The number of open connections."""
        return len(self._channels)

    async def close(self, grace: float) -> None:
        """Stop accepting. Idle sessions end now with 421, the others after their message.

        After `grace` seconds the remaining sessions are closed without a reply, so that their clients retry.
        """
        self._closing = True
        if self._listener is not None:
            self._listener.close()
        for channel in self._channels:
            channel.stop()
        tasks = {channel.task for channel in self._channels if channel.task}
        if not tasks:
            return
        _, unfinished = await asyncio.wait(tasks, timeout=grace)
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=CLOSE_SECONDS)

    def _new_channel(self) -> Channel:
        limits = self._limits
        return Channel(self._converse, idle_seconds=limits.idle_seconds, session_seconds=limits.session_seconds)

    async def _converse(self, channel: Channel) -> None:
        source = source_of(channel.peer[0])
        self._channels.add(channel)
        self._sources[source] += 1
        try:
            if self._closing or self._is_busy(source):
                channel.reply(STOPPING if self._closing else _BUSY)
            else:
                if self.on_session:
                    self.on_session()
                session = SmtpSession(self._protocol, channel.peer, end=channel.revoke)
                try:
                    await SmtpDialogue(channel, self._handler, self._limits, session, self._hostname, self._login).run()
                finally:
                    if self.on_session_end:
                        self.on_session_end(session)
            await channel.close(seconds=CLOSE_SECONDS)
        except Exception:
            log.exception("SMTP connection from %s failed", source)
        finally:
            channel.abort()
            self._channels.discard(channel)
            self._sources[source] -= 1
            if not self._sources[source]:
                del self._sources[source]

    def _is_busy(self, source: str) -> bool:
        limits = self._limits
        return (0 < limits.sessions < len(self._channels)) or (0 < limits.sessions_per_source < self._sources[source])


async def serve(  # noqa: PLR0913 - keywords
    host: str,
    port: int,
    handler: SmtpHandler,
    limits: SmtpLimits,
    protocol: Literal["smtp", "lmtp"] = "smtp",
    *,
    hostname: str = "localhost",
    login: SmtpLogin | None = None,
) -> SmtpServer:
    """Start a server on `host` and `port` (0: any free port). `hostname` is used in the banner and the EHLO reply."""
    server = SmtpServer(handler, limits, protocol, hostname, login)
    await server.listen(host, port)
    return server
