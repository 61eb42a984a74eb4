"""Checks of DNS records over the API and by the worker: requests, results, status, events, leases, budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mailkeep.features.directory.dns_checks.jobs import DnsCheckWorker
from mailkeep.features.directory.dns_checks.model import SERVER
from tests.support.builders import DOMAIN_ID
from tests.support.client import EXAMPLE, Api, Client
from tests.support.dns_server import DnsServer

HOST = "mx.host.test"
PATH = f"/domains/{DOMAIN_ID}/dns"


@pytest.fixture
def names() -> Iterator[DnsServer]:
    with DnsServer() as server:
        server.publish(HOST, "A", "192.0.2.10")
        yield server


@pytest.fixture
async def checked(api: Api, names: DnsServer) -> Api:
    """The API of a server with a name and an address; no check is due for a long time."""
    configure(api, names)
    later = api.clock() + timedelta(days=1000)
    await api.sql("INSERT INTO dns_checks (id, due_at) VALUES (%(id)s, %(at)s)", id=SERVER, at=later)
    await api.sql("UPDATE dns_checks SET due_at = %(at)s", at=later)
    return api


def configure(api: Api, *servers: DnsServer, hostname: str = HOST, **dns: Any) -> None:
    settings = api.app.settings
    addresses = tuple(each.address for each in servers)
    api.app.settings = replace(
        settings,
        server=replace(settings.server, hostname=hostname, addresses=("192.0.2.10",)),
        dns=replace(settings.dns, **({"servers": addresses, "blocklists": (), "lookups_per_second": 10_000} | dns)),
    )


async def records(api: Api) -> list[dict[str, Any]]:
    answer = await api.dora.get(PATH)
    assert answer.status == 200, answer.body
    return answer.data["records"]


async def publish_required(api: Api, names: DnsServer) -> None:
    for record in await records(api):
        if record["required"]:
            names.publish(record["name"], record["type"], record["value"])


async def check(api: Api, client: Client | None = None, path: str = PATH) -> dict[str, Any]:
    """Request a check, and carry out what is due."""
    api.clock.advance(seconds=11)
    answer = await (client or api.sue).post(f"{path}/check")
    assert answer.status == 202, answer.body
    assert answer.data["state"] == "waiting"
    assert await DnsCheckWorker(api.app).drain() == 1
    return (await api.sue.get(path)).data


async def test_a_domain_turns_green(checked: Api, names: DnsServer):
    report = (await checked.dora.get(PATH)).data
    assert (report["status"], report["checked_at"], report["setup"]) == ("unchecked", None, None)
    assert {record["status"] for record in report["records"]} == {"not_checked"}
    report = await check(checked, checked.dora)
    assert (report["status"], report["check"]["state"]) == ("failing", "idle")
    assert {record["status"] for record in report["records"]} == {"missing"}
    checked.app.counters.drain()
    await publish_required(checked, names)
    report = await check(checked)
    assert report["status"] == "ok"
    assert checked.app.counters.drain()[0] == (("dns_checks", ("ok",)), 1)
    assert {record["status"] for record in report["records"] if record["required"]} == {"ok"}
    [listed] = (await checked.sue.get("/domains", dns_status="ok")).data
    assert (listed["name"], listed["dns"]["checked_at"]) == (EXAMPLE, report["checked_at"])
    assert (await checked.sue.get("/domains", dns_status="failing")).data == []
    assert [each["actor_label"] for each in await checked.audit_entries("domain.dns_check")] == [
        f"dora@{EXAMPLE}", f"sue@{EXAMPLE}",
    ]  # fmt: skip


async def test_requests_are_limited_and_never_run_twice_at_once(checked: Api):
    assert (await checked.sue.post(f"{PATH}/check")).data["state"] == "waiting"
    assert (await checked.sue.post(f"{PATH}/check")).data["state"] == "waiting"
    assert len(await checked.audit_entries("domain.dns_check")) == 2
    first, second = DnsCheckWorker(checked.app), DnsCheckWorker(checked.app)
    [running] = await first.claim()
    assert await second.claim() == []
    assert (await checked.sue.get(PATH)).data["check"]["state"] == "running"
    # A request while it runs leads to another check afterwards.
    assert (await checked.sue.post(f"{PATH}/check")).data["state"] == "running"
    assert await second.claim() == []
    await first.work(running)
    assert (await checked.sue.get(PATH)).data["check"]["state"] == "waiting"
    assert await second.drain() == 1
    answer = await checked.sue.post(f"{PATH}/check")
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "RATE_LIMIT_EXCEEDED", "10")


async def test_a_killed_worker_s_check_is_done_by_another_and_its_result_dropped(checked: Api, names: DnsServer):
    await checked.sue.post(f"{PATH}/check")
    killed, other = DnsCheckWorker(checked.app), DnsCheckWorker(checked.app)
    [lost] = await killed.claim()
    assert await other.drain() == 0
    checked.clock.advance(seconds=121)
    assert await other.drain() == 1
    before = (await checked.sue.get(PATH)).data
    await publish_required(checked, names)
    await killed.work(lost)
    assert (await checked.sue.get(PATH)).data == before


async def test_events_after_two_checks_that_agree(checked: Api, names: DnsServer):
    async def events() -> list[str]:
        rows = await checked.sql("SELECT kind FROM events ORDER BY id")
        return [row["kind"] for row in rows]

    async def wait_and_run(seconds: float) -> int:
        checked.clock.advance(seconds=seconds)
        return await DnsCheckWorker(checked.app).drain()

    await check(checked)
    assert await events() == []  # never in order: setting up is no failure
    await publish_required(checked, names)
    await check(checked)
    names.publish(EXAMPLE, "MX", "10 elsewhere.test.")
    assert (await check(checked))["status"] == "failing"
    assert await events() == []
    assert await wait_and_run(290) == 0
    assert await wait_and_run(15) == 1
    assert await events() == ["domain.dns_failed"]
    [row] = await checked.sql("SELECT data FROM events")
    assert [problem["purpose"] for problem in row["data"]["problems"]] == ["mx", "spf"]
    # A look at the wrong answer in between, and no answers at all, change nothing.
    names.publish(EXAMPLE, "MX", f"10 {HOST}.")
    assert (await check(checked))["status"] == "ok"
    names.fail("*.test", "servfail")
    assert await wait_and_run(301) == 1
    assert (await checked.sue.get(PATH)).data["status"] == "ok"
    assert await events() == ["domain.dns_failed"]
    names.fail("*.test", None)
    assert await wait_and_run(301) == 1
    assert await events() == ["domain.dns_failed", "domain.dns_recovered"]
    # A change that is gone at the second look.
    names.publish(EXAMPLE, "MX", "10 elsewhere.test.")
    await check(checked)
    names.publish(EXAMPLE, "MX", f"10 {HOST}.")
    assert await wait_and_run(301) == 1
    assert await wait_and_run(301) == 0
    assert len(await events()) == 2


async def test_a_server_without_a_network_reports_no_failure(checked: Api, names: DnsServer):
    await publish_required(checked, names)
    await check(checked)
    configure(checked, names)
    names.fail("*.test", "refused")
    for _ in range(2):
        await check(checked)
        checked.clock.advance(seconds=600)
    report = await check(checked)
    assert report["status"] == "ok"
    assert {record["status"] for record in report["records"]} == {"dns_error"}
    assert await checked.sql("SELECT FROM events") == []


async def test_a_domain_that_is_added_again_starts_empty(checked: Api, names: DnsServer):
    await checked.sql("UPDATE dns_checks SET due_at = %(at)s", at=checked.clock())
    created = (await checked.sue.post("/domains", {"name": "again.test"})).data
    assert (await checked.sue.post(f"/domains/{created['id']}/dns/check")).status == 202
    await DnsCheckWorker(checked.app).drain()
    assert (await checked.sue.get(f"/domains/{created['id']}/dns")).data["status"] == "failing"
    assert (await checked.sue.delete(f"/domains/{created['id']}")).status == 200
    created = (await checked.sue.post("/domains", {"name": "again.test"})).data
    report = (await checked.sue.get(f"/domains/{created['id']}/dns")).data
    assert (report["status"], report["checked_at"]) == ("unchecked", None)


async def test_hostile_values_are_stored(checked: Api, names: DnsServer):
    names.publish(EXAMPLE, "TXT", "v=spf1 \0\x1b[2J\ud7ff " + "a" * 30_000, "v=spf1 " + "a." * 9000 + "!")
    names.publish(f"_dmarc.{EXAMPLE}", "TXT", "v=DMARC1; p=none; pct=" + "9" * 9000)
    report = await check(checked)
    found = {record["purpose"]: record for record in report["records"]}
    assert [found[purpose]["status"] for purpose in ("spf", "dmarc")] == ["multiple", "mismatch"]
    assert all(len(value) <= 2000 for value in found["spf"]["found"])
    assert "\0" not in json.dumps(report)


async def test_before_the_server_has_a_name(checked: Api, names: DnsServer):
    configure(checked, names, hostname="")
    report = await check(checked)
    assert (report["status"], report["hostname"], report["checked_at"]) == ("unchecked", None, None)
    assert "server.hostname" in report["setup"]["advice"]
    assert {record["status"] for record in report["records"]} == {"not_checked"}
    values = {record["purpose"]: record["value"] for record in report["records"]}
    assert values["mx"] is None
    assert values["spf"] == "v=spf1 mx -all"
    server = await check(checked, path="/dns/server")
    assert (server["records"], server["status"]) == ([], "unchecked")
    assert "server.hostname" in server["setup"]["advice"]
    assert not names.queries
    zone = await checked.sue.get(f"/domains/{DOMAIN_ID}/zone-file")
    assert b" MX " not in zone.body
    assert b'"v=spf1 mx -all"' in zone.body


async def test_new_domains_are_checked_without_a_request_and_within_the_budget(checked: Api, names: DnsServer):
    configure(checked, names, lookups_per_second=20)
    for number in range(5):
        await checked.domain(f"domain{number}.test")
    worker = DnsCheckWorker(checked.app)
    done = [await worker.drain()]
    while sum(done) < 5:
        checked.clock.advance(seconds=1)
        done.append(await worker.drain())
        assert len(done) < 100
    # About 15 look-ups each, at 20 a second, after a burst of two seconds.
    assert 2 <= len(done) <= 8, done
    rows = await checked.sql("SELECT DISTINCT date_trunc('minute', due_at - checked_at) AS pause FROM dns_checks "
                             "WHERE checked_at IS NOT NULL")  # fmt: skip
    assert all(timedelta(minutes=57) <= row["pause"] <= timedelta(minutes=60) for row in rows)


async def test_all_workers_share_the_budget(checked: Api, names: DnsServer):
    configure(checked, names, lookups_per_second=20)  # one check a second, with one name server
    for number in range(10):
        await checked.domain(f"domain{number}.test")
    workers = [DnsCheckWorker(checked.app) for _ in range(3)]

    async def claim_all() -> int:
        return sum(len(each) for each in await asyncio.gather(*(worker.claim() for worker in workers)))

    assert await claim_all() == 1
    assert await claim_all() == 0
    checked.clock.advance(seconds=60)
    assert await claim_all() == 3  # the burst of two seconds, and one more
    # Requested checks use it in advance.
    await checked.sue.post(f"{PATH}/check")
    assert await claim_all() == 1


async def test_requests_do_not_stop_the_checks_of_other_domains(checked: Api, names: DnsServer):
    configure(checked, names, lookups_per_second=20)  # one check a second, with one name server
    for number in range(20):
        await checked.domain(f"domain{number}.test")
    worker, claimed = DnsCheckWorker(checked.app), list[bool]()
    for _ in range(140):
        at = checked.clock.advance(seconds=5) or checked.clock()
        await checked.sql("UPDATE dns_checks SET due_at = %(at)s, running = false, requested_at = %(at)s "
                          "WHERE domain_id <> %(id)s", at=at, id=DOMAIN_ID)  # fmt: skip
        if not claimed:
            await checked.sql("UPDATE dns_checks SET due_at = %(at)s WHERE domain_id = %(id)s", at=at, id=DOMAIN_ID)
        found = await worker.claim()
        claimed.append(any(str(check.domain_id) == DOMAIN_ID for check in found))
    late = 10 * 60 // 5
    assert not any(claimed[: late - 1])
    assert any(claimed[late:])


async def test_a_spf_record_can_not_ask_for_any_number_of_look_ups(checked: Api, names: DnsServer):
    """Ten terms with ten servers each, whose names depend on the sender's address."""
    hosts = [f"h{number}.%.many.test" for number in range(10)]
    addresses = ("192.0.2.10", "0.0.0.0")
    for term, address in [(term, address) for term in range(9) for address in addresses]:
        servers = [f"{term}.{host.replace('%', address)}" for host in hosts]
        names.publish(f"{address}.m{term}.test", "MX", *(f"10 {server}" for server in servers))
        for server in servers:
            names.publish(server, "A", "198.51.100.1")
    names.publish(EXAMPLE, "TXT", f"v=spf1 {' '.join(f'mx:%{{i}}.m{term}.test' for term in range(9))} -all")
    checked.app.counters.drain()
    report = await check(checked)
    [spf] = [each for each in report["records"] if each["purpose"] == "spf"]
    assert (spf["status"], "the check needs more than 150 DNS look-ups" in spf["problem"]) == ("dns_error", True)
    assert dict(checked.app.counters.drain())[("dns_queries", ())] == 150


