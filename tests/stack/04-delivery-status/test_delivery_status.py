"""Delivery status: each event once, with its data and the remote reply."""

from __future__ import annotations

import smtplib
import time
from typing import Any
from urllib.parse import quote

import pytest

from tests.stack.harness import Stack, eventually, letter

DOMAIN = "outcomes.test"
ALICE = f"alice@{DOMAIN}"


@pytest.fixture
def server(stack: Stack) -> Stack:
    """The instance with a domain and a mailbox for these tests."""
    known = {each["name"]: each["id"] for each in stack.do("GET", "/domains?limit=200")}
    if DOMAIN not in known:
        stack.make_mailbox(stack.make_domain(DOMAIN), "alice")
    return stack


def events_of(stack: Stack, subject: str, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """All events of the message with this subject, once they include these kinds and all outcomes are final."""
    domain = next(each["id"] for each in stack.do("GET", "/domains?limit=200") if each["name"] == DOMAIN)
    eventually(lambda: stack.do("GET", f"/messages?subject={quote(subject)}"), what=f"message {subject}")

    def feed() -> list[tuple[str, dict[str, Any]]]:
        found = stack.do("GET", f"/events?limit=200&domain_id={domain}")
        return [(each["kind"], each["data"]) for each in found if each["data"].get("subject") == subject]

    def look() -> bool:
        rows = stack.do("GET", f"/messages?subject={quote(subject)}")
        ended = not any(row["status"] in ("queued", "deferred", "submitting") for row in rows)
        return ended and set(kinds) <= {kind for kind, _ in feed()}

    eventually(look, 100, f"{kinds} of {subject}")
    time.sleep(0.5)  # enough time for a repeated event
    # Postfix may deliver before the API has recorded that the message was accepted.
    return sorted(feed(), key=lambda each: each[0] != "mail.sent")


def send(stack: Stack, to: str, subject: str) -> None:
    assert stack.send(ALICE, to, subject=subject).status == 200


NOBODY = "nobody of this name (in reply to RCPT TO command)"
REMOTE = "mx.remote.test"
LATER = "come back later (in reply to RCPT TO command)"
NOT_THIS = "not this content (in reply to end of DATA command)"
EventData = tuple[str, dict[str, Any]]
SENT: EventData = ("mail.sent", {})


def bounced(kind: str, code: int, enhanced: str, diagnostic: str, remote: str | None = REMOTE) -> EventData:
    data = {"bounce_type": kind, "smtp_code": code, "enhanced_code": enhanced, "diagnostic": diagnostic}
    return "mail.bounced", data | {"remote_host": remote, "attempts": 1}


def delivered(attempts: int) -> EventData:
    data = {"smtp_code": 250, "enhanced_code": "2.0.0", "remote_host": REMOTE, "attempts": attempts}
    return "mail.delivered", data


CASES: list[tuple[str, str, list[EventData]]] = [
    ("taken", "anna@remote.test", [SENT, delivered(1)]),
    ("deferred", "defer@remote.test", [SENT, bounced("temporary", 451, "4.2.0", LATER), delivered(2)]),
    ("refused at RCPT", "bounce@remote.test", [SENT, bounced("permanent", 550, "5.1.1", NOBODY)]),
    ("refused after DATA", "content@remote.test", [SENT, bounced("permanent", 554, "5.7.1", NOT_THIS)]),
]


@pytest.mark.parametrize("name, to, expected", CASES, ids=[name for name, _, _ in CASES])
def test_each_outcome_is_published_once_with_its_data(
    server: Stack, name: str, to: str, expected: list[EventData]
) -> None:
    subject = f"outcome-of-{name.replace(' ', '-')}"
    send(server, to, subject)
    found = events_of(server, subject, *(kind for kind, _ in expected))
    assert [kind for kind, _ in found] == [kind for kind, _ in expected]
    (row,) = server.do("GET", f"/messages?subject={quote(subject)}")
    sent, *later = [data for _, data in found]
    assert sent == {
        "message_id": row["message_id"], "from": ALICE, "to": [to], "subject": subject, "domain": DOMAIN,
    }  # fmt: skip
    for data, (kind, wanted) in zip(later, expected[1:], strict=True):
        assert {key: data[key] for key in wanted} == wanted, kind
        assert (data["message_id"], data["from"], data["to"]) == (row["message_id"], ALICE, to)
        assert (data["domain"], data["subject"], data["queue_id"]) == (DOMAIN, subject, row["queue_id"])


def test_mail_to_an_unknown_local_user_bounces_with_the_routing_reply(server: Stack) -> None:
    send(server, f"nobody@{DOMAIN}", "to nobody")
    found = events_of(server, "to nobody", "mail.bounced")
    assert [kind for kind, _ in found] == ["mail.sent", "mail.bounced"]
    assert (found[1][1]["enhanced_code"], found[1][1]["bounce_type"]) == ("5.1.1", "permanent")


def test_the_remote_reply_is_in_event_history_and_timeline(server: Stack) -> None:
    send(server, "content@remote.test", "words")
    event = events_of(server, "words", "mail.bounced")[-1][1]
    assert event["diagnostic"].endswith("(in reply to end of DATA command)")
    (row,) = server.do("GET", "/messages?subject=words")
    assert row["recipients"][0]["diagnostic"] == event["diagnostic"]
    timeline = server.do("GET", f"/messages/{row['id']}/events")
    assert [each["kind"] for each in timeline] == ["submitted", "accepted", "bounced"]
    assert timeline[-1]["detail"]["diagnostic"] == event["diagnostic"]


def test_a_message_that_is_never_accepted_expires_with_the_last_reply(server: Stack) -> None:
    send(server, "fail@remote.test", "expired")
    found = events_of(server, "expired", "mail.failed")
    assert [kind for kind, _ in found] == ["mail.sent", "mail.bounced", "mail.failed"]
    assert found[1][1]["bounce_type"] == "temporary"
    assert found[1][1]["diagnostic"] == found[2][1]["diagnostic"] == found[2][1]["reason"] == LATER
    last = found[2][1]
    assert (last["smtp_code"], last["enhanced_code"], last["remote_host"]) == (451, "4.2.0", REMOTE)
    assert (last["to"], last["domain"]) == ("fail@remote.test", DOMAIN)
    (row,) = server.do("GET", "/messages?subject=expired")
    tries = [each["kind"] for each in server.do("GET", f"/messages/{row['id']}/events")].count("deferred")
    assert tries >= 2
    assert last["attempts"] == row["recipients"][0]["attempts"] == tries + 1
    assert row["recipients"][0]["next_attempt_at"] is None


def test_an_alias_has_the_combined_outcome_of_its_destinations(server: Stack) -> None:
    domain = next(each["id"] for each in server.do("GET", "/domains?limit=200") if each["name"] == DOMAIN)
    server.do(
        "POST",
        "/aliases",
        {"domain_id": domain, "source_local_part": "team", "destination": f"{ALICE},bounce@remote.test"},
    )
    send(server, f"team@{DOMAIN}", "to-a-team")
    found = events_of(server, "to-a-team", "mail.delivered")
    assert [(kind, data["to"]) for kind, data in found if kind != "mail.received"] == [
        ("mail.sent", [f"team@{DOMAIN}"]),
        ("mail.delivered", f"team@{DOMAIN}"),
    ]


def test_spam_goes_to_junk_with_its_event(server: Stack) -> None:
    # The filter, without network checks, adds points for missing From, To, Date and Message-ID.
    with server.smtp() as client:
        client.sendmail("x@remote.test", [ALICE], "X-Spam: No\r\nX-Rspamd-Score: -50\r\nSubject: spammy\r\n\r\nHi.\r\n")
    found = events_of(server, "spammy", "mail.received")
    assert sorted(kind for kind, _ in found) in (["mail.received"], ["mail.received", "mail.spam"])
    (row,) = server.do("GET", "/messages?subject=spammy")
    feed = server.do("GET", f"/events?limit=200&kind=mail.spam&domain_id={row['domain_id']}")
    (spam,) = [each["data"] for each in feed if each["data"]["message_id"] == row["message_id"]]
    assert spam["spam_score"] > 6
    assert row["spam"]["action"] == spam["spam_action"] == "add header"
    assert "MISSING_MID" in row["spam"]["symbols"]
    assert [b"Subject: spammy" in each for each in server.mail_of(ALICE, "Junk")] == [True]


def test_mail_rejected_by_the_filter_is_in_the_history_once_without_event(server: Stack) -> None:
    gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
    with server.smtp() as client, pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail("gtube@remote.test", [ALICE], letter(ALICE, "gtube", body=gtube))
    assert refused.value.smtp_code == 554

    def rows() -> list[dict[str, Any]]:
        return server.do("GET", f"/messages?status=rejected&from=gtube@remote.test&to={ALICE}")

    eventually(rows, what="the rejection")
    time.sleep(0.5)
    (row,) = rows()
    (recipient,) = row["recipients"]
    assert (recipient["address"], recipient["smtp_code"], recipient["enhanced_code"]) == (ALICE, 554, "5.7.1")
    assert recipient["diagnostic"].startswith("Gtube pattern")
    assert server.do("GET", "/messages?status=received&from=gtube@remote.test") == []
    feed = server.do("GET", f"/events?limit=200&domain_id={row['domain_id']}")
    assert [each["kind"] for each in feed if each["data"].get("from") == "gtube@remote.test"] == []


def test_recipients_rejected_at_smtp_are_in_the_history(server: Stack) -> None:
    with server.smtp() as client:
        client.mail("x@remote.test")
        assert client.rcpt(f"unknown@{DOMAIN}")[0] == 550
    look = f"/messages?status=rejected&to=unknown@{DOMAIN}"
    eventually(lambda: server.do("GET", look), what="the rejection")
    time.sleep(0.5)
    (row,) = server.do("GET", look)
    recipient = row["recipients"][0]
    assert (row["from"], recipient["smtp_code"], recipient["enhanced_code"]) == ("x@remote.test", 550, "5.1.1")
    assert "unknown" in recipient["diagnostic"].lower()


def test_a_mailbox_over_its_quota_bounces_mail_with_history(server: Stack) -> None:
    domain = next(each["id"] for each in server.do("GET", "/domains?limit=200") if each["name"] == DOMAIN)
    server.make_mailbox(domain, "tiny", quota_bytes=2000)
    large = "A line of a letter that fills a mailbox.\r\n" * 200
    with pytest.raises(smtplib.SMTPRecipientsRefused):
        server.deliver(f"tiny@{DOMAIN}", subject="too-large", body=large)
    (row,) = eventually(lambda: server.do("GET", f"/messages?status=rejected&to=tiny@{DOMAIN}"), what="the refusal")
    recipient = row["recipients"][0]
    assert (recipient["address"], recipient["smtp_code"], recipient["enhanced_code"]) == (
        f"tiny@{DOMAIN}",
        552,
        "5.2.2",
    )
    assert server.send(ALICE, f"tiny@{DOMAIN}", subject="full", text_body=large).status == 200
    found = events_of(server, "full", "mail.bounced")
    assert [kind for kind, _ in found] == ["mail.sent", "mail.bounced"]
    last = found[1][1]
    assert (last["smtp_code"], last["enhanced_code"], last["bounce_type"]) == (552, "5.2.2", "permanent")
    assert (last["to"], "Mailbox full" in last["diagnostic"]) == (f"tiny@{DOMAIN}", True)


def test_mail_from_a_mail_client_is_in_the_history_with_bcc_recipients(server: Stack) -> None:
    head = f"From: {ALICE}\r\nTo: anna@remote.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nX-Spam: Yes\r\n"
    with server.login(ALICE) as client:
        client.sendmail(ALICE, ["anna@remote.test", "bounce@remote.test", ALICE], f"{head}\r\nHi.\r\n")
    found = events_of(server, "Grüße", "mail.sent", "mail.delivered", "mail.bounced", "mail.received")
    assert sorted(kind for kind, _ in found) == [
        "mail.bounced", "mail.delivered", "mail.delivered", "mail.received", "mail.sent",
    ]  # fmt: skip
    rows = server.do("GET", "/messages?direction=outbound&subject=Gr%C3%BC%C3%9Fe")
    (row,) = [each for each in rows if each["subject"] == "Grüße"]  # another test has a message "grüße"
    assert (row["source"], row["from"], row["to"]) == ("smtp", ALICE, ["anna@remote.test"])
    assert {each["address"]: each["status"] for each in row["recipients"]} == {
        "anna@remote.test": "delivered", "bounce@remote.test": "bounced", ALICE: "delivered",
    }  # fmt: skip
    assert server.mail_of(ALICE)
    assert not any(b"X-Spam:" in each for each in server.mail_of(ALICE))


def test_a_suspended_sender_is_refused_by_smtp_and_api(server: Stack) -> None:
    domain = next(each["id"] for each in server.do("GET", "/domains?limit=200") if each["name"] == DOMAIN)
    mailbox = server.make_mailbox(domain, "noisy")
    server.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "noise"})
    sender = f"noisy@{DOMAIN}"
    with server.login(sender) as client:
        client.mail(sender)
        client.rcpt("anna@remote.test")
        code, text = client.data(f"From: {sender}\r\nSubject: noise\r\n\r\nHi.\r\n")
        assert (code, b"suspended" in text) == (550, True)
    refused = server.send(sender, "anna@remote.test")
    assert (refused.status, refused.body["error"]["code"]) == (403, "MAILBOX_SUSPENDED")
