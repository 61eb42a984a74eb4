"""The policy of a domain: who gets it, what changes its ID, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mailkeep.app import App
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mta_sts import rules, service
from mailkeep.net.mta_sts import PATH, find_id
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.support.builders import DOMAIN_ID, list_audit_entries
from tests.support.caller import Answer, Caller
from tests.support.client import EXAMPLE, Api, reason

TESTING = b"version: STSv1\nmode: testing\nmx: mail.host.test\nmax_age: 86400\n"
NONE = b"version: STSv1\nmode: none\nmax_age: 86400\n"


@pytest.fixture(autouse=True)
def hostname(api: Api) -> None:
    set_hostname(api.app, "Mail.Host.test")


def set_hostname(app: App, name: str) -> None:
    app.settings = replace(app.settings, server=replace(app.settings.server, hostname=name))


async def fetch(api: Api, host: str = f"mta-sts.{EXAMPLE}") -> Answer:
    return await Caller(Pipeline(api.app, Router(ENDPOINTS), ACCESS_CONTROL))("GET", PATH, {"host": host})


async def set_mode(api: Api, mode: str) -> Any:
    return await api.adam.patch(f"/domains/{DOMAIN_ID}", {"mta_sts_mode": mode})


async def read(api: Api) -> Domain:
    async with api.app.db.autocommit() as conn:
        domain = await domains.find_by_name(conn, EXAMPLE)
    assert domain
    return domain


async def test_the_host_field_chooses_the_policy(api: Api):
    assert (await fetch(api)).status == 404  # the mode is none
    assert (await set_mode(api, "testing")).data["mta_sts_mode"] == "testing"
    [*_, (action, _, details)] = await list_audit_entries(api)
    assert (action, details) == (
        "domain.update", {"before": {"mta_sts_mode": "none"}, "after": {"mta_sts_mode": "testing"}}
    )  # fmt: skip
    for host in (f"mta-sts.{EXAMPLE}", f"MTA-STS.{EXAMPLE.upper()}.", f"mta-sts.{EXAMPLE}:443"):
        found = await fetch(api, host)
        assert (found.status, found.body) == (200, TESTING)
        assert found.headers["content-type"].partition(";")[0] == "text/plain"
    for host in (EXAMPLE, f"mta-sts.mta-sts.{EXAMPLE}", "mta-sts.other.test", "mta-sts.unknown.test", "mta-sts.",
                 "mta-sts.192.0.2.1", "mta-sts.ä.test\x00", ""):  # fmt: skip
        assert (await fetch(api, host)).status == 404, host
    set_hostname(api.app, "")  # the policy would name no server
    assert (await fetch(api)).status == 404
    assert (await service.check(api.app, await read(api))).advice.startswith("Set server.hostname")


async def test_the_id_changes_exactly_with_the_policy(api: Api):
    ids: set[str | None] = set()
    for mode, hostname in (("testing", "a.test"), ("enforce", "a.test"), ("enforce", "b.test"), ("none", "b.test")):
        await api.sql(
            "UPDATE domains SET mta_sts_mode = %(mode)s, mta_sts_ended_at = %(at)s", mode=mode, at=api.clock()
        )
        domain = await read(api)
        value = rules.record_value(domain, hostname, api.clock())
        assert value == rules.record_value(domain, hostname, api.clock() + timedelta(days=6))
        assert value
        ids.add(find_id([value]))
    assert len(ids) == 4
    assert None not in ids


async def test_enforce_waits_for_a_check_and_the_end_is_announced_for_a_week(api: Api):
    refused = await set_mode(api, "enforce")
    assert (refused.status, reason(refused)) == (409, "not_served")
    created = await api.adam.post("/domains", {"name": "new.test", "mta_sts_mode": "enforce"})
    assert reason(created) == "not_served"
    await set_mode(api, "testing")
    assert reason(await set_mode(api, "enforce")) == "not_served"
    await api.sql("UPDATE domains SET mta_sts_served_at = %(at)s WHERE mta_sts_mode = 'testing'", at=api.clock())
    assert (await set_mode(api, "enforce")).status == 200
    # A check that fails later changes no mode, and other fields can be changed.
    await api.sql("UPDATE domains SET mta_sts_served_at = NULL")
    assert (await api.adam.patch(f"/domains/{DOMAIN_ID}", {"description": "x"})).data["mta_sts_mode"] == "enforce"
    assert (await fetch(api)).body == TESTING.replace(b"testing", b"enforce").replace(b"86400", b"604800")

    await api.sql("UPDATE domains SET mta_sts_served_at = %(at)s", at=api.clock())
    await set_mode(api, "none")
    assert (await fetch(api)).body == NONE
    assert rules.record_value(await read(api), "mail.host.test", api.clock()) is not None
    api.clock.advance(days=6, hours=23)
    assert (await fetch(api)).body == NONE
    api.clock.advance(hours=1)
    assert (await fetch(api)).status == 404
    assert rules.record_value(await read(api), "mail.host.test", api.clock()) is None
    await set_mode(api, "testing")
    assert reason(await set_mode(api, "enforce")) == "not_served"  # the earlier check no longer counts


def test_reports_about_tls_go_to_the_server():
    assert rules.tls_report_value("mail.host.test") == "v=TLSRPTv1; rua=mailto:tls@mail.host.test"
