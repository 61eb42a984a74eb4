"""Mail that Mailkeep itself writes in the full profile: signed by itself, also while the filter is down."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import dkim
import pytest

from mailkeep.core.clock import utc_now
from mailkeep.features.operations.health_alerts import service as health_alerts
from mailkeep.mail.daemons import node_report
from mailkeep.run.runtime import service_status
from mailkeep.run.runtime.context import attach
from tests.stack.applying import paths_of
from tests.stack.harness import HOSTNAME, PASSWORD, Stack, eventually
from tests.support.instance import PROGRAM

FAR, LOCAL = "boss@remote.test", "boss@system.test"


@pytest.fixture
def bosses(alone: Stack) -> Iterator[Stack]:
    """The instance with two more super_admins: one with a mailbox here, one elsewhere."""
    if not alone.do("GET", f"/mailboxes?q={LOCAL}"):
        alone.make_mailbox(alone.make_domain("system.test"), "boss")
    created = [
        alone.do("POST", "/admins", {"email": email, "password": PASSWORD, "role": "super_admin"})
        for email in (FAR, LOCAL)
    ]
    try:
        yield alone
    finally:
        for admin in created:
            alone.do("DELETE", f"/admins/{admin['id']}")


def change_origins(stack: Stack, *origins: str) -> None:
    body = {"changes": {"cors.origins": list(origins) or None}, "current_password": PASSWORD}
    stack.do("PATCH", "/config", body)


def about_settings(mails: list[bytes]) -> list[bytes]:
    return [mail for mail in mails if f"Subject: Settings of {HOSTNAME} were changed".encode() in mail]


def perform(stack: Stack, action: str) -> None:
    operation = stack.do("POST", f"/orchestrator/services/rspamd/{action}")["operation_id"]

    def state() -> str:
        return stack.do("GET", f"/orchestrator/operations/{operation}")["state"]

    assert eventually(lambda: state() != "running", 60, f"{action} rspamd")
    assert state() == "succeeded"


def system_mails(stack: Stack, to: str) -> list[dict[str, Any]]:
    rows = stack.do("GET", f"/messages?direction=outbound&to={to}&limit=50")
    return [row for row in rows if row["source"] == "mailkeep"]


@pytest.mark.timeout(300)
def test_it_reaches_every_super_admin_signed_also_without_the_filter(bosses: Stack):
    stack = bosses
    records = subprocess.run(
        [*PROGRAM, "dns", "--server", "--json", "--data-dir", str(stack.data_dir)],
        check=True, capture_output=True, timeout=60,
        env=os.environ | {"MAILKEEP_SERVER__HOSTNAME": HOSTNAME},
    )  # fmt: skip
    found = json.loads(records.stdout)["records"]
    values = {each["name"]: each["value"] for each in found if each["purpose"] == "dkim"}

    def record(name: bytes, timeout: float = 5) -> bytes:
        return values[name.decode().rstrip(".")].encode()

    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    change_origins(stack, "https://one.test")
    first = eventually(lambda: about_settings(stack.caught(FAR)), what="mail for the super_admin elsewhere")[0]
    assert first.startswith(b"DKIM-Signature:") or b"\r\nDKIM-Signature:" in first
    assert first.count(b"DKIM-Signature:") == 2
    assert all(dkim.DKIM(first).verify(index, record) for index in range(2))
    assert f"d={HOSTNAME}".encode() in first
    assert b"\r\nAuto-Submitted: auto-generated\r\n" in first
    assert b"cors.origins" in first
    assert b"one.test" not in first
    (local,) = eventually(lambda: about_settings(stack.mail_of(LOCAL)), what="mail in the mailbox here")
    assert b"Return-Path: <>" in local
    assert dkim.DKIM(local).verify(0, record)
    perform(stack, "stop")
    try:
        change_origins(stack)
        eventually(lambda: len(about_settings(stack.caught(FAR))) == 2, 60, "mail without the filter")
        eventually(lambda: len(about_settings(stack.mail_of(LOCAL))) == 2, 60, "mail here without the filter")
    finally:
        perform(stack, "start")
    second = about_settings(stack.caught(FAR))[1]
    assert dkim.DKIM(second).verify(0, record)
    for to in (FAR, LOCAL):
        rows = eventually(
            lambda to=to: [row for row in system_mails(stack, to) if row["status"] == "delivered"], what="the history"
        )
        assert rows[0]["domain_id"] is None
        detail = stack.do("GET", f"/messages/{rows[0]['id']}")
        assert detail["recipients"][0]["attempts"] == 1
        assert b"Auto-Submitted" in stack.content(f"/messages/{rows[0]['id']}/raw")
    ids = {row["message_id"] for to in (FAR, LOCAL) for row in system_mails(stack, to)}
    events = stack.do("GET", f"/events?limit=200&since={started}")
    # The mailbox here has its own event, as for any mail; the mail itself has none.
    assert {each["kind"] for each in events if each["data"].get("message_id") in ids} == {"mail.received"}
    # The first administrator has no mail address.
    assert system_mails(stack, "admin@localhost") == []


def find_alerts(stack: Stack, *minutes: int) -> list[dict[str, Any]]:
    """Report the health as a worker does, with a clock that is ahead by these minutes; the alerts about the filter."""

    async def report() -> None:
        async with attach(stack.data_dir, "test") as app:
            run = paths_of(stack.data_dir).run
            app.settings = replace(app.settings, mta=replace(app.settings.mta, mode="postfix"))  # the full profile
            app.running_services = partial(service_status.read_running, run)
            app.node_report = partial(node_report.load, run)
            for ahead in minutes:
                app.clock = lambda ahead=ahead: utc_now() + timedelta(minutes=ahead)
                await health_alerts.report(app)

    asyncio.run(report())
    return [each for each in stack.do("GET", "/health/alerts?state=unresolved") if each["kind"] == "health_filter"]


@pytest.mark.timeout(300)
def test_a_stopped_filter_is_mailed_and_queued_for_webhooks(bosses: Stack):
    stack = bosses
    webhook = stack.do("POST", "/webhooks", {"url": "https://alerts.test/hook", "events": ["system.alert"]})

    def find_queued() -> list[str]:
        deliveries = stack.do("GET", f"/webhooks/{webhook['id']}/deliveries")
        events = [stack.do("GET", f"/events/{each['event_id']}")["data"] for each in deliveries]
        return [each["alert"] for each in events if each.get("alert_id") and each["about"] == "filter"]

    def find_mails(subject: str) -> list[bytes]:
        found = [mail for mail in stack.mail_of(LOCAL) if f"Subject: {subject} {HOSTNAME}".encode() in mail]
        return [mail for mail in found if b"filter (health_filter)" in mail]  # other components may fail without it

    perform(stack, "stop")
    try:
        assert find_alerts(stack, 0) == []
        [alert] = eventually(lambda: find_alerts(stack, 0, 3), what="the alert")
        assert (alert["severity"], alert["subject"]) == ("critical", "filter")
        [mail] = eventually(lambda: find_mails("Critical alert of"), what="mail about the alert")
        assert b"New, critical: filter" in mail
        assert b"Not running: rspamd" in mail
        assert b"\r\nhttp://" in mail  # the dashboard
        assert eventually(find_queued, what="the webhook") == ["health_filter"]
    finally:
        perform(stack, "start")
    assert eventually(lambda: not find_alerts(stack, 3, 64), what="the end of the alert")
    [mail] = eventually(lambda: find_mails("Alerts of"), what="mail about the end")
    assert b"In order again: filter (health_filter)" in mail
    eventually(lambda: sorted(find_queued()) == ["health_filter", "health_filter_recovered"], what="the second webhook")
    assert len(find_mails("Critical alert of")) == 1
    stack.do("DELETE", f"/webhooks/{webhook['id']}")
