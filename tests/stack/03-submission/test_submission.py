"""Mail clients need TLS and a password, and send only from their own addresses."""

import re
import smtplib

import pytest

from tests.stack.harness import PASSWORD, Stack, eventually, letter, trusting

TRACE = re.compile(r"(?m)^Received:(?:.*\r\n)(?:[ \t].*\r\n)*")


def test_mail_of_a_program_is_signed_and_leaves(stack: Stack):
    domain = stack.make_domain("program.test")
    stack.make_mailbox(domain, "alice")
    with stack.login("alice@program.test") as client:
        text = letter("friend+program@remote.test", sender="alice@program.test")
        client.sendmail("alice@program.test", ["friend+program@remote.test"], text)
    (mail,) = eventually(lambda: stack.caught("friend+program@remote.test"))
    assert b"d=program.test" in mail


def test_a_folded_header_field_is_complete_in_the_history(stack: Stack):
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


def test_only_owners_send_from_an_address(stack: Stack):
    domain = stack.make_domain("owners.test")
    for name in ("alice", "bob"):
        stack.make_mailbox(domain, name)
    team = {"domain_id": domain, "source_local_part": "team", "destination": "alice@owners.test"}
    stack.do("POST", "/aliases", team)
    rest = {"domain_id": domain, "source_local_part": "", "destination": "alice@owners.test"}
    stack.do("POST", "/aliases", rest)
    replies: dict[str, int] = {}
    with stack.login("alice@owners.test") as client:
        for sender in ("alice@owners.test", "alice+shop@owners.test", "team@owners.test", "bob@owners.test",
                       "anything@owners.test", "x@remote.test"):  # fmt: skip
            client.mail(sender)
            replies[sender] = client.rcpt("friend@remote.test")[0]
            client.rset()
    assert replies == {
        "alice@owners.test": 250,
        "alice+shop@owners.test": 250,
        "team@owners.test": 250,
        "bob@owners.test": 553,
        "anything@owners.test": 553,
        "x@remote.test": 553,
    }


