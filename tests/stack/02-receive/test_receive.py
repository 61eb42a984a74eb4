"""Mail from outside: routing at RCPT, the spam filter, reading by IMAP."""

import smtplib

import pytest

from tests.stack.harness import PASSWORD, Stack, eventually, letter


def test_a_message_is_read_by_imap(stack: Stack):
    domain = stack.make_domain("in.test")
    stack.make_mailbox(domain, "alice")
    stack.deliver("alice@in.test", "Plain")
    stack.deliver("alice+books@in.test", "Tagged")
    assert eventually(lambda: len(stack.mail_of("alice@in.test")) == 2)


def test_mailkeep_header_fields_in_incoming_mail_are_removed(stack: Stack):
    stack.make_mailbox(stack.make_domain("own.test"), "alice")
    forged = "X-Filler: a\r\n" * 300 + "x-mailkeep-tags: a\r\n b\r\nX-Mailkeep-Forged: 1\r\n"
    with stack.smtp() as client:
        client.sendmail("someone@remote.test", ["alice@own.test"], forged + letter("alice@own.test", "Forged"))
    assert eventually(lambda: stack.mail_of("alice@own.test"))
    (mail,) = stack.mail_of("alice@own.test")
    assert mail.count(b"X-Filler: ") == 300
    names = {line.partition(b":")[0].lower() for line in mail.splitlines() if line.lower().startswith(b"x-mailkeep")}
    assert names == {b"x-mailkeep-delivery", b"x-mailkeep-verdict"}, "the delivery's own"


def test_refusals_at_rcpt(stack: Stack):
    domain = stack.make_domain("rcpt.test")
    stack.make_mailbox(domain, "alice")
    off = stack.make_mailbox(domain, "off")
    stack.do("PATCH", f"/mailboxes/{off['id']}", {"active": False})
    asleep = stack.make_domain("asleep.test")
    stack.make_mailbox(asleep, "alice")
    stack.do("PATCH", f"/domains/{asleep}", {"active": False})
    replies: dict[str, tuple[int, bytes]] = {}
    with stack.smtp() as client:
        client.mail("someone@remote.test")
        for recipient in ("alice@rcpt.test", "nobody@rcpt.test", "off@rcpt.test", "alice@asleep.test", "x@other.test"):
            code, words = client.rcpt(recipient)
            replies[recipient] = (code, words.split()[0])
    assert replies == {
        "alice@rcpt.test": (250, b"2.1.5"),
        "nobody@rcpt.test": (550, b"5.1.1"),
        "off@rcpt.test": (550, b"5.2.1"),
        "alice@asleep.test": (450, b"4.2.1"),
        "x@other.test": (554, b"5.7.1"),
    }


def test_an_alias_change_applies_to_open_connections(stack: Stack):
    domain = stack.make_domain("alias.test")
    stack.make_mailbox(domain, "alice")
    with stack.smtp() as client:
        client.mail("someone@remote.test")
        assert client.rcpt("sales@alias.test")[0] == 550
        body = {"domain_id": domain, "source_local_part": "sales", "destination": "alice@alias.test"}
        alias = stack.ask("POST", "/aliases", body).data
        assert client.rcpt("sales@alias.test")[0] == 250
        client.data(letter("sales@alias.test"))
        stack.ask("DELETE", f"/aliases/{alias['id']}")
        client.mail("someone@remote.test")
        assert client.rcpt("sales@alias.test")[0] == 550
    assert eventually(lambda: stack.mail_of("alice@alias.test"))


