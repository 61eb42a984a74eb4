"""Mail programs: TLS and a password before anything is sent, from one's own addresses alone."""

import smtplib

import pytest

from tests.stack.stand import PASSWORD, Stack, eventually, letter, trusting


def test_mail_of_a_program_is_signed_and_leaves(stack: Stack):
    domain = stack.make_domain("program.test")
    stack.make_mailbox(domain, "alice")
    with stack.login("alice@program.test") as client:
        text = letter("friend+program@remote.test", sender="alice@program.test")
        client.sendmail("alice@program.test", ["friend+program@remote.test"], text)
    (mail,) = eventually(lambda: stack.caught("friend+program@remote.test"))
    assert b"d=program.test" in mail


def test_what_a_program_folds_stands_whole_in_the_history(stack: Stack):
    domain = stack.make_domain("folds.test")
    stack.make_mailbox(domain, "alice")
    to = [f"friend+{number}@remote.test" for number in range(3)]
    for sign in (" ", "\t"):
        headers = f"Cc:\r\n{sign}{to[0]},\r\n{sign}Bert <{to[1]}>,\r\n{sign}{to[2]}\r\n"
        subject = f"=?utf-8?q?Rechnung_M=C3=A4rz_f?=\r\n{sign}=?utf-8?q?=C3=BCr_Anna?="
        with stack.login("alice@folds.test") as client:
            client.sendmail("alice@folds.test", to, letter(to[0], subject, headers, sender="alice@folds.test"))
    rows = eventually(
        lambda: (rows := stack.do("GET", f"/messages?domain_id={domain}&direction=outbound"))[1:] and rows
    )
    for row in rows:
        assert row["subject"] == "Rechnung März für Anna"
        assert stack.do("GET", f"/messages/{row['id']}")["cc"] == to


def test_an_address_is_its_owners(stack: Stack):
    domain = stack.make_domain("owners.test")
    for name in ("alice", "bob"):
        stack.make_mailbox(domain, name)
    team = {"domain_id": domain, "source_local_part": "team", "destination": "alice@owners.test"}
    stack.do("POST", "/aliases", team)
    rest = {"domain_id": domain, "source_local_part": "", "destination": "alice@owners.test"}
    stack.do("POST", "/aliases", rest)
    told: dict[str, int] = {}
    with stack.login("alice@owners.test") as client:
        for sender in ("alice@owners.test", "alice+shop@owners.test", "team@owners.test", "bob@owners.test",
                       "anything@owners.test", "x@remote.test"):  # fmt: skip
            client.mail(sender)
            told[sender] = client.rcpt("friend@remote.test")[0]
            client.rset()
    assert told == {
        "alice@owners.test": 250,
        "alice+shop@owners.test": 250,
        "team@owners.test": 250,
        "bob@owners.test": 553,
        "anything@owners.test": 553,
        "x@remote.test": 553,
    }


def test_no_password_without_tls(stack: Stack):
    with stack.smtp("submission") as client:
        assert "auth" not in client.esmtp_features
        client.mail("alice@nowhere.test")
        assert client.rcpt("friend@remote.test")[0] == 530
        client.starttls(context=trusting())
        client.ehlo()
        assert "auth" in client.esmtp_features


def test_a_wrong_password_is_refused(stack: Stack):
    domain = stack.make_domain("wrong.test")
    mailbox = stack.make_mailbox(domain, "alice")
    with pytest.raises(smtplib.SMTPAuthenticationError):
        stack.login("alice@wrong.test", PASSWORD + "!")
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"protocols": {"smtp": False}})
    with pytest.raises(smtplib.SMTPAuthenticationError):
        stack.login("alice@wrong.test")
