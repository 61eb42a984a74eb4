"""Forwarded mail: the outcome of each external recipient is published once."""

from __future__ import annotations

import os
import smtplib
import time
from typing import Any

import pytest

from tests.stack.harness import Stack, eventually, letter


def passed_on(stack: Stack, domain: str, *statuses: str) -> list[dict[str, Any]]:
    """The rows of mail forwarded by a domain, once their recipients have these statuses."""

    def look() -> list[dict[str, Any]]:
        rows = stack.do("GET", f"/messages?direction=outbound&domain_id={domain}&order=asc")
        found = sorted(each["status"] for row in rows for each in row["recipients"])
        return rows if found == sorted(statuses) else []

    return eventually(look, 100, f"{statuses} of what was passed on")


def events_of(stack: Stack, domain: str) -> list[tuple[str, str]]:
    """Kind and recipient of each event of a domain, except received mail."""
    feed = stack.do("GET", f"/events?limit=200&domain_id={domain}")
    return sorted((each["kind"], each["data"]["to"]) for each in feed if each["kind"] != "mail.received")


def script(stack: Stack, mailbox: dict[str, Any], text: str) -> None:
    """Make this the active Sieve script of a mailbox that mail lies in."""
    home = stack.data_dir / "mail" / mailbox["id"]
    owner = home.stat()
    path = home / "sieve.active"
    path.write_text(text)
    os.chown(path, owner.st_uid, owner.st_gid)


def test_an_alias_with_external_destinations_has_the_outcome_of_each(stack: Stack) -> None:
    domain = stack.make_domain("passing.test")
    stack.make_mailbox(domain, "alice")
    places = ["alice@passing.test", "friend+passing@remote.test", "bounce@remote.test", "defer+passing@remote.test"]
    stack.do("POST", "/aliases", {"domain_id": domain, "source_local_part": "team", "destination": ",".join(places)})
    stack.deliver("team@passing.test", "On to others")
    (row,) = passed_on(stack, domain, "delivered", "bounced", "delivered")
    assert (row["source"], row["subject"], row["from"], row["to"], row["status"]) == (
        "system", "On to others", "someone@remote.test", ["team@passing.test"], "partial",
    )  # fmt: skip
    found = {each["address"]: each for each in row["recipients"]}
    assert found["bounce@remote.test"]["diagnostic"].startswith("nobody of this name")
    assert (found["bounce@remote.test"]["smtp_code"], found["defer+passing@remote.test"]["attempts"]) == (550, 2)
    (inbound,) = eventually(lambda: stack.do("GET", f"/messages?direction=inbound&domain_id={domain}"))
    assert (inbound["queue_id"], inbound["message_id"]) == (row["queue_id"], row["message_id"])
    assert events_of(stack, domain) == [
        ("mail.bounced", "bounce@remote.test"),
        ("mail.bounced", "defer+passing@remote.test"),
        ("mail.delivered", "defer+passing@remote.test"),
        ("mail.delivered", "friend+passing@remote.test"),
    ]


def test_sieve_redirects_and_replies_have_a_row_and_an_outcome(stack: Stack) -> None:
    domain = stack.make_domain("sieve-passing.test")
    mailbox = stack.make_mailbox(domain, "alice")
    stack.deliver("alice@sieve-passing.test", "The first")
    eventually(lambda: stack.mail_of("alice@sieve-passing.test"))
    script(
        stack,
        mailbox,
        'require ["copy", "vacation"];\nredirect :copy "bounce+sieve@remote.test";\n'
        'vacation :days 1 :subject "Away" "I am away.";\n',
    )
    # SPF allows it: only such senders are answered.
    stack.publish("sieve-asks.test", "MX", '@ TXT "v=spf1 ip4:198.51.100.7 -all"')
    sender = f"asks+{time.time_ns()}@sieve-asks.test"
    with stack.afar("198.51.100.7") as client:
        text = letter("alice@sieve-passing.test", "A question", sender=sender)
        client.sendmail(sender, ["alice@sieve-passing.test"], text)
    rows = {row["subject"]: row for row in passed_on(stack, domain, "bounced", "delivered")}
    redirect, answer = rows["A question"], rows["Away"]
    assert {row["source"] for row in rows.values()} == {"system"}
    assert [each["address"] for each in redirect["recipients"]] == ["bounce+sieve@remote.test"]
    assert [each["address"] for each in answer["recipients"]] == [sender]
    assert (answer["from"], len(stack.caught(sender))) == ("alice@sieve-passing.test", 1)
    assert events_of(stack, domain) == [("mail.bounced", "bounce+sieve@remote.test"), ("mail.delivered", sender)]


def test_local_mail_has_no_such_row_and_a_full_mailbox_no_bounce(stack: Stack) -> None:
    domain = stack.make_domain("staying.test")
    stack.make_mailbox(domain, "alice")
    stack.do(
        "POST", "/aliases", {"domain_id": domain, "source_local_part": "team", "destination": "alice@staying.test"}
    )
    stack.make_mailbox(domain, "tiny", quota_bytes=2000)
    stack.deliver("team@staying.test", "Stays here")
    long = "A line that fills a mailbox.\r\n" * 200
    with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        stack.deliver("tiny@staying.test", "Too large", body=long)
    assert refused.value.recipients["tiny@staying.test"][0] == 552
    # If another mailbox has room, nothing is refused or bounced.
    body = {"domain_id": domain, "source_local_part": "both", "destination": "alice@staying.test, tiny@staying.test"}
    stack.do("POST", "/aliases", body)
    before = len(stack.caught("someone@remote.test"))
    stack.deliver("both@staying.test", "Too large for one", body=long)
    eventually(lambda: stack.do("GET", f"/messages?status=rejected&domain_id={domain}"), what="the row of tiny")
    eventually(lambda: len(stack.mail_of("alice@staying.test")) == 2)
    eventually(lambda: not stack.do("GET", "/queue"), what="the end of the queue")
    assert len(stack.caught("someone@remote.test")) == before
    assert stack.do("GET", f"/messages?direction=outbound&domain_id={domain}") == []
    assert events_of(stack, domain) == []