def test_a_non_latin_1_local_part_is_routed_and_delays_no_other_mail(stack: Stack):
    domain, destination = stack.make_domain("letters.test"), "ż@remote.test, alice@letters-too.test"
    stack.make_mailbox(stack.make_domain("letters-too.test"), "alice")
    stack.do("POST", "/aliases", {"domain_id": domain, "source_local_part": "müller", "destination": destination})
    refused = stack.ask("POST", "/mailboxes", {"domain_id": domain, "local_part": "müller", "password": PASSWORD})
    assert refused.body["error"]["details"]["fields"][0]["field"] == "local_part", "Dovecot takes no mail for it"
    with stack.smtp() as client:
        client.sendmail("someone@remote.test", ["müller@letters.test"], letter("team"), ["SMTPUTF8"])
        client.sendmail("someone@remote.test", ["alice@letters-too.test"], letter("alice", "Beside it"))
        client.command_encoding = "utf-8"
        code, words = client.docmd("MAIL", "FROM:<müller@remote.test>")
        assert (code, words.split()[0]) == (553, b"5.6.7"), "not without SMTPUTF8"
    assert eventually(lambda: len(stack.mail_of("alice@letters-too.test")) == 2)
    assert stack.arrived("ż@remote.test")


def test_an_alias_resolves_nested_aliases_and_external_addresses(stack: Stack):
    domain = stack.make_domain("team.test")
    for name in ("alice", "bob"):
        stack.make_mailbox(domain, name)
    destination = "alice@team.test, bob+team@team.test, friend+team@remote.test"
    stack.do("POST", "/aliases", {"domain_id": domain, "source_local_part": "team", "destination": destination})
    stack.deliver("team@team.test", "To all")
    for address in ("alice@team.test", "bob@team.test"):
        assert len(eventually(lambda whose=address: stack.mail_of(whose))) == 1
    assert len(stack.arrived("friend+team@remote.test")) == 1


def test_a_full_mailbox_is_refused_at_rcpt_until_there_is_room(stack: Stack):
    domain = stack.make_domain("full.test")
    mailbox = stack.make_mailbox(domain, "alice", quota_bytes=1_000_000)
    big = ("0123456789" * 7 + "\r\n") * 20_000

    def answer(size: int) -> tuple[int, bytes]:
        with stack.smtp() as client:
            client.mail("someone@remote.test", [f"size={size}"] if size else [])
            code, words = client.rcpt("alice@full.test")
            return code, words.split()[0]

    assert answer(2_000_000) == (552, b"5.2.2"), "larger than the whole quota"
    with stack.smtp() as client:
        client.mail("someone@remote.test")
        assert client.rcpt("alice@full.test")[0] == 250, "no size was declared"
        assert client.data(letter("alice@full.test", "Too big", body=big))[0] == 552
    stack.deliver("alice@full.test", "Fills it", body=big[:950_000])
    assert eventually(lambda: len(stack.mail_of("alice@full.test")) == 1)
    eventually(lambda: answer(500_000) == (452, b"4.2.2"), what="the refusal for now")
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"quota_bytes": 100_000_000})
    assert answer(500_000)[0] == 250
    stack.deliver("alice@full.test", "Now it fits", body=big)
    assert eventually(lambda: len(stack.mail_of("alice@full.test")) == 2)


def test_spam_goes_to_junk_and_a_forged_verdict_is_ignored(stack: Stack):
    domain = stack.make_domain("junk.test")
    stack.make_mailbox(domain, "alice")
    forged = "X-Spam: Yes\r\nX-Rspamd-Score: -50\r\nX-Rspamd-Action: no action\r\n"
    stack.deliver("alice@junk.test", "Ham", forged)
    gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
    with pytest.raises(smtplib.SMTPDataError) as refused:
        stack.deliver("alice@junk.test", "Spam", body=gtube)
    assert refused.value.smtp_code == 554
    (ham,) = eventually(lambda: stack.mail_of("alice@junk.test"))
    assert b"X-Rspamd-Score: -50" not in ham
    assert b"X-Spam: Yes" not in ham


def test_only_permitted_mailboxes_log_in(stack: Stack):
    domain = stack.make_domain("login.test")
    mailbox = stack.make_mailbox(domain, "alice")
    stack.imap("alice@login.test").logout()
    with pytest.raises(Exception, match="AUTHENTICATIONFAILED"):
        stack.imap("alice@login.test", PASSWORD + "!")
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", {"protocols": {"imap": False}})
    with pytest.raises(Exception, match="AUTHENTICATIONFAILED"):
        stack.imap("alice@login.test")