async def test_nothing_but_requests_if_the_interval_is_0(checked: Api, names: DnsServer):
    configure(checked, names, check_minutes=0)
    await checked.domain("new.test")
    assert await DnsCheckWorker(checked.app).drain() == 0
    await check(checked)


async def test_the_server_s_own_records(checked: Api, names: DnsServer):
    report = await check(checked, path="/dns/server")
    status = {record["purpose"]: record["status"] for record in report["records"]}
    assert status == {
        "address": "ok", "ptr": "missing", "spf": "missing", "dkim": "missing", "report_authorization": "missing",
        "caa": "ok", "dnssec": "missing", "tlsa": "missing",
    }  # fmt: skip
    assert report["status"] == "failing"
    assert (report["addresses"], report["name_servers"]) == (["192.0.2.10"], [names.address])
    for record in report["records"]:
        if record["value"]:
            names.publish(record["name"], record["type"], record["value"])
    report = await check(checked, path="/dns/server")
    assert report["status"] == "ok", report
    for role in (checked.adam, checked.dora):
        assert (await role.get("/dns/server")).code == "FORBIDDEN"


async def test_addresses_come_from_dns_if_no_setting_has_them(checked: Api, names: DnsServer):
    settings = checked.app.settings
    checked.app.settings = replace(settings, server=replace(settings.server, addresses=("10.0.0.1",)))
    names.publish(HOST, "AAAA", "2001:db8::10", "::1")
    report = await check(checked, path="/dns/server")
    assert report["addresses"] == ["192.0.2.10", "2001:db8::10"]
    pointers = [record["name"] for record in report["records"] if record["purpose"] == "ptr"]
    assert pointers[0] == "10.2.0.192.in-addr.arpa"
    assert len(pointers) == 2


async def test_a_name_that_is_too_long_for_its_records_is_checked(checked: Api):
    new = {"name": ".".join(["a" * 61] * 4), "mta_sts_mode": "testing"}
    domain_id = (await checked.sue.post("/domains", new)).data["id"]
    assert await DnsCheckWorker(checked.app).drain() == 1
    report = (await checked.sue.get(f"/domains/{domain_id}/dns")).data
    assert report["status"] == "failing"
    assert {each["status"] for each in report["records"] if each["purpose"] == "mta_sts_host"} == {"missing"}
