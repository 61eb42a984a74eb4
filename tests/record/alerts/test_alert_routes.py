"""Alerts by the API: who sees them, acknowledging, resolving, and what a deleted domain leaves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mailkeep.features.record.alerts import service
from mailkeep.features.record.alerts.model import AlertProblem, Severity
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, reason


async def report(api: Api, *problems: AlertProblem, at: datetime | None = None) -> None:
    async with api.app.db.tx() as conn:
        await service.report(conn, at or api.clock(), "abuse", problems, kinds=["bounce_rate"])


def problem(domain: str, severity: Severity = "warning") -> AlertProblem:
    address = f"shop@{domain}"
    return AlertProblem("bounce_rate", address, DOMAIN_IDS[domain], severity, "Too many bounces.", 12.5, 5.0)


async def seen_by(client: Client, **query: str) -> set[str]:
    return {row["subject"] for row in (await client.get("/abuse/alerts", **query)).data}


async def test_an_alert_from_its_problem_to_its_end(api: Api):
    await report(api, problem(EXAMPLE))
    [row] = (await api.sue.get("/abuse/alerts")).data
    assert row == {
        "id": row["id"],
        "kind": "bounce_rate",
        "domain_id": str(DOMAIN_IDS[EXAMPLE]),
        "subject": f"shop@{EXAMPLE}",
        "severity": "warning",
        "state": "open",
        "reason": "Too many bounces.",
        "observed": 12.5,
        "baseline": 5.0,
        "note": None,
        "created_at": row["created_at"],
        "seen_at": row["created_at"],
        "resolved_at": None,
    }
    path = f"/abuse/alerts/{row['id']}"
    acknowledged = await api.dora.post(f"{path}/acknowledge", {"note": "I ask the customer."})
    assert (acknowledged.data["state"], acknowledged.data["note"]) == ("acknowledged", "I ask the customer.")
    # Nobody is reminded of it; once it is critical it is open again.
    later = api.clock() + timedelta(days=2)
    await report(api, problem(EXAMPLE), at=later)
    assert (await api.sue.get(path)).data["state"] == "acknowledged"
    await report(api, problem(EXAMPLE, "critical"), at=later)
    assert (await api.sue.get(path)).data["state"] == "open"
    resolved = await api.sue.post(f"{path}/resolve", {})
    assert (resolved.data["state"], resolved.data["note"]) == ("resolved", "I ask the customer.")
    for action in ("acknowledge", "resolve"):
        again = await api.sue.post(f"{path}/{action}", {})
        assert (again.status, again.code, reason(again)) == (409, "CONFLICT", "resolved")
    events = await api.sql("SELECT data FROM events WHERE kind = 'system.alert' ORDER BY id")
    assert sorted(each["data"]["alert"] for each in events) == ["bounce_rate", "bounce_rate", "bounce_rate_resolved"]
    for action in ("acknowledge", "resolve"):
        done, refused = await api.audit_entries(f"alert.{action}")
        assert (done["outcome"], refused["outcome"]) == ("success", "failed")
    # The problem lasts: another alert.
    await report(api, problem(EXAMPLE), at=later + timedelta(minutes=5))
    assert [each["state"] for each in (await api.sue.get("/abuse/alerts")).data] == ["open", "resolved"]
    assert len((await api.sue.get("/abuse/alerts", state="unresolved")).data) == 1
    assert (await api.sue.get("/abuse/alerts", state="resolved", kind="spike")).data == []


async def test_only_an_expected_version_is_changed(api: Api):
    await report(api, problem(EXAMPLE))
    [row] = (await api.sue.get("/abuse/alerts")).data
    path = f"/abuse/alerts/{row['id']}"
    tag = (await api.sue.get(path)).headers["etag"]
    await report(api, problem(EXAMPLE), at=api.clock() + timedelta(minutes=1))
    assert (await api.sue.get(path)).headers["etag"] == tag  # it was only seen again
    api.clock.advance(minutes=2)
    await api.sue.post(f"{path}/acknowledge", {})
    stale = await api.sue("POST", f"{path}/resolve", {}, headers={"if-match": tag})
    assert (stale.status, stale.code) == (412, "PRECONDITION_FAILED")


async def test_one_tenant_sees_nothing_of_another(api: Api):
    await report(api, problem(EXAMPLE), problem(OTHER))
    async with api.app.db.tx() as conn:
        disk = AlertProblem("health_disk", "disk", None, "critical", "Free up disk space.")
        await service.report(conn, api.clock(), "health", [disk], kinds=["health_disk"])
        spray = AlertProblem("spray", "192.0.2.1", None, "warning", "Many sign-ins have failed.")
        await service.report(conn, api.clock(), "abuse", [spray], kinds=["spray"])
    everything = {f"shop@{EXAMPLE}", f"shop@{OTHER}", "192.0.2.1"}
    assert await seen_by(api.sue) == await seen_by(api.adam) == everything
    assert await seen_by(api.dora) == {f"shop@{EXAMPLE}"}
    assert (await api.dora.get("/health/alerts")).status == 403
    [row] = (await api.sue.get("/health/alerts")).data
    assert (row["subject"], row["domain_id"]) == ("disk", None)
    assert (await api.sue.get(f"/abuse/alerts/{row['id']}")).status == 404  # of the other area
    for each in (await api.sue.get("/abuse/alerts")).data:
        own = each["domain_id"] == str(DOMAIN_IDS[EXAMPLE])
        assert (await api.dora.get(f"/abuse/alerts/{each['id']}")).status == (200 if own else 403)
    # A domain that is deleted and added again, for somebody else, has no alerts.
    await api.sql("DELETE FROM domains WHERE id = %(id)s", id=DOMAIN_IDS[OTHER])
    await api.domain(OTHER)
    assert await seen_by(api.sue) == {f"shop@{EXAMPLE}", "192.0.2.1"}
    await report(api, problem(OTHER))  # of its old ID: found just before
    assert await seen_by(api.sue) == {f"shop@{EXAMPLE}", "192.0.2.1"}


async def test_resolved_alerts_are_kept_for_90_days(api: Api):
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for days, state in ((91, "resolved"), (89, "resolved"), (300, "open")):
        ended_at = at - timedelta(days=days) if state == "resolved" else None
        await api.alert(EXAMPLE, state=state, resolved_at=ended_at, created_at=at - timedelta(days=days))
    async with api.app.db.autocommit() as conn:
        await service.prune(conn, at)
    rows = await api.sql("SELECT created_at FROM alerts ORDER BY created_at")
    assert [(at - row["created_at"]).days for row in rows] == [300, 89]
