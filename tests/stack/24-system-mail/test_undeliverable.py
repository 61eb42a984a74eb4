"""Mail that Mailkeep itself writes to a super_admin who does not get it at once: it waits, is forwarded, or its loss is
shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.stack.harness import HOSTNAME, PASSWORD, Stack, eventually

DOMAIN = "undeliverable.test"
FULL, FORWARDING, ELSEWHERE = f"full@{DOMAIN}", f"forwarding@{DOMAIN}", "assistant+system@remote.test"
UNKNOWN = "bounce+system@remote.test"
SUBJECT = f"Subject: Settings of {HOSTNAME} were changed".encode()


@pytest.fixture
def bosses(alone: Stack) -> Iterator[Stack]:
    """The instance with three more super_admins: with a full mailbox, with one that forwards, with an unknown one."""
    domain_id = alone.make_domain(DOMAIN)
    alone.make_mailbox(domain_id, "full", quota_bytes=1000)
    alone.make_mailbox(domain_id, "forwarding", forward={"destinations": [ELSEWHERE], "keep_copy": False})
    created = [
        alone.do("POST", "/admins", {"email": email, "password": PASSWORD, "role": "super_admin"})
        for email in (FULL, FORWARDING, UNKNOWN)
    ]
    try:
        yield alone
    finally:
        for admin in created:
            alone.do("DELETE", f"/admins/{admin['id']}")
        alone.do("PATCH", "/config", {"changes": {"cors.origins": None}, "current_password": PASSWORD})


@pytest.mark.timeout(300)
def test_it_waits_for_a_full_mailbox_and_is_forwarded_and_its_loss_is_shown(bosses: Stack) -> None:
    stack = bosses

    def row(to: str, status: str) -> dict[str, Any] | None:
        rows = stack.do("GET", f"/messages?direction=outbound&to={quote(to)}&limit=50")
        found = [each for each in rows if each["source"] == "mailkeep" and each["subject"].startswith("Settings of")]
        return next((each for each in found if each["status"] == status), None)

    changes = {"cors.origins": ["https://undeliverable.test"]}
    stack.do("PATCH", "/config", {"changes": changes, "current_password": PASSWORD})

    forwarded = eventually(lambda: [mail for mail in stack.caught(ELSEWHERE) if SUBJECT in mail], 60, "the forward")
    assert len(forwarded) == 1
    eventually(lambda: row(FORWARDING, "delivered"), 60, "the delivery of the forward")

    waiting = eventually(lambda: row(FULL, "deferred"), 60, "the deferral")
    (recipient,) = stack.do("GET", f"/messages/{waiting['id']}")["recipients"]
    assert (recipient["smtp_code"], recipient["enhanced_code"]) == (452, "4.2.2"), recipient
    (mailbox,) = stack.do("GET", "/mailboxes?q=full@undeliverable")
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"quota_bytes": 1_000_000})
    stack.do("POST", "/queue/actions", {"action": "flush", "filter": {"recipient": FULL}})
    eventually(lambda: any(SUBJECT in mail for mail in stack.mail_of(FULL)), 60, "the mail in the mailbox")
    eventually(lambda: row(FULL, "delivered"), 60, "its delivery in the history")

    lost = eventually(lambda: row(UNKNOWN, "bounced"), 60, "the bounce")
    alerts = stack.do("GET", "/events?kind=system.alert&limit=200")
    (alert,) = [each["data"] for each in alerts if each["data"].get("message_id") == lost["message_id"]]
    assert (alert["alert"], alert["to"]) == ("system_mail_undelivered", [UNKNOWN])
    assert "550 5.1.1" in alert["reason"], alert
