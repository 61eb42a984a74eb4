"""The events about backups, each once per case, and the component of the health."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from mailkeep.features.operations.backup_alerts import service as backup_alerts
from tests.support.client import Api


async def events(api: Api) -> list[tuple[str, dict[str, Any]]]:
    found = (await api.sue.get("/events?limit=200")).data
    return [(each["kind"], each["data"]) for each in found if each["kind"].startswith("system.backup")]


async def component(api: Api) -> dict[str, Any]:
    components = (await api.sue.get("/health/details")).data["components"]
    return next(each for each in components if each["component"] == "backups")


def schedule(api: Api, **values: str) -> None:
    api.app.settings = replace(api.app.settings, backup=replace(api.app.settings.backup, **values))


async def test_each_failed_backup_is_reported_once(api: Api):
    schedule(api, schedule="daily", verify_every="off")
    await backup_alerts.report(api.app)
    assert await events(api) == []
    for text in ("No space is left on the device.", "The repository can't be reached."):
        await api.backup(state="failed", snapshot="", error=text)
        api.clock.advance(seconds=60)
        await backup_alerts.report(api.app)
        await backup_alerts.report(api.app)
    found = await events(api)
    assert [kind for kind, _ in found] == ["system.backup_failed"] * 2
    assert found[1][1]["reason"] == "The repository can't be reached."
    shown = await component(api)
    assert shown["status"] == "degraded"
    assert "The repository can't be reached." in shown["advice"]


async def test_late_backups_are_reported_until_one_succeeds(api: Api):
    schedule(api, schedule="daily", verify_every="off")
    await api.backup()
    api.clock.advance(hours=47)
    await backup_alerts.report(api.app)
    assert await events(api) == []
    assert (await component(api))["status"] == "ok"
    for _ in range(3):
        api.clock.advance(hours=2)
        await backup_alerts.report(api.app)
    ((kind, data),) = await events(api)
    assert (kind, data["schedule"], data["last_backup_at"]) == (
        "system.backup_late", "daily", "2026-03-01T12:00:00.000Z",
    )  # fmt: skip
    assert (await component(api))["status"] == "degraded"
    await api.backup()
    await backup_alerts.report(api.app)
    api.clock.advance(hours=49)
    await backup_alerts.report(api.app)
    assert len(await events(api)) == 2


async def test_a_verification_that_fails_or_is_overdue_is_reported(api: Api):
    schedule(api, schedule="off", verify_every="daily")
    backup_id = await api.backup()
    wrong = {"verified_at": api.clock(), "verified_ok": False, "verified_detail": "2 of 9 messages differ."}
    assignments = "verified_at = %(verified_at)s, verified_ok = %(verified_ok)s, verified_detail = %(verified_detail)s"
    await api.sql(f"UPDATE backups SET {assignments}", **wrong)
    await backup_alerts.report(api.app)
    await backup_alerts.report(api.app)
    assert await events(api) == [
        ("system.backup_unverified", {"backup_id": str(backup_id), "reason": "2 of 9 messages differ."})
    ]
    right = wrong | {"verified_at": api.clock() + timedelta(hours=1), "verified_ok": True}
    await api.sql(f"UPDATE backups SET {assignments}", **right)
    await backup_alerts.report(api.app)
    api.clock.advance(hours=50)
    await backup_alerts.report(api.app)
    assert len(await events(api)) == 2
    assert (await events(api))[1][1]["backup_id"] is None
