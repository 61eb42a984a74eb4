"""The check of a policy: fetched over HTTPS with a certificate of a test authority; each failure has its advice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mailkeep.features.directory.dns_checks import service as dns_checks
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.mta_sts import service
from mailkeep.features.directory.mta_sts.model import PolicyCheck
from mailkeep.net.client import OutboundClient
from tests.stack.harness import free_address
from tests.support.builders import DOMAIN_ID
from tests.support.client import EXAMPLE, Api
from tests.support.dns_server import DnsServer
from tests.support.policy_host import PolicyHost

pytestmark = pytest.mark.root  # port 443
HOST = f"mta-sts.{EXAMPLE}"
POLICY = "version: STSv1\nmode: testing\nmx: mail.host.test\nmax_age: 86400\n"


@dataclass
class Place:
    """The instance with its name server and the host of the policy."""

    api: Api
    names: DnsServer
    host: PolicyHost

    async def check(self) -> PolicyCheck:
        async with self.api.app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, EXAMPLE)
        assert domain
        return await service.check(self.api.app, domain)

    async def enforce(self) -> int:
        return (await self.api.adam.patch(f"/domains/{DOMAIN_ID}", {"mta_sts_mode": "enforce"})).status


@pytest.fixture
async def place(api: Api, tmp_path: Path) -> AsyncIterator[Place]:
    with DnsServer() as names, PolicyHost(tmp_path, free_address(443), [HOST]) as host:
        settings = api.app.settings
        api.app.settings = replace(
            settings,
            server=replace(settings.server, hostname="mail.host.test"),
            dns=replace(settings.dns, servers=(names.address,)),
            outbound=replace(settings.outbound, mta_sts_networks=("127.0.0.0/8",), extra_ca_file=str(host.ca_file)),
        )
        await api.app.outbound.close()
        api.app.outbound = OutboundClient([(names.host, names.port)])
        names.publish(HOST, "A", host.address)
        await api.adam.patch(f"/domains/{DOMAIN_ID}", {"mta_sts_mode": "testing"})
        yield Place(api, names, host)
        await api.app.outbound.close()


async def test_enforce_is_accepted_once_the_policy_is_served(place: Place):
    assert (await place.check()).status == "mismatch"
    assert await place.enforce() == 409
    place.host.serve(EXAMPLE, POLICY)
    found = await place.check()
    assert found == PolicyCheck("ok", (POLICY,))
    assert await place.enforce() == 200
    async with place.api.app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, EXAMPLE)
    report = await dns_checks.check_now(place.api.app, domain)  # the check of all records fetches the policy too
    (policy,) = [finding for record, finding in report.records if record.purpose == "mta_sts_host"]
    assert (policy.status, policy.found) == ("mismatch", ("; ".join(POLICY.splitlines()),))
    # Now another policy is expected. A check that does not find it takes the permission back.
    assert (await place.check()).status == "mismatch"
    await place.api.adam.patch(f"/domains/{DOMAIN_ID}", {"mta_sts_mode": "testing"})
    assert await place.enforce() == 409


async def test_a_name_server_that_fails_proves_nothing(place: Place):
    place.host.serve(EXAMPLE, POLICY)
    assert (await place.check()).status == "ok"
    place.names.fail(HOST, "servfail")
    assert (await place.check()).status == "dns_error"
    assert await place.enforce() == 200


async def test_each_failure_has_its_problem_and_advice(place: Place, tmp_path: Path):
    seen: dict[str, PolicyCheck] = {}
    place.names.withdraw(HOST)
    seen["no address"] = await place.check()
    place.names.publish(HOST, "A", "10.0.0.1")
    seen["private"] = await place.check()
    place.names.publish(HOST, "A", free_address(443))
    seen["closed"] = await place.check()
    place.names.publish(HOST, "A", place.host.address)
    for name, status, media_type, text in (
        ("redirect", 301, "text/plain", POLICY),
        ("404", 404, "text/plain", ""),
        ("HTML", 200, "text/html", POLICY),
        ("large", 200, "text/plain", POLICY + "x: y\n" * 20_000),
        ("malformed", 200, "text/plain", "It works!"),
        ("other server", 200, "text/plain", POLICY.replace("mail.host", "mail.elsewhere")),
    ):
        place.host.serve(EXAMPLE, text, status, media_type)
        seen[name] = await place.check()
    place.host.serve(EXAMPLE, POLICY)
    with PolicyHost(tmp_path, free_address(443), ["mta-sts.other.test"], place.host.ca) as other:
        other.serve(EXAMPLE, POLICY)
        place.names.publish(HOST, "A", other.address)
        seen["certificate"] = await place.check()

    expected = {
        "no address": ("missing", "has no address", "CNAME"),
        "private": ("mismatch", "not public", "outbound.mta_sts_networks"),
        "closed": ("mismatch", "port 443", "HTTPS"),
        "redirect": ("mismatch", "redirects", "without a redirect"),
        "404": ("mismatch", "HTTP 404", "Host field"),
        "HTML": ("mismatch", "text/html", "Content-Type"),
        "large": ("mismatch", "64 KiB", "proxy"),
        "malformed": ("mismatch", "not a valid policy", "proxy"),
        "other server": ("mismatch", "another policy", "cache"),
        "certificate": ("mismatch", "Hostname mismatch", "certificate for mta-sts.example.test"),
    }
    assert seen.keys() == expected.keys()
    for name, (status, problem, advice) in expected.items():
        assert seen[name].status == status, name
        assert problem in seen[name].problem, seen[name]
        assert advice in seen[name].advice, seen[name]
    assert await place.enforce() == 409
