"""Lookups of the server's addresses in blocklists (RFC 5782)."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterator, Sequence

import pytest

from mailkeep.features.directory.blocklists import service
from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.net.dns_lookups import Lookups
from mailkeep.net.dns_query import DnsQuery
from tests.support.dns_server import DnsServer

ADDRESSES = [ipaddress.ip_address("192.0.2.10"), ipaddress.ip_address("2001:db8::10")]
TEST4, TEST6 = "2.0.0.127.bl.test", "2.0.0.0.0.0.f.7.f.f.f.f" + ".0" * 20 + ".bl.test"


@pytest.fixture
def names() -> Iterator[DnsServer]:
    with DnsServer() as server:
        yield server


async def examine(names: DnsServer, *more: DnsServer) -> Sequence[BlocklistResult]:
    lookups = Lookups(DnsQuery([("127.0.0.1", each.port) for each in (names, *more)]), asyncio.Semaphore(32))
    return await service.examine(lookups, ["bl.test"], ADDRESSES)


async def test_a_list_must_have_its_test_entries(names: DnsServer):
    assert {each.status for each in await examine(names)} == {"unavailable"}
    names.publish(TEST4, "A", "127.0.0.2")
    first, second = await examine(names)
    assert (first.address, first.status, first.problem) == ("192.0.2.10", "not_listed", None)
    assert (second.address, second.status) == ("2001:db8::10", "unavailable")
    assert "for IPv6 addresses" in (second.problem or "")


async def test_listed_addresses(names: DnsServer):
    names.publish(TEST4, "A", "127.0.0.2")
    names.publish(TEST6, "A", "127.0.0.2")
    names.publish("10.2.0.192.bl.test", "A", "127.0.0.4")
    names.publish("10.2.0.192.bl.test", "TXT", "https://bl.test/why?192.0.2.10")
    first, second = await examine(names)
    assert (first.status, first.reason) == ("listed", "https://bl.test/why?192.0.2.10")
    assert second.status == "not_listed"
    names.publish("0.1.0.0" + ".0" * 20 + ".8.b.d.0.1.0.0.2.bl.test", "A", "127.0.0.3")
    assert (await examine(names))[1].status == "listed"


@pytest.mark.parametrize(
    "name, value, problem",
    [
        (TEST4, "127.255.255.254", "refuses queries through these name servers"),
        ("1.0.0.127.bl.test", "127.0.0.2", "contains every address"),
        ("10.2.0.192.bl.test", "203.0.113.1", "is not from a blocklist"),
    ],
)
async def test_lists_that_are_no_use(names: DnsServer, name: str, value: str, problem: str):
    names.publish(TEST4, "A", "127.0.0.2")
    names.publish(name, "A", value)
    first = (await examine(names))[0]
    assert (first.status, problem in (first.problem or "")) == ("unavailable", True), first


async def test_a_list_that_refuses_one_of_the_name_servers(names: DnsServer):
    with DnsServer() as refused:
        for server, code in ((names, "127.0.0.2"), (refused, "127.255.255.254")):
            server.publish(TEST4, "A", code)
            server.publish("10.2.0.192.bl.test", "A", code)
        refused.publish("1.0.0.127.bl.test", "A", "127.255.255.254")
        assert (await examine(refused, names))[0].status == "listed"


async def test_a_list_that_does_not_answer(names: DnsServer):
    names.fail("*.bl.test", "servfail")
    first = (await examine(names))[0]
    assert first.status == "unavailable"
    assert "SERVFAIL" in (first.problem or "")
