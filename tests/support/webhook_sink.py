"""A receiver of webhooks on loopback, over TLS.

The path selects the response: a status (`/200`, `/500`, …) or a fault of `_FAULTS`. `authority()` has issued its
certificate; with `trusted_settings`, Mailkeep connects to it and trusts it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import trustme

from mailkeep.settings.tree import WebhooksSettings

HERE = "127.0.0.1"
_REASONS = {204: "No Content", 301: "Moved Permanently", 307: "Temporary Redirect", 410: "Gone"}


@cache
def authority() -> trustme.CA:
    return trustme.CA()


def trusted_settings(folder: Path, **more: Any) -> WebhooksSettings:
    """Settings that let webhooks reach loopback and trust the sink."""
    path = folder / "sink-authority.pem"
    authority().cert_pem.write_to_path(str(path))
    return WebhooksSettings(allowed_networks=("127.0.0.0/8",), extra_ca_file=str(path), **more)


def create_contexts() -> dict[str, ssl.SSLContext]:
    """TLS contexts by the kind of their certificate: valid, for another name, expired, of an unknown authority."""
    expired_at = datetime(2020, 1, 2, tzinfo=UTC)
    certificates = {
        "good": authority().issue_cert(HERE),
        "wrong": authority().issue_cert("elsewhere.test"),
        "expired": authority().issue_cert(HERE, not_before=expired_at.replace(day=1), not_after=expired_at),
        "self-signed": trustme.CA().issue_cert(HERE),
    }
    tls_contexts: dict[str, ssl.SSLContext] = {}
    for name, certificate in certificates.items():
        tls_contexts[name] = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        certificate.configure_cert(tls_contexts[name])
    return tls_contexts


@dataclass(frozen=True)
class ReceivedRequest:
    """A request; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class Sink:
    """The receiver. `on_request` is called with each request before the response."""

    port: int = 0
    ports: dict[str, int] = field(default_factory=dict[str, int])
    posted: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])
    on_request: Callable[[ReceivedRequest], object] = lambda _: None
    most_at_once: int = 0
    open_requests: int = 0
    statuses: dict[str, int] = field(default_factory=dict[str, int])  # by path, instead of the status in the path
    chooses: Callable[[ReceivedRequest], int] | None = None  # the status of every response, if set
    gates: dict[str, asyncio.Event] = field(
        default_factory=dict[str, asyncio.Event]
    )  # by path: respond only after the event is set

    def url(self, path: str, kind: str = "good") -> str:
        return f"https://{HERE}:{self.ports[kind]}{path}"

    def at(self, path: str) -> list[ReceivedRequest]:
        return [each for each in self.posted if each.path == path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._handle_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def _handle_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        posted = ReceivedRequest(path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
        self.posted.append(posted)
        self.on_request(posted)
        self.open_requests += 1
        self.most_at_once = max(self.most_at_once, self.open_requests)
        try:
            if path in self.gates:
                await self.gates[path].wait()
            return await self._answer(posted, writer)
        finally:
            self.open_requests -= 1

    async def _answer(self, posted: ReceivedRequest, writer: asyncio.StreamWriter) -> bool:
        path, mode = posted.path, posted.path.strip("/").partition("/")[0]
        if self.chooses or path in self.statuses or mode.isdigit():
            status = self.chooses(posted) if self.chooses else self.statuses.get(path) or int(mode)
            body = b"" if status == 204 else f"status {status}".encode()
            extra = f"Location: {self.url('/200')}\r\n" if status in (301, 307) else ""
            await _write(writer, status, body, extra)
            return True
        await _FAULTS[mode](writer)
        return False


async def _write(writer: asyncio.StreamWriter, status: int, body: bytes, extra: str = "") -> None:
    reason = _REASONS.get(status, "Whatever")
    length = "" if status == 204 else f"Content-Length: {len(body)}\r\n"
    writer.write(f"HTTP/1.1 {status} {reason}\r\n{length}{extra}\r\n".encode() + body)
    await writer.drain()


async def _never_answers(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _slowly(writer: asyncio.StreamWriter) -> None:
    """One byte per second."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok":
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


async def _endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()


async def _bomb(writer: asyncio.StreamWriter) -> None:
    body = gzip.compress(bytes(64 << 20))
    await _write(writer, 200, body, "Content-Encoding: gzip\r\n")


async def _nul(writer: asyncio.StreamWriter) -> None:
    await _write(writer, 500, b"a\x00b \xff\xfe \xed\xa0\x80 end")


async def _garbage(writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mx.example ESMTP\r\n")
    await writer.drain()


async def _hangs_up(writer: asyncio.StreamWriter) -> None:
    writer.close()


_FAULTS = {
    "never-answers": _never_answers,
    "slowly": _slowly,
    "endless": _endless,
    "bomb": _bomb,
    "nul": _nul,
    "garbage": _garbage,
    "hangs-up": _hangs_up,
}


@asynccontextmanager
async def run_sink(*kinds: str) -> AsyncIterator[Sink]:
    """A running sink: a port with a valid certificate, and one for each of `kinds`."""
    sink = Sink()
    servers: list[asyncio.Server] = []
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await sink.serve(reader, writer)
        except asyncio.CancelledError:
            return
        finally:
            tasks.discard(task)

    all_contexts = create_contexts()
    for kind in ("good", *kinds):
        server = await asyncio.start_server(serve, HERE, 0, ssl=all_contexts[kind], limit=1 << 20)
        servers.append(server)
        sink.ports[kind] = server.sockets[0].getsockname()[1]
    sink.port = sink.ports["good"]
    try:
        yield sink
    finally:
        for server in servers:
            server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.sleep(0)
