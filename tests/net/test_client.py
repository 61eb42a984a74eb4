"""The outbound client against real servers on loopback: what it sends, what it takes, and what it refuses."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from mailkeep import __version__
from mailkeep.net import client as outbound_client, resolver
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest, OutboundResponse
from mailkeep.net.resolver import Resolver

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Writer = asyncio.StreamWriter


@dataclass
class Server:
    """Answers each request with `answer`, or as a function does; keeps what it was sent."""

    answer: bytes | Callable[[Writer], Awaitable[None]] = OK
    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (int(line[16:]) for line in head.lower().splitlines() if line[:16] == b"content-length: "), 0
                )
                self.requests.append(head + await reader.readexactly(length))
                if callable(self.answer):
                    await self.answer(writer)
                else:
                    writer.write(self.answer)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def head(self) -> list[str]:
        return self.requests[-1].partition(b"\r\n\r\n")[0].decode().split("\r\n")


@asynccontextmanager
async def serving(answer: Any = OK, context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(answer)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


@pytest.fixture
async def outbound(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OutboundClient]:
    monkeypatch.setattr(resolver, "LOOKUP_SECONDS", 60.0)  # a thread may have to wait for its turn
    made = OutboundClient()
    yield made
    await made.close()


def asking(server: Server, **more: Any) -> OutboundRequest:
    wanted: dict[str, Any] = {
        "method": "GET",
        "url": f"http://127.0.0.1:{server.port}/",
        "allowed_networks": LOOPBACK,
        "allow_http": True,
        "timeout": 60,
    }
    return OutboundRequest(**(wanted | more))


async def failing(outbound: OutboundClient, request: OutboundRequest) -> OutboundError:
    with pytest.raises(OutboundError) as failed:
        await outbound.send(request)
    assert failed.value.kind in outbound_client.FAILURE_KINDS
    return failed.value


async def test_a_request_says_what_it_was_given_and_little_else(outbound: OutboundClient):
    async with serving() as server:
        url = f"http://localhost:{server.port}/a%20b/../c?x=%C3%A9&y=[]"
        sent = asking(server, method="POST", url=url, body=b'{"a": 1}', headers={"Content-Type": "application/json"})
        answer = await outbound.send(sent)
        assert (answer.status, answer.body, answer.truncated) == (200, b"ok", False)
        assert answer.remote_address == "127.0.0.1"
        first, *rest = server.head()
        assert first == "POST /a%20b/../c?x=%C3%A9&y=[] HTTP/1.1"
        assert sorted(rest) == [
            "Accept-Encoding: identity",
            "Content-Length: 8",
            "Content-Type: application/json",
            f"Host: localhost:{server.port}",
            f"User-Agent: Mailkeep/{__version__}",
        ]
        assert server.requests[0].endswith(b'\r\n\r\n{"a": 1}')


async def test_no_host_of_the_caller_gets_through(outbound: OutboundClient):
    async with serving() as server:
        await outbound.send(asking(server, headers={"Host": "internal.example"}))
        assert [line for line in server.head() if line.startswith("Host")] == [f"Host: 127.0.0.1:{server.port}"]


async def test_a_large_body_arrives_whole(outbound: OutboundClient):
    async with serving() as server:
        body = bytes(range(256)) * (40 << 10)
        assert (await outbound.send(asking(server, method="POST", body=body))).status == 200
        assert server.requests[0].partition(b"\r\n\r\n")[2] == body


async def test_headers_of_an_answer_are_in_lower_case_and_joined(outbound: OutboundClient):
    async with serving(b"HTTP/1.1 410 Gone\r\nX-A: 1\r\nX-a: 2\r\nContent-Length: 0\r\n\r\n") as server:
        answer = await outbound.send(asking(server))
        assert (answer.status, answer.headers["x-a"]) == (410, "1, 2")


async def test_a_redirect_is_an_answer(outbound: OutboundClient):
    async with serving() as inner:
        location = f"http://127.0.0.1:{inner.port}/inside"
        for status in (301, 302, 303, 307, 308):
            moved = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
            async with serving(moved.encode()) as server:
                answer = await outbound.send(asking(server))
                assert (answer.status, answer.headers["location"]) == (status, location)
        assert inner.connections == 0


async def test_cookies_are_not_kept(outbound: OutboundClient):
    async with serving(OK.replace(b"OK\r\n", b"OK\r\nSet-Cookie: a=b; Path=/\r\n", 1)) as server:
        for _ in range(2):
            await outbound.send(asking(server, url=f"http://localhost:{server.port}/"))
        assert not [line for line in server.head() if line.lower().startswith("cookie")]


async def test_nothing_is_decompressed(outbound: OutboundClient):
    """A bomb stays what it was on the wire."""
    bomb = gzip.compress(bytes(10 << 20))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    async with serving(head.encode() + bomb) as server:
        answer = await outbound.send(asking(server, max_answer=64 * 1024))
        assert answer.body == bomb


async def test_the_environment_names_no_proxy(
    outbound: OutboundClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    async with serving() as proxy, serving() as server:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        await outbound.send(asking(server))
        assert (proxy.connections, server.connections) == (0, 1)
        assert not [line for line in server.head() if line.lower().startswith("authorization")]


# Limits


@pytest.mark.parametrize("length", ["Content-Length: 40000\r\n", "Transfer-Encoding: chunked\r\n", ""])
async def test_an_answer_is_read_to_its_limit(outbound: OutboundClient, length: str):
    body = b"x" * 40000
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if "chunked" in length else body

    async def answer(writer: Writer) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\n{length}\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async with serving(answer) as server:
        for limit, truncated in ((39999, True), (40000, False), (16384, True)):
            found = await outbound.send(asking(server, max_answer=limit))
            assert (len(found.body), found.truncated) == (min(limit, 40000), truncated)


async def drip(writer: Writer) -> None:
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silence(writer: Writer) -> None:
    await asyncio.sleep(60)


async def slow_head(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    await drip(writer)


async def slow_body(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    await drip(writer)


async def only_informational(writer: Writer) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("answer", [silence, slow_head, slow_body, only_informational])
async def test_the_time_is_for_all_of_it(outbound: OutboundClient, answer: Any):
    async with serving(answer) as server:
        started = time.monotonic()
        failed = await failing(outbound, asking(server, timeout=0.3))
        assert failed.kind == "timeout"
        assert time.monotonic() - started < 30


async def test_an_endless_answer_is_left_at_the_limit(outbound: OutboundClient):
    async def endless(writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serving(endless) as server:
        answer = await outbound.send(asking(server))
        assert (len(answer.body), answer.truncated) == (16 * 1024, True)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"220 mail ESMTP\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"\x16\x03\x01\x00\x00",
    ],
)
async def test_what_is_no_http_is_a_failure(outbound: OutboundClient, answer: bytes):
    async def send(writer: Writer) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with serving(send) as server:
        assert (await failing(outbound, asking(server))).kind == "protocol"


async def test_what_is_refused_never_connects(outbound: OutboundClient):
    async with serving() as server:
        local = f"http://localhost:{server.port}/"
        assert (await failing(outbound, asking(server, allowed_networks=()))).kind == "address_refused"
        assert (await failing(outbound, asking(server, url=local, allowed_networks=()))).kind == "address_refused"
        assert (await failing(outbound, asking(server, allow_http=False))).kind == "url"
        assert (await failing(outbound, asking(server, url="http://nothing.invalid/"))).kind == "dns"
        assert server.connections == 0


async def test_nobody_listens(outbound: OutboundClient):
    with socket.socket() as held:  # nobody else gets the port meanwhile
        held.bind(("127.0.0.1", 0))
        failed = await failing(outbound, asking(Server(port=held.getsockname()[1])))
    assert failed.kind == "connect"
    assert "127.0.0.1" in failed.detail


async def test_the_next_address_is_tried_where_one_takes_no_connection(tmp_path: Path):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.2 two.example\n127.0.0.1 two.example\n")
    outbound = OutboundClient(resolver=Resolver([("127.0.0.1", 9)], hosts))
    async with serving() as server:
        answer = await outbound.send(asking(server, url=f"http://two.example:{server.port}/"))
        assert answer.remote_address == "127.0.0.1"
    await outbound.close()


# Connections that are kept


async def test_a_connection_serves_again(outbound: OutboundClient):
    async with serving() as server:
        for _ in range(5):
            await outbound.send(asking(server))
        assert (server.connections, len(server.requests)) == (1, 5)


async def test_a_connection_is_kept_for_its_name_only(outbound: OutboundClient):
    """The same address by two names, over TLS, is two connections: each was verified for one of them."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    async with serving(context=context) as server, extra(authority) as file:
        for host in ("localhost", "127.0.0.1", "localhost", "127.0.0.1"):
            url = f"https://{host}:{server.port}/"
            await outbound.send(asking(server, url=url, extra_ca_file=file))
        assert server.connections == 2


