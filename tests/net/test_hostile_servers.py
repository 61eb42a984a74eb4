"""Servers that answer without end, or never: each outbound call ends, and nothing more is read after it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
import uvloop

from mailkeep.core.errors import Failure
from mailkeep.mail.smtp.client import OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpRefusal, Timeouts, connect
from mailkeep.mail.smtp.relay_pools import RelayPools
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest
from mailkeep.run.cli import event_forwarder, inspection
from mailkeep.run.cli.inspection import HealthSummary
from tests.support.hostile_server import HostileServer, ReadCounter, Script, drip, flood, run_hostile_server, say

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
MOST_READ = 8 << 20
OK = b"HTTP/1.1 200 OK\r\n"
WHOLE = OK + b"Content-Length: 2\r\n\r\nok"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

FLOODS = {
    "body": flood(OK + b"\r\n", b"x"),
    "body of a given length": flood(OK + b"Content-Length: 99999999999\r\n\r\n", b"x"),
    "chunks": flood(CHUNKED, b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    "chunk extension": flood(CHUNKED + b"1;a=", b"x"),
    "trailers": flood(CHUNKED + b"0\r\n", b"X-A: b\r\n"),
    "trailer": flood(CHUNKED + b"0\r\nX-A: ", b"x"),
    "status line": flood(b"HTTP/1.1 200 ", b"x"),
    "header field": flood(OK + b"X-A: ", b"x"),
    "header fields": flood(OK, b"X-A: b\r\n"),
    "informational answers": flood(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "after the answer": flood(WHOLE, b"x"),
    "answers": flood(b"", WHOLE),
    "no HTTP": flood(b"", b"\x00"),
}
DRIPS = {
    "nothing": say(),
    "status line": drip(b"HTTP/1.1 200 ", b"x"),
    "header": drip(OK, b"X-A: b\r\n"),
    "informational answers": drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "body": drip(OK + b"Content-Length: 9999\r\n\r\n", b"x"),
    "trailers": drip(CHUNKED + b"0\r\n", b"X-A: b\r\n"),
}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def context(authority: trustme.CA) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(made)
    return made


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path) -> Path:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return tmp_path / "ca.pem"


def on_uvloop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs a test on the loop of our processes: how TLS ends differs from asyncio's own loop."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        uvloop.run(test(**fixtures))

    return run


@pytest.fixture
def count() -> ReadCounter:
    return ReadCounter()


@contextlib.asynccontextmanager
async def outbound() -> AsyncIterator[OutboundClient]:
    made = OutboundClient()
    try:
        yield made
    finally:
        await made.close()


def asking(server: HostileServer, trusted: Path, timeout: float) -> OutboundRequest:
    scheme = "https" if server.context else "http"
    return OutboundRequest(
        method="POST",
        url=f"{scheme}://127.0.0.1:{server.port}/",
        body=b"{}",
        allowed_networks=LOOPBACK,
        extra_ca_file=trusted,
        timeout=timeout,
        allow_http=True,
    )


async def fail_to_send(client: OutboundClient, server: HostileServer, request: OutboundRequest) -> OutboundError:
    """The error of a request that got as far as a connection. On a busy machine a short timeout ends before that."""
    while True:
        with pytest.raises(OutboundError) as failed:
            await client.send(request)
        if server.began.is_set():
            return failed.value


async def left(server: HostileServer) -> None:
    """Until the server has seen the end of the connection."""
    await asyncio.to_thread(server.wait_ended)


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
@pytest.mark.parametrize("flooding", FLOODS)
@on_uvloop
async def test_an_endless_answer_is_not_read_after_its_attempt(
    flooding: str, tls: bool, context: ssl.SSLContext, trusted: Path, count: ReadCounter
):
    with run_hostile_server(FLOODS[flooding], context if tls else None) as server:
        async with outbound() as client:
            with contextlib.suppress(OutboundError):
                await client.send(asking(server, trusted, 60))
            await left(server)
    assert count.read < MOST_READ


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
@pytest.mark.parametrize("dripping", DRIPS)
@on_uvloop
async def test_a_slow_answer_ends_with_its_attempt(
    dripping: str, tls: bool, context: ssl.SSLContext, trusted: Path, count: ReadCounter
):
    with run_hostile_server(DRIPS[dripping], context if tls else None) as server:
        async with outbound() as client:
            failed = await fail_to_send(client, server, asking(server, trusted, 0.5))
            await left(server)
    assert failed.kind == "timeout"
    assert count.read < MOST_READ


@pytest.mark.parametrize(
    "script",
    [say(), drip(b"", b"\x16"), flood(b"", b"\x16\x03\x01\x40\x00" + b"\x02" * 16384)],
    ids=["nothing", "dripping", "flooding"],
)
@on_uvloop
async def test_a_tls_handshake_without_end_ends_with_its_attempt(script: Script, trusted: Path, count: ReadCounter):
    with run_hostile_server(script) as server:
        request = OutboundRequest(
            method="GET", url=f"https://127.0.0.1:{server.port}/", allowed_networks=LOOPBACK, timeout=0.5
        )
        async with outbound() as client:
            await fail_to_send(client, server, request)
            await left(server)
    assert count.read < MOST_READ


@on_uvloop
async def test_a_server_that_never_ends_tls_is_left_at_once(context: ssl.SSLContext, trusted: Path, count: ReadCounter):
    """It answers in full and never says close_notify."""
    with run_hostile_server(say(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok"), context) as server:
        async with outbound() as client:
            assert (await client.send(asking(server, trusted, 60))).body == b"ok"
            await left(server)


@on_uvloop
async def test_a_receiver_that_does_not_read_is_left_with_its_attempt(context: ssl.SSLContext, trusted: Path):
    def deaf(peer: object) -> None:
        released.wait_ended()

    released = HostileServer(say())
    with run_hostile_server(deaf, context, waits=False) as server:
        async with outbound() as client:
            failed = await fail_to_send(client, server, replace(asking(server, trusted, 2), body=bytes(64 << 20)))
            released.ended.set()
            await left(server)
    assert failed.kind == "timeout"


# SMTP, as a client of a smarthost


SMTP = {
    "greeting": flood(b"", b"x"),
    "greeting of lines": flood(b"", b"220-x\r\n"),
    "replies": flood(b"220 x\r\n", b"250 x\r\n"),
    "EHLO": flood(b"220 x\r\n250-x\r\n", b"250-x\r\n"),
}


@pytest.fixture
def relay(authority: trustme.CA) -> Relay:
    ours = ssl.create_default_context()
    authority.configure_trust(ours)
    return Relay("127.0.0.1", 0, tls="tls", ssl_context=ours, timeouts=Timeouts(60, 60, 60, 60, 60))


def at(relay: Relay, server: HostileServer, seconds: float) -> Relay:
    return Relay(
        relay.host, server.port, relay.tls, relay.ssl_context, timeouts=Timeouts(seconds, seconds, seconds, seconds)
    )


@pytest.mark.parametrize("flooding", SMTP)
@on_uvloop
async def test_an_endless_smtp_reply_is_not_read_on(
    flooding: str, relay: Relay, context: ssl.SSLContext, count: ReadCounter
):
    with run_hostile_server(SMTP[flooding], context, waits=False) as server:
        with contextlib.suppress(ConnectionLost, SmtpRefusal):
            (await connect(at(relay, server, 60))).quit()
        await left(server)
    assert count.read < MOST_READ


@pytest.mark.parametrize(
    "script",
    [say(), drip(b"", b"2"), drip(b"220 x\r\n", b"250-x\r\n")],
    ids=["nothing", "greeting", "EHLO"],
)
@on_uvloop
async def test_a_slow_smtp_reply_ends_with_its_step(script: Script, relay: Relay, context: ssl.SSLContext):
    with run_hostile_server(script, context, waits=False) as server:
        with pytest.raises(ConnectionLost):
            await connect(at(relay, server, 0.5))
        await left(server)


@on_uvloop
async def test_an_smtp_server_that_never_ends_tls_is_left_at_once(relay: Relay, context: ssl.SSLContext):
    """It answers QUIT, like everything else, and neither closes nor says close_notify."""
    with run_hostile_server(say(b"220 x\r\n250 x\r\n"), context, waits=False) as server:
        (await connect(at(relay, server, 60))).quit()
        await left(server)


def _taking(replies: bytes) -> Script:
    """Takes one message; once the connection lies idle it says `replies`, over and over."""

    def run(peer: socket.socket) -> None:
        lines = peer.makefile("rb")
        peer.sendall(b"220 x\r\n")
        for verb in iter(lambda: lines.readline()[:4], b""):
            peer.sendall({b"DATA": b"354 x\r\n"}.get(verb, b"250 x\r\n"))
            if verb == b"DATA":
                while lines.readline() != b".\r\n":
                    pass
                peer.sendall(b"250 x\r\n")
                break
        time.sleep(0.2)
        while True:
            peer.sendall(replies)

    return run


@pytest.mark.parametrize(
    "replies",
    [b"250 x\r\n", (b"250-" + b"x" * 4000 + b"\r\n") * 199 + b"250 x\r\n", b"x"],
    ids=["short", "long", "none"],
)
@on_uvloop
async def test_a_relay_is_not_read_on_after_it_took_a_message(
    replies: bytes, relay: Relay, context: ssl.SSLContext, count: ReadCounter
):
    """Each reply of 800 kB was kept, up to 5000 of them."""
    with run_hostile_server(_taking(replies), context, waits=False) as server:
        pools = RelayPools()
        await pools.submit(at(relay, server, 60), OutgoingEnvelope("a@b.test", ["c@d.test"]), [b"X: y\r\n\r\nz\r\n"])
        await left(server)
        await pools.close()
    assert count.read < MOST_READ


@on_uvloop
async def test_long_replies_are_not_kept_while_content_is_sent(
    relay: Relay, context: ssl.SSLContext, count: ReadCounter
):
    """The server reads nothing of the content, and talks."""
    reply = (b"250-" + b"x" * 4000 + b"\r\n") * 199 + b"250 x\r\n"
    with run_hostile_server(flood(b"220 x\r\n250 x\r\n", reply), context, waits=False) as server:
        connection = await connect(at(relay, server, 60))
        await left(server)
        connection.abort()
    assert count.read < MOST_READ


@on_uvloop
async def test_a_silent_relay_costs_its_waiting_messages_one_timeout(relay: Relay):
    """Each of those that waited for a connection paid for it, and mail by other relays waited for their places."""
    with run_hostile_server(say(), None, waits=False) as server:
        pools = RelayPools(size=2)
        silent = replace(at(relay, server, 0.5), tls="none", timeouts=Timeouts(60, 1, 60, 60, 60))

        async def submit() -> str:
            with pytest.raises(ConnectionLost) as lost:
                await pools.submit(silent, OutgoingEnvelope("a@b.test", ["c@d.test"]), [b"X: y\r\n\r\nz\r\n"])
            return f"{lost.value.stage} {lost.value.why}"

        started = asyncio.get_running_loop().time()
        found = await asyncio.gather(*(submit() for _ in range(30)))
        assert asyncio.get_running_loop().time() - started < 8
        assert set(found) == {"greeting no reply within 1 s"}
        await pools.close()


# The command line


@on_uvloop
async def test_listen_does_not_wait_for_a_domain_list_without_end(monkeypatch: pytest.MonkeyPatch, count: ReadCounter):
    monkeypatch.setattr(event_forwarder, "_ANSWER_SECONDS", 0.5)
    for script in (
        *DRIPS.values(),
        FLOODS["body"],
        FLOODS["header fields"],
        flood(b"HTTP/1.1 500 No\r\n\r\n", b"x"),
        drip(b"HTTP/1.1 500 No\r\n\r\n", b"x"),
    ):
        with run_hostile_server(script) as server:
            with pytest.raises(Failure):
                await event_forwarder.find_domain(
                    event_forwarder.RemoteServer(f"http://127.0.0.1:{server.port}", "svc_x"), "shop.example"
                )
            await left(server)
    assert count.read < 3 * MOST_READ


@pytest.mark.parametrize(
    "script", [*DRIPS.values(), FLOODS["body"], FLOODS["status line"]], ids=[*DRIPS, "body", "status"]
)
@on_uvloop
async def test_status_does_not_wait_for_a_health_answer_without_end(
    script: Script, monkeypatch: pytest.MonkeyPatch, count: ReadCounter
):
    monkeypatch.setattr(inspection, "_TIMEOUT", 0.5)
    with run_hostile_server(script) as server:
        assert await inspection.fetch_health(f"http://127.0.0.1:{server.port}") == HealthSummary("unreachable")
        await left(server)
    assert count.read < MOST_READ
