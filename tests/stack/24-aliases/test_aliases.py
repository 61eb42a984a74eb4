"""Alias domains and further senders with the real daemons: receiving, forwarding, submission, signing, Sieve."""

from __future__ import annotations

import os
import smtplib
from pathlib import Path

import pytest

from tests.stack.harness import Stack, eventually, letter

NAME = f"target-{os.getpid()}.test"  # each process of the test run has its own domains
ALIAS = f"alias-{os.getpid()}.test"
BRAND = f"brand-{os.getpid()}.test"


@pytest.fixture(scope="session")
def domains(stack_folder: Path) -> dict[str, str]:
    """The IDs of a domain, its alias domain, and a domain without addresses."""
    stack = Stack(stack_folder)
    target = stack.make_domain(NAME)
    return {NAME: target, ALIAS: stack.make_domain(ALIAS, alias_of=target), BRAND: stack.make_domain(BRAND)}


def try_senders(stack: Stack, login: str, *senders: str) -> dict[str, int]:
    """Postfix's reply for each sender of a mail client."""
    replies: dict[str, int] = {}
    with stack.login(login) as client:
        for sender in senders:
            client.mail(sender)
            replies[sender] = client.rcpt("friend@remote.test")[0]
            client.rset()
    return replies


def test_mail_for_an_alias_domain_reaches_the_target(stack: Stack, domains: dict[str, str]):
    alice = f"alice@{NAME}"
    stack.make_mailbox(domains[NAME], "alice")
    external = f"partner-{os.getpid()}@remote.test"
    team = {"domain_id": domains[NAME], "source_local_part": "team", "destination": f"{alice},{external}"}
    stack.do("POST", "/aliases", team)
    stack.deliver(f"Alice+news@{ALIAS}", "To the mailbox")
    stack.deliver(f"team@{ALIAS}", "To the alias")
    subjects = eventually(lambda: (mail := stack.mail_of(alice))[1:] and b"".join(mail))
    assert b"To the mailbox" in subjects
    assert b"To the alias" in subjects
    assert b"To the alias" in eventually(lambda: b"".join(stack.caught(external)))
    with stack.smtp() as client, pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
        client.sendmail("x@remote.test", [f"nobody@{ALIAS}"], letter(f"nobody@{ALIAS}"))
    assert refused.value.recipients[f"nobody@{ALIAS}"][0] == 550
    # The history names the address as it was written; the row belongs to the target.
    (row,) = eventually(
        lambda: [
            each
            for each in stack.do("GET", f"/messages?domain_id={domains[NAME]}&subject=To%20the%20mailbox")
            if each["direction"] == "inbound"
        ]
    )
    recipients = stack.do("GET", f"/messages/{row['id']}")["recipients"]
    assert [each["address"].lower() for each in recipients] == [f"alice+news@{ALIAS}"]
    # Mail by the API to a local recipient.
    assert stack.send(f"alice@{ALIAS}", f"alice@{ALIAS}", subject="By the API").status == 200
    assert eventually(lambda: [each for each in stack.mail_of(alice) if b"By the API" in each])


def test_mail_clients_send_as_their_address_in_the_alias_domain(stack: Stack, domains: dict[str, str]):
    bob = f"bob@{NAME}"
    stack.make_mailbox(domains[NAME], "bob")
    replies = try_senders(stack, bob, f"bob@{ALIAS}", f"Bob+x@{ALIAS}", f"other@{ALIAS}", f"bob@{BRAND}")
    assert list(replies.values()) == [250, 250, 553, 553]
    to = f"friend+alias{os.getpid()}@remote.test"
    with stack.login(bob) as client:
        client.sendmail(f"bob@{ALIAS}", [to], letter(to, sender=f"bob@{ALIAS}"))
    (mail,) = eventually(lambda: stack.caught(to))
    assert f"d={ALIAS}".encode() in mail


def test_send_as_is_checked_by_postfix_and_the_filter(stack: Stack, domains: dict[str, str]):
    carol = f"carol@{NAME}"
    path = f"/mailboxes/{stack.make_mailbox(domains[NAME], 'carol', send_as=[BRAND])['id']}"
    sender, to = f"anything@{BRAND}", f"friend+brand{os.getpid()}@remote.test"
    assert try_senders(stack, carol, sender) == {sender: 250}
    with stack.login(carol) as client:
        client.sendmail(sender, [to], letter(to, sender=sender))
        (mail,) = eventually(lambda: stack.caught(to))
        assert f"d={BRAND}".encode() in mail
        # The From field, with the mailbox's own envelope sender.
        client.sendmail(carol, [to], letter(to, sender=sender))
        # The permission is withdrawn while the session is open.
        stack.do("PATCH", path, {"send_as": []})
        with pytest.raises(smtplib.SMTPDataError) as refused:
            client.sendmail(carol, [to], letter(to, sender=sender))
    assert "may not send as this address" in str(refused.value.smtp_error)
    assert try_senders(stack, carol, sender) == {sender: 553}


def test_a_vacation_replies_from_the_address_in_the_alias_domain(stack: Stack, domains: dict[str, str]):
    box = stack.make_mailbox(domains[NAME], "vera")
    stack.do("PUT", f"/mailboxes/{box['id']}/vacation", {"subject": "Away", "text": "I am away.", "active": True})
    stack.publish("asker.test", "MX", '@ TXT "v=spf1 ip4:198.51.100.7 -all"')
    asker = f"alias-asker-{os.getpid()}@asker.test"
    with stack.afar("198.51.100.7") as client:
        client.sendmail(asker, [f"vera@{ALIAS}"], letter(f"vera@{ALIAS}", sender=asker))
    (reply,) = eventually(lambda: stack.caught(asker))
    assert f"vera@{ALIAS}".encode() in reply
    assert f"d={ALIAS}".encode() in reply


def test_a_change_applies_to_the_next_message(stack: Stack, domains: dict[str, str]):
    late, dora = f"late-{os.getpid()}.test", f"dora@{NAME}"
    path = f"/domains/{stack.make_domain(late)}"
    stack.make_mailbox(domains[NAME], "dora")

    def reply() -> int:
        with stack.smtp() as client:
            client.ehlo("mx.remote.test")
            client.mail("x@remote.test")
            return client.rcpt(f"dora@{late}")[0]

    for target, code in ((None, 550), (domains[NAME], 250), (None, 550), (domains[NAME], 250)):
        stack.do("PATCH", path, {"alias_of": target})
        assert reply() == code, target
    stack.deliver(f"dora@{late}", "A late name")
    assert b"A late name" in eventually(lambda: b"".join(stack.mail_of(dora)))
