"""Mail that Mailkeep itself writes in the full profile: signed by itself, also while the filter is down."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import dkim
import pytest

from tests.stack.harness import HOSTNAME, PASSWORD, Stack, eventually
from tests.support.instance import PROGRAM

FAR, LOCAL = "boss@remote.test", "boss@system.test"


@pytest.fixture
def bosses(alone: Stack) -> Iterator[Stack]:
    """The instance with two more super_admins: one with a mailbox here, one elsewhere."""
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
