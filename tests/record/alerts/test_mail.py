"""Mail about alerts: when, to whom, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mailkeep.features.record.alerts import rules, service
from mailkeep.features.record.alerts.model import AlertProblem, Area, Severity
from mailkeep.features.record.system_mail import texts
from mailkeep.features.record.system_mail.model import SystemMail
from mailkeep.settings.alerts import AlertsSettings
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, email_of

BERLIN = ZoneInfo("Europe/Berlin")
QUIET = AlertsSettings(quiet_hours="22:00-07:00", time_zone="Europe/Berlin")
DIGEST = AlertsSettings(digest="08:00", time_zone="Europe/Berlin")
WARN: Severity = "warning"
CRITICAL: Severity = "critical"


def at(text: str) -> datetime:
    """A time in Berlin; the first one if the clock shows it twice."""
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC)


async def run(api: Api, settings: AlertsSettings, steps: Sequence[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Report the disk's state (`w`, `c`, empty: in order, `-`: nothing is looked at) at each time, and mail after each;
    what Sue was mailed, with the time, kind and change.
    """
    api.app.settings = replace(api.app.settings, alerts=settings)
    mailed: list[tuple[str, str, str]] = []
    for text, seen in steps:
        api.clock.now = at(text)
        if seen != "-":
            severity = CRITICAL if seen == "c" else WARN
            problems = [AlertProblem("health_disk", "disk", None, severity, "Full.")] if seen else []
            async with api.app.db.tx() as conn:
                await service.report(conn, api.clock(), "health", problems, kinds=["health_disk"])
        await service.mail(api.app)
        rows = await api.sql(
            "DELETE FROM system_mail WHERE recipient = %(sue)s RETURNING kind, items", sue=email_of("sue")
        )
        for row in rows:
            changes = ",".join(alert["change"] for item in row["items"] for alert in item["alerts"])
            mailed.append((text, row["kind"], changes))
    return mailed


@pytest.mark.parametrize(
    "settings, steps, mailed",
    [
        pytest.param(
            AlertsSettings(),
            [("2026-03-02 12:00", "w"), ("2026-03-02 12:01", "w"), ("2026-03-03 12:00", "w"), ("2026-03-03 12:01", "c"),
             ("2026-03-03 13:00", ""), ("2026-03-03 14:00", ""), ("2026-03-03 14:01", "-")],
            [("2026-03-02 12:00", "alert", "opened"), ("2026-03-03 12:00", "alert", "reminder"),
             ("2026-03-03 12:01", "health_critical", "worse"), ("2026-03-03 14:00", "alert", "resolved")],
            id="at once",
        ),
        pytest.param(
            AlertsSettings(email="critical"),
            [("2026-03-02 12:00", "w"), ("2026-03-02 12:01", "c")],
            [("2026-03-02 12:01", "health_critical", "opened")],
            id="critical only",
        ),
        pytest.param(AlertsSettings(email="off"), [("2026-03-02 12:00", "c")], [], id="off"),
        pytest.param(
            QUIET,
            [("2026-03-02 21:59", ""), ("2026-03-02 23:00", "w"), ("2026-03-03 06:59", "-"), ("2026-03-03 07:00", "-"),
             ("2026-03-03 07:01", "-")],
            [("2026-03-03 07:00", "alert", "opened")],
            id="quiet over midnight",
        ),
        pytest.param(
            QUIET,
            [("2026-03-02 23:00", "w"), ("2026-03-03 00:00", ""), ("2026-03-03 01:00", ""), ("2026-03-03 07:00", "-")],
            [],
            id="resolved meanwhile",
        ),
        pytest.param(
            QUIET,
            [("2026-03-02 23:00", "w"), ("2026-03-03 06:50", ""), ("2026-03-03 07:00", "-"), ("2026-03-03 07:10", "w")],
            [("2026-03-03 07:10", "alert", "opened")],
            id="not seen when they end",
        ),
        pytest.param(
            QUIET,
            [("2026-03-02 23:00", "w"), ("2026-03-02 23:30", "c"), ("2026-03-03 01:00", ""), ("2026-03-03 02:00", ""),
             ("2026-03-03 07:00", "-")],
            [("2026-03-02 23:30", "health_critical", "opened"), ("2026-03-03 07:00", "alert", "resolved")],
            id="critical at night",
        ),
        pytest.param(
            replace(QUIET, quiet_hours="01:30-03:30"),
            [("2026-03-29 01:40", "w"), ("2026-03-29 03:10", "-"), ("2026-03-29 03:30", "-")],
            [("2026-03-29 03:30", "alert", "opened")],
            id="quiet over the beginning of summer time",
        ),
        pytest.param(
            DIGEST,
            [("2026-03-02 08:01", "w"), ("2026-03-02 23:00", "-"), ("2026-03-03 07:59", "-"), ("2026-03-03 08:00", "-"),
             ("2026-03-03 08:01", "w"), ("2026-03-03 09:00", "c")],
            [("2026-03-03 08:00", "alert", "opened"), ("2026-03-03 09:00", "health_critical", "worse")],
            id="digest",
        ),
        pytest.param(
            replace(DIGEST, digest="02:30"),
            [("2026-03-28 12:00", "w"), ("2026-03-29 01:59", "-"), ("2026-03-29 03:29", "-"),
             ("2026-03-29 03:30", "-")],
            [("2026-03-29 03:30", "alert", "opened")],
            id="digest at a time that does not exist",
        ),
    ],
)  # fmt: skip
async def test_when_alerts_are_mailed(
    api: Api, settings: AlertsSettings, steps: list[tuple[str, str]], mailed: list[tuple[str, str, str]]
):
    assert await run(api, settings, steps) == mailed


