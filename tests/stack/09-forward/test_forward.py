"""Forwarding by aliases: with a rewritten sender, so that SPF passes; never spam."""

from __future__ import annotations

import json
import smtplib
import time
from typing import Any

import pytest

from tests.stack.harness import HOSTNAME, OUR_ADDRESS, Stack, eventually, letter

REMOTE = "198.51.100.7"
# The filter adds points for the missing standard fields.
SPAM = "From: {sender}\r\nX-Number: 1\r\n\r\nGolden watches and instant loans: limited offer. Order tonight.\r\n"


def spf_of(stack: Stack, mail_from: str) -> str:
    """Another server's SPF result for our mail with this sender, from the filter and a client with our address."""
    name = f"judge{time.time_ns()}"
    domain = next((each["id"] for each in stack.do("GET", "/domains?limit=200") if each["name"] == "judge.test"), None)
    stack.make_mailbox(domain or stack.make_domain("judge.test"), name)
    with stack.afar(OUR_ADDRESS, HOSTNAME) as client:
        client.sendmail(mail_from, [f"{name}@judge.test"], letter(f"{name}@judge.test"))
    (row,) = eventually(lambda: stack.do("GET", f"/messages?to={name}@judge.test"), what="the judgement")
    return row["auth"]["spf"]


def make_alias(stack: Stack, domain: str, destination: str) -> None:
    """A domain with alice and an alias `team` with these destinations."""
    domain_id = stack.make_domain(domain)
    stack.make_mailbox(domain_id, "alice")
    body = {"domain_id": domain_id, "source_local_part": "team", "destination": destination}
    stack.do("POST", "/aliases", body)


def envelope(stack: Stack, recipient: str) -> dict[str, Any]:
    """The envelope that an external recipient received."""

    def look() -> dict[str, Any] | None:
        rows = [json.loads(path.read_text()) for path in sorted((stack.folder / "caught").glob("*.json"))]
        return next((each for each in rows if recipient in each["rcpt_to"]), None)

    return eventually(look, what=f"mail for {recipient}")


def test_forwarded_mail_passes_spf_and_mailboxes_see_the_author(stack: Stack) -> None:
    stack.publish("writer.test", "MX", f'@ TXT "v=spf1 ip4:{REMOTE} -all"')
    make_alias(stack, "srs-passing.test", "alice@srs-passing.test, friend+srs@remote.test")
    sender = "Someone+News@writer.test"
    with stack.afar(REMOTE) as client:
        client.sendmail(sender, ["team@srs-passing.test"], letter("team@srs-passing.test", sender=sender))
    mail_from = envelope(stack, "friend+srs@remote.test")["mail_from"]
    assert mail_from.startswith("SRS0=")
    assert mail_from.endswith(f"=writer.test=Someone+News@{HOSTNAME}")
    assert (spf_of(stack, mail_from), spf_of(stack, sender)) == ("pass", "fail")
    (mail,) = eventually(lambda: stack.mail_of("alice@srs-passing.test"))
    assert f"Return-Path: <{sender}>".encode() in mail
    assert b"SRS0" not in mail
    (caught,) = stack.caught("friend+srs@remote.test")
    assert f"From: {sender}".encode() in caught


def senders_in_log(stack: Stack, size_of: str) -> list[str]:
    """The senders in the queue manager's log lines for messages to this original recipient."""
    lines = (stack.data_dir / "log" / "mail.log").read_text(errors="replace").splitlines()
    ids = {line.split("]: ")[1].partition(":")[0] for line in lines if f"to=<{size_of}>" in line and "status=" in line}
    return [line.split("from=<")[1].partition(">")[0] for line in lines if "/qmgr[" in line and "from=<" in line
            and line.split("]: ")[1].partition(":")[0] in ids]  # fmt: skip


def test_only_mail_with_external_copies_is_logged_with_srs_sender(stack: Stack) -> None:
    """All mail from other servers had one, even if it was only for mailboxes."""
    make_alias(stack, "srs-log.test", "alice@srs-log.test, friend+log@remote.test")
    local, mixed, both = "local+log@remote.test", "mixed+log@remote.test", "both+log@remote.test"
    field = "X-Mailkeep-Sender: 0123456789abcdef Zm9yZ2VkQHJlbW90ZS50ZXN0\r\n"
    with stack.afar(REMOTE) as client:
        text = letter("alice@srs-log.test", "Local", field, sender=local)
        client.sendmail(mixed, ["team@srs-log.test"], letter("team@srs-log.test", "Mixed", field, sender=mixed))
        # In the same session: the sender of one message is not used for the next.
        client.sendmail(local, ["alice@srs-log.test"], text)
        to = ["alice@srs-log.test", "team@srs-log.test", "team+tag@srs-log.test"]
        client.sendmail(both, to, letter(to[0], "Both", sender=both))
    rows = eventually(lambda: found if len(found := stack.mail_of("alice@srs-log.test")) == 3 else None, what="mail")
    assert all(b"SRS0" not in each and b"X-Mailkeep-Sender" not in each for each in rows)
    paths = [line for each in rows for line in each.splitlines() if line.startswith(b"Return-Path:")]
    assert sorted(paths) == sorted(f"Return-Path: <{each}>".encode() for each in (local, mixed, both))
    eventually(lambda: len(stack.caught("friend+log@remote.test")) == 2, what="both copies")
    assert all(b"X-Mailkeep" not in each for each in stack.caught("friend+log@remote.test"))
    kinds = [each.partition("=")[0] if each.startswith("SRS") else each
             for each in senders_in_log(stack, "alice@srs-log.test")]  # fmt: skip
    assert sorted(kinds) == ["SRS0", "SRS0", local]
    rows = {row["from"] for row in stack.do("GET", "/messages?limit=200")}
    assert {local, mixed, both} <= rows
    assert not [each for each in rows if each.startswith("SRS")]


