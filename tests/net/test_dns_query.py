"""Queries to every configured name server, answered well and badly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mailkeep.net.dns_query import DnsQuery
from tests.support.dns_server import DnsServer, Fault


@pytest.fixture(scope="module")
def server() -> Iterator[DnsServer]:
    with DnsServer() as running:
        running.publish("example.test", "MX", "10 MX.Example.Test.", "20 backup.example.test.")
        running.publish("long.test", "TXT", "v=DKIM1; p=" + "A" * 700, 'with "quotes" and ü')
        running.publish("alias.test", "CNAME", "second.test.")
        running.publish("second.test", "CNAME", "long.test.")
        running.publish("loop.test", "CNAME", "loop.test.")
        running.publish("_dmarc.below.test", "TXT", "v=DMARC1; p=none")
        yield running


async def test_values_in_one_form_and_how_a_name_is_missing(server: DnsServer):
    query = DnsQuery([("127.0.0.1", server.port)])
    (found,) = await query.ask("Example.TEST.", "MX")
    assert (found.server, found.outcome) == (server.address, "found")
    assert found.values == ("10 mx.example.test", "20 backup.example.test")
    (text,) = await query.ask("alias.test", "TXT")
    assert text.aliases == ("second.test", "long.test")
    assert text.values == ("v=DKIM1; p=" + "A" * 700, 'with "quotes" and ü')
    assert [(await query.ask(name, "TXT"))[0].outcome for name in ("example.test", "below.test", "none.test")] == [
        "no_data", "no_data", "no_name",
    ]  # fmt: skip
    assert "loop" in (await query.ask("loop.test", "TXT"))[0].error
    with pytest.raises(ValueError, match="is not a domain name"):
        await query.ask("a..b", "TXT")


@pytest.mark.parametrize(
    "fault, outcome, error",
    [
        ("servfail", "error", "the server answered SERVFAIL"),
        ("refused", "error", "the server answered REFUSED"),
        ("silent", "error", "no answer in time"),
        ("slow", "found", ""),
        ("truncated", "found", ""),
        ("no_edns", "found", ""),
        ("lame", "error", "the server does not know the zone and does not resolve it"),
        ("garbage", "error", "an answer that is not valid DNS (ShortHeader)"),
    ],
)
async def test_faults(server: DnsServer, fault: Fault, outcome: str, error: str):
    name = f"{fault}.fault.test"
    server.publish(name, "TXT", "x")
    server.fail(name, fault)
    (answer,) = await DnsQuery([("127.0.0.1", server.port)]).ask(name, "TXT")
    assert (answer.outcome, answer.error) == (outcome, error)


async def test_each_server_has_its_own_answer(server: DnsServer):
    with DnsServer(host="127.0.0.2") as other:
        other.authenticated = True
        other.publish("example.test", "MX", "10 elsewhere.test.")
        servers = [("127.0.0.1", server.port), ("127.0.0.2", other.port), ("127.0.0.3", 9)]
        first, second, third = await DnsQuery(servers).ask("example.test", "MX")
    assert (first.authenticated, second.authenticated) == (False, True)
    assert second.values == ("10 elsewhere.test",)
    assert (third.server, third.outcome) == ("127.0.0.3:9", "error")
