"""The process `webmail`: forwards the connections of the webmail's PHP to Dovecot, Postfix and the API, with the
address of the webmail's client (`mail/webmail`). PHP reaches nothing else. It also deletes what Roundcube keeps of
deleted mailboxes.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.webmail import password_call, proxy_header
from mailkeep.run.runtime import configuration, webmail
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.webmail")

_CHUNK = 1 << 16
_CONNECT_SECONDS = 5.0
# PHP's requests take at most three minutes (php-fpm.conf).
_IDLE_SECONDS = 200.0
_MAX_CONNECTIONS = 200
_FORGET_SECONDS = 15.0

Upstream = str | tuple[str, int]
"""A Unix socket, or a host and port."""
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Forwarder:
    """Forwards connections. `own_address` is the source of those to Dovecot, which trusts it; with `mark` we identify
    ourselves there.
    """

    def __init__(self, own_address: str, mark: str) -> None:
        self._own_address, self._mark = own_address, mark
        self._slots = asyncio.Semaphore(_MAX_CONNECTIONS)

    async def forward(
        self, name: str, upstream: Upstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Forward a connection to the listener `name` until one side closes it."""
        other: asyncio.StreamWriter | None = None
        try:
            async with self._slots:
                peer = writer.get_extra_info("peername")
                client = proxy_header.read_client(peer[0])
                if name == "password":
                    head, body = await self._read_request(reader, client)
                else:
                    mark = self._mark if name in ("imap", "sieve") else ""
                    head, body = proxy_header.write_header(client, peer[1], mark), b""
                source, other = await self._connect(upstream)
                other.write(head + body)
                await _join((reader, writer), (source, other))
        except password_call.ForbiddenRequest as error:
            log.warning("a request of the webmail was refused", why=str(error))
            writer.write(password_call.FORBIDDEN)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            log.warning("a connection of the webmail ended", to=name, why=str(error) or type(error).__name__)
        finally:
            for each in (writer, other):
                if each is not None:
                    each.close()

    async def _read_request(self, reader: asyncio.StreamReader, client: str) -> tuple[bytes, bytes]:
        async with asyncio.timeout(_CONNECT_SECONDS):
            head, length = password_call.rewrite_head(await reader.readuntil(b"\r\n\r\n"), client)
            return head, await reader.readexactly(length)

    async def _connect(self, upstream: Upstream) -> _Streams:
        async with asyncio.timeout(_CONNECT_SECONDS):
            if isinstance(upstream, str):
                return await asyncio.open_unix_connection(upstream)
            return await asyncio.open_connection(*upstream, local_addr=(self._own_address, 0))


async def _join(one: _Streams, other: _Streams) -> None:
    """Copy both ways until one side ends."""
    copies = [
        asyncio.create_task(_copy(one[0], other[1])),
        asyncio.create_task(_copy(other[0], one[1])),
    ]
    try:
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for copy in copies:
            copy.cancel()
        await asyncio.gather(*copies, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        while True:
            async with asyncio.timeout(_IDLE_SECONDS):
                chunk = await reader.read(_CHUNK)
                if not chunk:
                    return
                writer.write(chunk)
                await writer.drain()


def read_upstreams(path: Path) -> dict[str, Upstream]:
    """The upstreams by the name of the listener. Failure."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Upstream])
    except (OSError, msgspec.DecodeError) as error:
        raise Failure(f"{path} can't be read: {error}", permanent=True) from error


async def serve(app: App, process: Process) -> None:
    """Forward until stopped."""
    upstreams = read_upstreams(process.paths.conf("webmail") / "upstreams.json")
    mark = configuration.make_webmail_mark(app.vault)
    forwarder = Forwarder(process.paths.own_address, mark)
    servers = [
        await asyncio.start_server(
            partial(forwarder.forward, name, upstreams[name]), sock=listening, limit=password_call.MAX_HEAD
        )
        for name, listening in process.sockets.items()
    ]
    former = partial(webmail.forget_former_owners, app, process.paths.run / "pg")
    forgetting = asyncio.create_task(repeat(_FORGET_SECONDS, "webmail.former_owners", former))
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(forgetting)
    for server in servers:
        server.close()
