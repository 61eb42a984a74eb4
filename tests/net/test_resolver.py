"""How hosts are looked up, and that a name which moves while we look is not followed."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pytest

from mailkeep.net import resolver as resolving
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest
from mailkeep.net.resolver import DnsLookupError, Resolver
from tests.net.names import names

THREE_SECONDS = resolving.LOOKUP_SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers stand in this process: who stands still for three seconds would be left without an answer."""
    monkeypatch.setattr(resolving, "LOOKUP_SECONDS", 60.0)


async def found(resolver: Resolver, name: str) -> list[str]:
    return [str(address) for address in await resolver.resolve(name)]


async def test_the_servers_of_the_settings_are_asked_for_both_kinds():
    async with names(www=[["192.0.2.1", "192.0.2.2"]]) as server:
        server.answers[("www.example", "AAAA")] = [["2001:db8::1"]]
        resolver = Resolver([("127.0.0.1", server.port)])
        assert await found(resolver, "www.example") == ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
        assert sorted(server.asked) == [("www.example", "A"), ("www.example", "AAAA")]


async def test_the_hosts_file_comes_first(tmp_path: Path):
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n# x\n192.0.2.7\tWWW.example www # comment\nnonsense www.example\n\n")
    async with names(www=[["192.0.2.1"]]) as server:
        resolver = Resolver([("127.0.0.1", server.port)], hosts)
        assert await found(resolver, "www.example") == ["192.0.2.7"]
        assert server.asked == []
        hosts.unlink()
        assert await found(resolver, "www.example") == ["192.0.2.1"]


async def test_a_name_without_address_fails():
    async with names(empty=[[]]) as server:
        resolver = Resolver([("127.0.0.1", server.port)])
        for name in ("empty.example", "unknown.example"):
            with pytest.raises(DnsLookupError, match="no address"):
                await resolver.resolve(name)


async def test_one_kind_is_enough_where_the_other_fails():
    async with names(half=[["192.0.2.1"]]) as server:
        server.broken = {("half.example", "AAAA")}
        assert await found(Resolver([("127.0.0.1", server.port)]), "half.example") == ["192.0.2.1"]
        server.broken |= {("half.example", "A")}
        with pytest.raises(DnsLookupError, match="could not be looked up"):
            await Resolver([("127.0.0.1", server.port)]).resolve("half.example")


async def test_a_server_that_is_silent_is_waited_for_three_seconds_in_all(monkeypatch: pytest.MonkeyPatch):
    assert THREE_SECONDS == 3.0
    monkeypatch.setattr(resolving, "LOOKUP_SECONDS", 0.3)
    async with names() as server, names(slow=[["192.0.2.1"]]) as other:
        server.silent = other.silent = {"slow.example"}
        resolver = Resolver([("127.0.0.1", server.port), ("127.0.0.1", other.port)])
        took: list[float] = []
        while len(took) < 5 and min(took, default=inf) >= 2.5:  # the machine may have stood still
            started = time.monotonic()
            with pytest.raises(DnsLookupError, match="no answer"):
                await resolver.resolve("slow.example")
            took.append(time.monotonic() - started)
        assert min(took) < 2.5


async def test_the_second_server_answers_for_the_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resolving, "LOOKUP_SECONDS", 6.0)  # half of it is for the first
    async with names() as server, names(www=[["192.0.2.1"]]) as other:
        server.silent = {"www.example"}
        resolver = Resolver([("127.0.0.1", server.port), ("127.0.0.1", other.port)])
        assert await found(resolver, "www.example") == ["192.0.2.1"]


async def test_without_servers_the_system_is_asked():
    assert set(await found(Resolver(), "localhost")) <= {"127.0.0.1", "::1"}
    with pytest.raises(DnsLookupError):
        await Resolver().resolve("nothing.invalid")


async def test_a_system_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resolving, "LOOKUP_SECONDS", 0.2)
    ended = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: ended.wait(60) and [])
    resolver = Resolver()
    started = time.monotonic()
    with pytest.raises(DnsLookupError, match="no answer"):
        await resolver.resolve("hanging.example")
    assert time.monotonic() - started < 30
    ended.set()


async def test_no_more_than_sixteen_addresses_count():
    async with names(many=[[f"192.0.2.{number}" for number in range(1, 21)]]) as server:
        assert len(await found(Resolver([("127.0.0.1", server.port)]), "many.example")) == 16


# A name that moves

INSIDE = [
    "127.0.0.1",
    "127.0.0.53",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
]
INSIDE_6 = ["::1", "::", "::ffff:127.0.0.1", "fe80::1", "fd00:ec2::254", "64:ff9b::7f00:1", "2002:7f00:1::", "fec0::1"]


@dataclass
class Listener:
    """Counts connections to a port of loopback, and keeps them."""

    port: int
    connections: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    listener = Listener(0)
    server = await asyncio.start_server(listener.answer, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()
        await server.wait_closed()


def request(port: int, name: str = "moves.example", **more: Any) -> OutboundRequest:
    wanted: dict[str, Any] = {"method": "GET", "url": f"http://{name}:{port}/", "allow_http": True, "timeout": 60}
    return OutboundRequest(**(wanted | more))


async def test_a_name_that_leads_inside_is_refused_whatever_else_it_says():
    async with listening() as listener, names() as server:
        outbound = OutboundClient([("127.0.0.1", server.port)])
        for kind, addresses in (("A", INSIDE), ("AAAA", INSIDE_6)):
            for address in addresses:
                # Alone, and behind an address that could be reached.
                outside = "93.184.215.14" if kind == "A" else "2606:2800::1"
                for answer in ([address], [outside, address]):
                    server.answers = {("moves.example", kind): [answer]}
                    with pytest.raises(OutboundError) as failed:
                        await outbound.send(request(listener.port))
                    assert failed.value.kind == "address_refused", answer
        await outbound.close()
        assert listener.connections == 0


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used():
    """DNS rebinding: allowed at the look, inside at the next. There is no next."""
    async with listening() as listener, names(moves=[["127.0.0.2"], ["127.0.0.1"]]) as server:
        outbound = OutboundClient([("127.0.0.1", server.port)])
        allowed = (ipaddress.ip_network("127.0.0.2/32"),)
        # 127.0.0.2 is let through and refuses the connection; 127.0.0.1 listens, and is never called.
        with pytest.raises(OutboundError) as failed:
            await outbound.send(request(listener.port, allowed_networks=allowed))
        assert failed.value.kind == "connect"
        assert server.asked.count(("moves.example", "A")) == 1
        with pytest.raises(OutboundError) as failed:
            await outbound.send(request(listener.port, allowed_networks=allowed))
        assert failed.value.kind == "address_refused"
        await outbound.close()
        assert listener.connections == 0


async def test_a_connection_that_was_kept_is_no_way_around_the_look():
    """A connection stands open to an address; the name has moved since, or the rules have changed."""
    async with listening() as listener, names(moves=[["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]]) as server:
        outbound = OutboundClient([("127.0.0.1", server.port)])
        allowed = (ipaddress.ip_network("127.0.0.0/8"),)
        assert (await outbound.send(request(listener.port, allowed_networks=allowed))).status == 200
        with pytest.raises(OutboundError) as failed:
            await outbound.send(request(listener.port, allowed_networks=allowed))
        assert failed.value.kind == "connect"
        with pytest.raises(OutboundError) as failed:
            await outbound.send(request(listener.port))
        assert failed.value.kind == "address_refused"
        await outbound.close()
        assert listener.connections == 1
