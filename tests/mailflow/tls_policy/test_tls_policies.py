"""TLS policies of deliveries: what is decided, how long a policy is kept, and what is never sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mailkeep.features.mailflow.tls_policy import rules
from mailkeep.features.mailflow.tls_policy.model import DaneCoverage
from mailkeep.features.mailflow.tls_policy.service import TlsPolicies
from mailkeep.mail.postfix.socketmap import LookupFailed
from mailkeep.net.client import OutboundClient
from mailkeep.net.dns_query import DnsQuery
from mailkeep.net.mta_sts import Mode, MtaStsPolicy
from tests.stack.harness import free_address
from tests.support.client import Api
from tests.support.dns_server import DnsServer
from tests.support.policy_host import PolicyHost

FAR, TLSA = "far.test", f"3 1 1 {'ab' * 32}"
SECURE = "secure match=mx.far.test:.far.test servername=hostname"


def text(mode: str = "enforce", max_age: int = 604_800) -> str:
    return f"version: STSv1\nmode: {mode}\nmx: mx.far.test\nmx: *.far.test\nmax_age: {max_age}\n"


@pytest.mark.parametrize(
    "mode, coverage, requires_tls, expected",
    [
        (None, "none", False, None),
        ("testing", "none", False, None),
        ("none", "none", False, None),
        ("enforce", "none", False, "secure match=mx.far.test servername=hostname"),
        ("enforce", "all", False, None),  # the default `dane`: RFC 8461 §2
        ("enforce", "some", False, "dane-only"),
        (None, "some", False, None),
        (None, "all", True, "dane-only"),
        (None, "some", True, "dane-only"),
        (None, "none", True, None),
        ("enforce", "none", True, "secure match=mx.far.test servername=hostname"),
    ],
)
def test_the_decision(mode: Mode | None, coverage: DaneCoverage, requires_tls: bool, expected: str | None) -> None:
    policy = MtaStsPolicy(mode, ("mx.far.test",), 1) if mode else None
    assert rules.decide(policy, coverage, requires_tls=requires_tls) == expected


@pytest.mark.parametrize(
    "key, expected",
    [
        ("Far.Test", "far.test"),
        ("bücher.test", "xn--bcher-kva.test"),
        (".test", None),
        ("test", None),
        ("[relay.test]:587", None),
        ("192.0.2.1", None),
        ("", None),
        ("far.test/../x", None),
    ],
)
def test_the_domain_of_a_delivery(key: str, expected: str | None) -> None:
    assert rules.parse_destination(key) == expected


@dataclass
class Place:
    """The table, with the resolver and the host of policies."""

    api: Api
    table: TlsPolicies
    names: DnsServer
    host: PolicyHost

    def set(self, **outbound: Any) -> None:
        settings = self.api.app.settings
        self.api.app.settings = replace(settings, outbound=replace(settings.outbound, **outbound))

    def publish_policy(self, policy_id: str, policy: str) -> None:
        self.names.publish(f"_mta-sts.{FAR}", "TXT", f"v=STSv1; id={policy_id}")
        self.host.serve(FAR, policy)

    async def later(self, **time: float) -> str | None:
        """The answer after this time, at least that for which answers are kept."""
        self.api.clock.advance(**time)
        return await self.table.find(FAR)


@pytest.fixture
async def place(api: Api, tmp_path: Path) -> AsyncIterator[Place]:
    with DnsServer() as names, PolicyHost(tmp_path, free_address(443), [f"mta-sts.{FAR}"]) as host:
        servers = [(names.host, names.port)]
        await api.app.outbound.close()
        api.app.outbound = OutboundClient(servers)
        found = Place(api, TlsPolicies(api.app, lambda: DnsQuery(servers)), names, host)
        found.set(mta_sts=True, mta_sts_networks=("127.0.0.0/8",), extra_ca_file=str(host.ca_file))
        names.publish(f"mta-sts.{FAR}", "A", host.address)
        names.publish(FAR, "MX", "10 mx.far.test.")
        names.publish("mx.far.test", "A", "192.0.2.25")
        yield found
        await api.app.outbound.close()


@pytest.mark.root
async def test_a_policy_is_kept_until_it_expires_whatever_an_attacker_suppresses(place: Place):
    assert await place.table.find(FAR) is None
    place.publish_policy("1", text())
    assert await place.later(minutes=1) is None  # the answer is kept
    assert await place.later(minutes=5) == SECURE
    assert place.host.requests == [f"mta-sts.{FAR}"]
    place.names.withdraw(f"_mta-sts.{FAR}")
    assert await place.later(days=2) == SECURE
    place.names.fail(f"_mta-sts.{FAR}", "silent")
    assert await place.later(days=2) == SECURE
    place.names.fail(f"_mta-sts.{FAR}", None)
    place.publish_policy("2", "It works!")
    assert await place.later(days=2) == SECURE  # another policy is announced, and can't be fetched
    assert await place.later(days=1, minutes=6) is None  # a week after the fetch
    await place.table.refresh()
    assert await place.api.sql("SELECT 1 FROM mta_sts_policies") == []


@pytest.mark.root
async def test_a_changed_policy_is_fetched_and_one_in_use_is_refreshed(place: Place):
    place.publish_policy("1", text())
    assert await place.table.find(FAR) == SECURE
    place.publish_policy("2", text("testing"))
    assert await place.later(minutes=6) is None
    place.publish_policy("3", text(max_age=200_000))
    assert await place.later(minutes=6) == SECURE
    fetched = len(place.host.requests)
    await place.table.refresh()
    assert len(place.host.requests) == fetched  # not a day old
    for _ in range(3):  # without a delivery, it does not expire
        place.api.clock.advance(days=1)
        await place.table.refresh()
    assert len(place.host.requests) == fetched + 3
    assert await place.later(days=1) == SECURE
    place.host.answers.clear()
    place.api.clock.advance(days=1)
    await place.table.refresh()
    await place.table.refresh()
    assert len(place.host.requests) == fetched + 4  # a fetch that failed is tried again an hour later
    place.api.clock.advance(hours=1)
    await place.table.refresh()
    assert len(place.host.requests) == fetched + 5


@pytest.mark.root
async def test_no_internal_host_is_reached_and_off_means_no_traffic(place: Place):
    place.publish_policy("1", text())
    place.set(mta_sts_networks=())
    assert await place.table.find(FAR) is None
    place.set(mta_sts_networks=("127.0.0.0/8",), mta_sts=False)
    place.names.queries.clear()
    assert await place.table.find(FAR) is None
    await place.table.refresh()
    assert (place.host.requests, sum(place.names.queries.values())) == ([], 0)


async def test_dane_needs_signed_answers_and_an_unknown_state_defers(place_without_host: Place):
    place = place_without_host
    place.set(dane=True, mta_sts=False, tls="encrypt")
    place.names.publish("_25._tcp.mx.far.test", "TLSA", TLSA)
    assert await place.table.find(FAR) is None  # not signed
    place.names.authenticated = True
    assert await place.later(minutes=6) == "dane-only"
    place.names.publish("_25._tcp.mx.far.test", "TLSA", TLSA.replace("3 1 1", "1 1 1"))  # PKIX-EE does not count
    assert await place.later(minutes=6) is None
    place.names.fail("_25._tcp.mx.far.test", "servfail")
    assert await place.later(minutes=6) == "dane-only"
    place.names.fail(FAR, "servfail")
    place.api.clock.advance(minutes=6)
    with pytest.raises(LookupFailed, match="SERVFAIL"):
        await place.table.find(FAR)
    place.names.fail(FAR, None)  # an error is not kept
    assert await place.table.find(FAR) == "dane-only"


@pytest.fixture
async def place_without_host(api: Api, tmp_path: Path) -> AsyncIterator[Place]:
    with DnsServer() as names:
        servers = [(names.host, names.port)]
        names.publish(FAR, "MX", "10 mx.far.test.")
        names.publish("mx.far.test", "A", "192.0.2.25")
        host = PolicyHost(tmp_path, "127.0.0.1", ["unused.test"])
        yield Place(api, TlsPolicies(api.app, lambda: DnsQuery(servers)), names, host)
