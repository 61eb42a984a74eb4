"""The life cycle of alerts, as a table of minutes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mailkeep.features.record.alerts import service
from mailkeep.features.record.alerts.model import AlertProblem, Severity
from tests.support.client import Api

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = 1440


@pytest.mark.parametrize(
    "seen, reported",
    [
        ({0: "w", 1: "w", 5: "w"}, {0: "opened"}),
        ({0: "w", 1: "c", 2: "w", 3: "c"}, {0: "opened", 1: "worse"}),
        ({0: "w", 1: "", 60: "", 61: ""}, {0: "opened", 61: "resolved"}),
        ({0: "w", 1: "", 30: "w", 31: "", 90: "", 91: ""}, {0: "opened", 91: "resolved"}),
        ({0: "w", DAY - 1: "w", DAY: "w", 2 * DAY: "w"}, {0: "opened", DAY: "reminder", 2 * DAY: "reminder"}),
        ({0: "w", 1: "", 61: "", 62: "w"}, {0: "opened", 61: "resolved", 62: "opened"}),
        ({0: ""}, {}),
        # The clock was a month ahead, and was set back.
        ({30 * DAY: "w", 30 * DAY + 1: "", 0: "", 60: ""}, {30 * DAY: "opened", 60: "resolved"}),
        ({30 * DAY: "w", 0: "w", DAY: "w"}, {30 * DAY: "opened", DAY: "reminder"}),
    ],
)
async def test_a_problem_is_reported_as_often_as_needed(api: Api, seen: dict[int, str], reported: dict[int, str]):
    severities: dict[str, Severity] = {"w": "warning", "c": "critical"}
    for minute, letter in seen.items():
        problems = [AlertProblem("disk", "disk", None, severities[letter], "Full.")] if letter else []
        async with api.app.db.tx() as conn:
            await service.report(conn, BEGIN + timedelta(minutes=minute), "health", problems, kinds=["disk"])
    rows = await api.sql("SELECT created_at, data FROM events WHERE kind = 'system.alert' ORDER BY id")
    found = {round((row["created_at"] - BEGIN) / timedelta(minutes=1)): row["data"]["alert"] for row in rows}
    assert found == {at: "disk_recovered" if what == "resolved" else "disk" for at, what in reported.items()}
    assert len({row["data"]["alert_id"] for row in rows}) == list(reported.values()).count("opened")


async def test_what_was_not_looked_at_stays(api: Api):
    problems = [AlertProblem("disk", name, None, "warning", "Full.") for name in ("a", "b")]
    async with api.app.db.tx() as conn:
        await service.report(conn, BEGIN, "health", problems, kinds=["disk"])
        for minutes in (1, 61):
            at = BEGIN + timedelta(minutes=minutes)
            await service.report(conn, at, "health", [], kinds=["disk"], subjects=["a"])
            await service.report(conn, at, "health", [], kinds=["clock"])
    rows = await api.sql("SELECT subject, state FROM alerts ORDER BY subject")
    assert [tuple(row.values()) for row in rows] == [("a", "resolved"), ("b", "open")]


async def test_only_resolved_alerts_are_deleted_after_90_days(api: Api):
    problems = [AlertProblem("disk", name, None, "warning", "Full.") for name in ("a", "b")]
    async with api.app.db.tx() as conn:
        await service.report(conn, BEGIN, "health", problems, kinds=["disk"])
        for hours in (1, 2):
            at = BEGIN + timedelta(hours=hours)
            await service.report(conn, at, "health", [], kinds=["disk"], subjects=["a"])
        for days, left in ((90, ["a", "b"]), (91, ["b"])):
            await service.prune(conn, BEGIN + timedelta(days=days))
            cursor = await conn.execute("SELECT subject FROM alerts ORDER BY subject")
            assert [row["subject"] for row in await cursor.fetchall()] == left