def test_only_addresses_of_the_login_are_signed(stack: Stack):
    domain, other = stack.make_domain("signs.test"), stack.make_domain("others.test")
    for name in ("alice", "bob"):
        stack.make_mailbox(domain, name)
    stack.make_mailbox(other, "ceo")
    for where, source in ((domain, "team"), (other, "help")):
        stack.do(
            "POST", "/aliases", {"domain_id": where, "source_local_part": source, "destination": "alice@signs.test"}
        )
    not_yours = b"5.7.1 You may not send as this address"
    not_one = b"5.7.1 From must contain exactly one address, which you may send as"
    refused = {
        "From: CEO <ceo@others.test>": not_yours,
        "From: bob@signs.test": not_yours,
        "From: x@remote.test": not_yours,
        "From: anything@others.test": not_yours,
        "From: alice@signs.test <bob@signs.test>": not_yours,
        "From: ceo@others.test\r\nSender: alice@signs.test": not_yours,
        "From: <ceo@others.test": not_yours,
        "From: ceo@others.test (<alice@signs.test>)": not_yours,
        "From: Group: alice@signs.test;": not_yours,
        "From: =?utf-8?q?ceo?=@others.test": not_yours,
        f"From: alice@{'a' * 500}.test": not_one,
        "From: alice@signs.test, ceo@others.test": not_one,
        "From: ceo@others.test, alice@signs.test": not_one,
        "From: \\<ceo@others.test> <alice@signs.test>": not_one,
        "From: =?utf-8?q?<ceo=40others.test>?= <alice@signs.test>": not_one,
        "From: alice@signs.test\r\nFrom: ceo@others.test": not_one,
        "From: ceo@others.test\r\nFrom: alice@signs.test": not_one,
        "From: alice@signs.test\r\nFrom: alice@signs.test": not_one,
        "From: alice@signs.test\r\nFrom : ceo@others.test": not_one,
        "From: Undisclosed:;": not_one,
        "From: ceo": not_one,
        "Subject: without": not_one,
    }
    to = "friend+signs@remote.test"
    cases = [("alice@signs.test", fields) for fields in refused] + [("", fields) for fields in list(refused)[:3]]
    replies: dict[tuple[str, str], tuple[int, bytes]] = {}
    for start in range(0, len(cases), 8):  # Postfix delays clients with many errors
        with stack.login("alice@signs.test") as client:
            for envelope, fields in cases[start : start + 8]:
                client.mail(envelope)
                client.rcpt(to)
                code, words = client.data(f"{fields}\r\nTo: {to}\r\n\r\nHello.\r\n".encode())
                replies[envelope, fields] = (code // 100, words)
    assert replies == {(envelope, fields): (5, refused[fields]) for envelope, fields in cases}
    own = {
        "Alice <alice@signs.test>": "signs.test",
        '"ceo@others.test, the" <ALICE@Signs.test>': "signs.test",
        "=?utf-8?q?Al=C3=AFce?= <alice+shop@signs.test>": "signs.test",
        "team@signs.test": "signs.test",
        "help@others.test": "others.test",
    }
    with stack.login("alice@signs.test") as client:
        for place, sender in enumerate(own):
            client.sendmail("alice@signs.test", [to], letter(to, f"Own {place}", sender=sender))
    eventually(lambda: len(stack.caught(to)) >= len(own))
    mails = stack.caught(to)
    assert len(mails) == len(own)
    for place, domain_name in enumerate(own.values()):
        (mail,) = (each for each in mails if f"Own {place}\r\n".encode() in each)
        assert set(re.findall(rb"[ ;\t]d=([^;]+);", mail)) == {domain_name.encode()}


def test_from_in_a_domain_that_may_not_send_is_refused(stack: Stack):
    domain, other = stack.make_domain("may.test"), stack.make_domain("maynot.test")
    stack.make_mailbox(domain, "alice")
    stack.do("POST", "/aliases", {"domain_id": other, "source_local_part": "help", "destination": "alice@may.test"})
    stack.do("PATCH", f"/domains/{other}", {"sending_enabled": False})
    text = letter("friend@remote.test", sender="help@maynot.test")
    with stack.login("alice@may.test") as client:
        client.mail("alice@may.test")
        client.rcpt("friend@remote.test")
        assert client.data(text) == (554, b"5.7.1 Sending is disabled for this domain")


def test_a_suspended_mailbox_sends_under_no_address(stack: Stack):
    domain = stack.make_domain("halt.test")
    mailbox = stack.make_mailbox(domain, "alice")
    stack.do("POST", "/aliases", {"domain_id": domain, "source_local_part": "team", "destination": "alice@halt.test"})
    stack.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "compromised"})
    to = "friend+halt@remote.test"
    replies: dict[str, bytes] = {}
    with stack.login("alice@halt.test") as client:
        for sender in ("alice@halt.test", "alice+1@halt.test", "team@halt.test", ""):
            client.mail(sender)
            client.rcpt(to)
            code, words = client.data(letter(to, sender=sender or "alice@halt.test"))
            assert code == 550
            replies[sender] = words.partition(b">: ")[2]
    assert set(replies.values()) == {
        b"End-of-data rejected: Sending is suspended for alice@halt.test. An administrator can lift that."
    }
    assert stack.send("alice+1@halt.test", to).body["error"]["code"] == "MAILBOX_SUSPENDED"
    stack.do("POST", f"/mailboxes/{mailbox['id']}/unsuspend")
    with stack.login("alice@halt.test") as client:
        client.sendmail("alice+1@halt.test", [to], letter(to, sender="alice+1@halt.test"))
    stack.arrived(to)


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


def test_received_hides_the_client_of_submitted_mail(stack: Stack):
    domain = stack.make_domain("hides.test")
    stack.make_mailbox(domain, "alice")
    to = "friend+hides@remote.test"
    older = "Received: from laptop.example ([192.0.2.77]) by relay.example (Postfix) with ESMTP id 1; today\r\n"
    with stack.login("alice@hides.test") as client:
        client.sendmail("alice@hides.test", [to], letter(to, headers=older, sender="alice@hides.test"))
    (mail,) = stack.arrived(to)
    traces = [field.replace("\r\n", "") for field in TRACE.findall(mail.decode())]
    ours = [field for field in traces if "by mx.stack.test" in field]
    assert len(ours) == 1
    expected = r"Received: by mx\.stack\.test \(Postfix\) with ESMTPSA id \w+\s+for <friend\+hides@remote\.test>; "
    assert re.match(expected, ours[0])
    for word in ("client.test", "127.0.0", "using TLS"):
        assert word not in "".join(traces)
    assert older.strip() in [each.strip() for each in traces]


def test_received_of_the_api_shows_no_process_of_this_machine(stack: Stack):
    stack.make_domain("noloop.test")
    to = "friend+noloop@remote.test"
    assert stack.send("shop@noloop.test", to).status == 200
    (mail,) = stack.arrived(to)
    (trace,) = TRACE.findall(mail.decode())
    assert trace.startswith("Received: by mx.stack.test (Postfix) with ")
    assert "localhost" not in trace
    assert "127.0.0.1" not in trace