def test_a_time_that_comes_twice_is_one_digest():
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 in summer time; an hour later it is 02:30 again
    for minutes in (0, 59, 60, 120):
        assert rules.last_time("02:30", BERLIN, first + timedelta(minutes=minutes)) == first
    assert rules.last_time("02:30", BERLIN, first - timedelta(minutes=1)) == first - timedelta(days=1)


async def report_abuse(api: Api, *domains: str) -> None:
    problems = [AlertProblem("bounce_rate", f"shop@{name}", DOMAIN_IDS[name], WARN, "Many.") for name in domains]
    async with api.app.db.tx() as conn:
        await service.report(conn, api.clock(), "abuse", problems, kinds=["bounce_rate"])


async def list_mailed(api: Api) -> dict[str, list[str]]:
    rows = await api.sql("SELECT recipient, items FROM system_mail ORDER BY recipient")
    return {row["recipient"]: [each["subject"] for each in row["items"][0]["alerts"]] for row in rows}


async def test_who_gets_mail_and_that_two_workers_mail_once(api: Api):
    """Super administrators about everything, those of a domain about its abuse only."""
    await report_abuse(api, EXAMPLE, OTHER)
    disk = AlertProblem("health_disk", "disk", None, WARN, "Full.")
    async with api.app.db.tx() as conn:
        await service.report(conn, api.clock(), "health", [disk], kinds=["health_disk"])
    await asyncio.gather(*(service.mail(api.app) for _ in range(4)))
    rows = await api.sql("SELECT item_count FROM system_mail")
    assert [row["item_count"] for row in rows] == [1] * len(rows)
    mailed = await list_mailed(api)
    assert mailed[email_of("sue")] == [f"shop@{EXAMPLE}", f"shop@{OTHER}", "disk"]
    assert mailed[email_of("dora")] == [f"shop@{EXAMPLE}"]
    assert email_of("adam") not in mailed


async def test_many_alerts_about_senders_do_not_delay_one_about_a_component(api: Api):
    about: list[tuple[Area, str, str]] = [("abuse", "sender_rate", f"shop{number}@{EXAMPLE}") for number in range(6)]
    about.append(("health", "health_disk", "disk"))
    for area, kind, subject in about:
        problem = AlertProblem(kind, subject, DOMAIN_IDS[EXAMPLE] if area == "abuse" else None, CRITICAL, "Why.")
        async with api.app.db.tx() as conn:
            await service.report(conn, api.clock(), area, [problem], kinds=[kind], subjects={subject})
        await service.mail(api.app)
    rows = await api.sql(
        "SELECT kind, collects FROM system_mail WHERE recipient = %(sue)s ORDER BY kind, collects", sue=email_of("sue")
    )
    assert [(row["kind"], row["collects"]) for row in rows] == [
        *[("alert_critical", False)] * 5, ("alert_critical", True), ("health_critical", False),
    ]  # fmt: skip


async def test_a_mail_that_could_not_be_queued_is_queued_later(api: Api, monkeypatch: pytest.MonkeyPatch):
    await report_abuse(api, EXAMPLE)
    queue = service.system_mail.notify

    async def fail(conn: Any, when: Any, kind: Any, recipients: Sequence[str], item: Any) -> None:
        await queue(conn, when, kind, recipients, item)
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(service.system_mail, "notify", fail)
        with pytest.raises(OSError):
            await service.mail(api.app)
    assert await list_mailed(api) == {}
    await service.mail(api.app)
    assert (await list_mailed(api))[email_of("sue")] == [f"shop@{EXAMPLE}"]


async def test_what_somebody_looks_after_is_not_mailed_to_others(api: Api):
    await report_abuse(api, EXAMPLE)
    [row] = (await api.dora.get("/abuse/alerts")).data
    await api.dora.post(f"/abuse/alerts/{row['id']}/acknowledge", {})
    await service.mail(api.app)
    assert await list_mailed(api) == {}


def test_the_text_of_a_mail():
    alert = {
        "change": "opened",
        "severity": "critical",
        "kind": "health_disk",
        "subject": "disk",
        "reason": "Free up\r\ndisk space.",
        "since": "1 March 2026, 13:00 CET",
    }
    item = {"alerts": [alert, alert | {"change": "resolved"}], "more": 2, "at": "2026-03-01T12:00:00.000Z"}
    mail = SystemMail(DOMAIN_IDS[EXAMPLE], "alert_critical", "a@b.test", [item], 1, at("2026-03-01"), 1)
    text = texts.write(mail, "mail.example.test", "https://mail.example.test/")
    assert text.subject == "Critical alert of mail.example.test: disk"
    assert texts.alert_screen(mail) == "/server-health"
    assert "New, critical: disk (health_disk)\n  Free up disk space.\n  Since 1 March 2026, 13:00 CET.\n" in text.body
    assert "In order again: disk (health_disk)" in text.body
    assert "More that are not listed here: 2.\n\nhttps://mail.example.test/\n" in text.body
    other = alert | {"kind": "bounce_rate", "subject": "shop@example.test"}
    both = replace(mail, items=[item | {"alerts": [alert, other]}])
    assert texts.write(both, "mail.example.test", "").subject.endswith("mail.example.test: disk and 1 more")
    assert texts.alert_screen(both) == "/"
    assert texts.alert_screen(replace(mail, items=[item | {"alerts": [other]}])) == "/alerts"