async def test_a_connection_with_an_answer_that_was_cut_is_not_kept(outbound: OutboundClient):
    async with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n" + b"x" * 8_000_000) as server:
        for _ in range(2):
            await outbound.send(asking(server))
        assert server.connections == 2


async def test_few_endpoints_keep_connections(outbound: OutboundClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outbound_client, "_MAX_IDLE_ENDPOINTS", 1)
    async with serving() as first, serving() as second:
        for server in (first, second, first, second):
            await outbound.send(asking(server))
        assert (first.connections, second.connections) == (1, 2)
        assert [line for line in second.head() if line == "Connection: close"]


async def test_a_connection_that_the_server_ended_is_not_used_again(outbound: OutboundClient):
    async def once(writer: Writer) -> None:
        writer.write(OK)
        await writer.drain()
        writer.close()

    async with serving(once) as server:
        for _ in range(3):
            await outbound.send(asking(server, method="POST", body=b"{}"))
            await asyncio.sleep(0.05)
        assert server.connections == 3


# TLS


@asynccontextmanager
async def extra(authority: trustme.CA) -> AsyncIterator[Path]:
    with authority.cert_pem.tempfile() as path:
        yield Path(path)


@dataclass(frozen=True)
class Certificate:
    names: tuple[str, ...]
    expires_at: datetime | None = None