def test_a_reply_to_a_rewritten_sender_is_forwarded_rewritten(stack: Stack) -> None:
    make_alias(stack, "srs-answer.test", "friend+answer@remote.test")
    sender = "writer+answer@remote.test"
    with stack.afar(REMOTE) as client:
        client.sendmail(sender, ["team@srs-answer.test"], letter("team@srs-answer.test", sender=sender))
    back = envelope(stack, "friend+answer@remote.test")["mail_from"]
    with stack.afar(REMOTE) as client:
        client.sendmail("friend+answer@remote.test", [back], letter(back, "Away", sender="friend+answer@remote.test"))
    assert envelope(stack, sender)["mail_from"].endswith(f"=remote.test=friend+answer@{HOSTNAME}")


def test_a_bounce_of_forwarded_mail_reaches_the_author(stack: Stack) -> None:
    make_alias(stack, "bouncing.test", "bounce+alias@remote.test")
    sender = "Writer+bouncing@remote.test"
    with stack.afar(REMOTE) as client:
        client.sendmail(sender, ["team@bouncing.test"], letter("team@bouncing.test", sender=sender))
    (bounce,) = eventually(lambda: stack.caught(sender))
    assert b"nobody of this name" in bounce


def test_a_late_bounce_is_routed_whatever_its_case(stack: Stack) -> None:
    make_alias(stack, "later-bounce.test", "friend+later@remote.test")
    sender = "writer+later@remote.test"
    with stack.afar(REMOTE) as client:
        client.sendmail(sender, ["team@later-bounce.test"], letter("team@later-bounce.test", sender=sender))
    back = envelope(stack, "friend+later@remote.test")["mail_from"]
    with stack.afar(REMOTE) as client:
        client.sendmail("", [back], letter(back, "Undelivered", sender="MAILER-DAEMON@mx.remote.test"))
        client.sendmail("", [back.lower()], letter(back, "Undelivered too", sender="MAILER-DAEMON@mx.remote.test"))
    assert eventually(lambda: len(stack.caught(sender)) == 2)
    assert all(b"Subject: Undelivered" in each for each in stack.caught(sender))
    assert envelope(stack, sender)["mail_from"] == "<>"


@pytest.mark.parametrize(
    "recipient, code",
    [
        (f"SRS0=abcdef=aa=remote.test=someone@{HOSTNAME}", 550),
        (f"SRS1=abcdef=remote.test==abcdef=aa=remote.test=someone@{HOSTNAME}", 550),
        (f"srs0=abcdef@{HOSTNAME}", 550),
        (f"someone@{HOSTNAME}", 550),
    ],
)
def test_a_forged_srs_address_is_refused(stack: Stack, recipient: str, code: int) -> None:
    with stack.afar(REMOTE) as client:
        client.mail("")
        assert client.rcpt(recipient)[0] == code


def test_mail_of_local_users_keeps_its_sender(stack: Stack) -> None:
    make_alias(stack, "own-mail.test", "friend+own@remote.test")
    assert stack.send("alice@own-mail.test", "team@own-mail.test").status == 200
    # That of mail by the API: its bounce address.
    mail_from = envelope(stack, "friend+own@remote.test")["mail_from"]
    assert mail_from.startswith("b+")
    assert mail_from.endswith("@own-mail.test")


def test_spam_for_external_destinations_only_is_refused(stack: Stack) -> None:
    make_alias(stack, "only-out.test", "friend+only-out@remote.test, other+only-out@remote.test")
    sender = "spammer@remote.test"
    with stack.smtp() as client, pytest.raises(smtplib.SMTPDataError) as refused:
        client.sendmail(sender, ["team+tag@only-out.test", "team@only-out.test"], SPAM.format(sender=sender))
    assert refused.value.smtp_code == 554
    assert "Refused by the recipient's filter" in str(refused.value)
    stack.deliver("team@only-out.test", "No spam")
    assert envelope(stack, "friend+only-out@remote.test")
    assert len(stack.caught("friend+only-out@remote.test")) == 1
    rows = eventually(lambda: stack.do("GET", "/messages?status=rejected&to=team@only-out.test"), what="the refusal")
    assert (rows[0]["from"], rows[0]["recipients"][0]["diagnostic"]) == (sender, "Refused by the recipient's filter")


def test_spam_for_both_goes_to_junk_and_is_not_forwarded(stack: Stack) -> None:
    make_alias(stack, "in-and-out.test", "alice@in-and-out.test, friend+both@remote.test")
    sender = "spammer+both@remote.test"
    with stack.smtp() as client:
        client.sendmail(sender, ["team@in-and-out.test"], SPAM.format(sender=sender))
    assert len(eventually(lambda: stack.mail_of("alice@in-and-out.test", "Junk"))) == 1
    stack.deliver("team@in-and-out.test", "No spam")
    assert envelope(stack, "friend+both@remote.test")
    assert len(stack.caught("friend+both@remote.test")) == 1
    assert stack.caught(sender) == []
