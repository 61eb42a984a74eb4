"""An account that begins to send spam is suspended soon after its outcomes show it, with one alert."""

from __future__ import annotations

import smtplib
import time
from typing import Any

import pytest

from tests.stack.harness import Stack, eventually, letter

DOMAIN = "misused.test"
ALICE = f"alice@{DOMAIN}"
SECONDS = 60  # the promise
MESSAGES, RECIPIENTS, UNKNOWN = 20, 10, 4


def test_200_recipients_of_whom_40_percent_do_not_exist_suspend(stack: Stack) -> None:
    domain_id = stack.make_domain(DOMAIN)
    mailbox = stack.make_mailbox(domain_id, "alice")
    begin = time.monotonic()
    with stack.login(ALICE) as client:
        for number in range(MESSAGES):
            to = [f"{'bounce' if n < UNKNOWN else 'friend'}+wave{number}-{n}@remote.test" for n in range(RECIPIENTS)]
            client.sendmail(ALICE, to, letter(to[0], f"Offer {number}", sender=ALICE))
    sent = time.monotonic()
    assert sent - begin < SECONDS, "more than a minute to send"

    def suspension() -> dict[str, Any] | None:
        rows = stack.do("GET", f"/abuse/suspensions?domain_id={domain_id}")
        return rows[0] if rows else None

    found = eventually(suspension, SECONDS, "the suspension")
    print(f"sent within {sent - begin:.1f} s, suspended {time.monotonic() - sent:.1f} s after the last message")
    assert (found["address"], found["by"]["kind"]) == (ALICE, "rules")
    assert "recipients do not exist" in found["reason"]
    assert stack.do("GET", f"/mailboxes/{mailbox['id']}")["suspended"]["by"] == "rules"
    with stack.login(ALICE) as client, pytest.raises(smtplib.SMTPDataError, match="Sending is suspended"):
        client.sendmail(ALICE, ["friend@remote.test"], letter("friend@remote.test", "One more", sender=ALICE))
    assert stack.send(ALICE, "friend@remote.test").body["error"]["code"] == "MAILBOX_SUSPENDED"

    def is_over() -> bool:
        rows = stack.do("GET", f"/messages?domain_id={domain_id}&limit=200")
        return len(rows) >= MESSAGES and not any(row["status"] in ("queued", "deferred") for row in rows)

    eventually(is_over, what="the rest of the queue")
    time.sleep(3)  # enough for another check
    [alert] = stack.do("GET", f"/abuse/alerts?domain_id={domain_id}")
    assert (alert["kind"], alert["subject"], alert["severity"]) == ("bounce_rate", ALICE, "critical")
    events = [each["kind"] for each in stack.do("GET", f"/events?domain_id={domain_id}&kind=system.alert")]
    assert events == ["system.alert"]
    # Lifted, it may send again: the counters begin with nothing.
    assert stack.ask("DELETE", f"/abuse/suspensions/{found['id']}").status == 200
    assert stack.send(ALICE, "friend@remote.test").status == 200