async def by_tls(
    outbound: OutboundClient, certificate: Certificate, host: str = "localhost", trusted: bool = True
) -> Any:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued = authority.issue_cert(
        *certificate.names,
        not_before=datetime.now(UTC) - timedelta(days=9),
        not_after=certificate.expires_at,
    )
    issued.configure_cert(context)
    async with serving(context=context) as server, extra(authority) as file:
        request = asking(server, url=f"https://{host}:{server.port}/", extra_ca_file=file if trusted else None)
        try:
            return await outbound.send(request)
        except OutboundError as failed:
            assert server.requests == [], "not a byte goes to whom we don't know"
            return failed.kind


async def test_tls_is_verified_by_name_though_the_connection_goes_to_an_address(outbound: OutboundClient):
    answer = await by_tls(outbound, Certificate(("localhost",)))
    assert isinstance(answer, OutboundResponse)
    assert answer.status == 200
    answer = await by_tls(outbound, Certificate(("127.0.0.1",)), host="127.0.0.1")
    assert isinstance(answer, OutboundResponse)


@pytest.mark.parametrize(
    "certificate, host, trusted",
    [
        (Certificate(("localhost",)), "localhost", False),
        (Certificate(("other.example",)), "localhost", True),
        (Certificate(("127.0.0.1",)), "localhost", True),
        (Certificate(("localhost",)), "127.0.0.1", True),
        (Certificate(("localhost",), datetime.now(UTC) - timedelta(days=1)), "localhost", True),
    ],
    ids=["unknown authority", "another's name", "its address for its name", "its name for its address", "expired"],
)
async def test_a_certificate_that_does_not_hold_is_refused(
    outbound: OutboundClient, certificate: Certificate, host: str, trusted: bool
):
    assert await by_tls(outbound, certificate, host, trusted) == "tls"


async def test_tls_before_1_2_is_refused(outbound: OutboundClient):
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    authority.issue_cert("localhost").configure_cert(context)
    async with serving(context=context) as server, extra(authority) as file:
        request = asking(server, url=f"https://localhost:{server.port}/", extra_ca_file=file)
        assert (await failing(outbound, request)).kind in ("tls", "connect")  # some servers just hang up
        assert server.requests == []


async def test_authorities_are_read_again_when_their_file_changes(outbound: OutboundClient, tmp_path: Path):
    file = tmp_path / "ca.pem"
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    async with serving(context=context) as server:
        request = asking(server, url=f"https://localhost:{server.port}/", extra_ca_file=file)
        assert (await failing(outbound, request)).kind == "tls"
        file.write_text("no certificate")
        assert "no certificates" in (await failing(outbound, request)).detail
        file.write_bytes(trustme.CA().cert_pem.bytes())
        assert (await failing(outbound, request)).kind == "tls"
        file.write_bytes(authority.cert_pem.bytes() + b"\n")
        assert (await outbound.send(request)).status == 200


async def test_many_at_once_wait_for_their_turn(outbound: OutboundClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outbound_client, "_MAX_IN_USE_PER_ENDPOINT", 4)
    busy = most = 0
    together = asyncio.Barrier(4)

    async def answer(writer: Writer) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await together.wait()
        busy -= 1
        writer.write(OK)

    async with serving(answer) as server:
        answers = await asyncio.gather(*(outbound.send(asking(server)) for _ in range(40)))
        assert {answer.status for answer in answers} == {200}
        assert most == 4
