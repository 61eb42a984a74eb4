"""Forms of recipients: the unknown are refused at RCPT, on the ports for other servers and for mail clients, so that
nothing bounces to a forged sender.
"""

from __future__ import annotations

import smtplib

from tests.stack.harness import ADDRESS, HOSTNAME, PASSWORD, Stack, eventually, letter

CHIEF = "chief@chiefs.test"
FORGED = "forged@remote.test"
OURS = "forms.test"
# The recipient as written between < and >, the answer on port 25, and the answer to a login.
FORMS: list[tuple[str, int, int]] = [
    # Known
    (f"alice@{OURS}", 250, 250),
    (f"ALICE@{OURS.upper()}", 250, 250),
    (f"alice+tag@{OURS}", 250, 250),
    (f"alice++@{OURS}", 250, 250),
    (f'"alice"@{OURS}', 250, 250),
    (f'"al\\ice"@{OURS}', 250, 250),
    (f"alice@{OURS}.", 250, 250),
    (f"@relay.test:alice@{OURS}", 250, 250),
    (f"@a.test,@b.test:alice@{OURS}", 250, 250),
    (f"team@{OURS}", 250, 250),
    (f"outside@{OURS}", 250, 250),
    (f"half@{OURS}", 250, 250),
    # The postmaster always exists
    ("postmaster", 250, 250),
    ("PostMaster", 250, 250),
    (f"postmaster@{OURS}", 250, 250),
    (f"Abuse@{OURS}", 250, 250),
    (f"postmaster+x@{OURS}", 250, 250),
    (f"postmaster@{HOSTNAME}", 250, 250),
    (f"abuse@{HOSTNAME.upper()}", 250, 250),
    (f"postmaster@sub.{OURS}", 554, 250),
    # Unknown
    (f"nobody@{OURS}", 550, 550),
    (f"nobody+alice@{OURS}", 550, 550),
    (f"+alice@{OURS}", 550, 550),
    (f"alice.@{OURS}", 550, 550),
    (f".alice@{OURS}", 550, 550),
    (f"ali..ce@{OURS}", 550, 550),
    (f'"alice "@{OURS}', 550, 550),
    (f'"alice@evil.test"@{OURS}', 554, 550),
    (f'""@{OURS}', 550, 550),
    (f"@{OURS}", 550, 550),
    (f"{'x' * 64}@{OURS}", 550, 550),
    (f"{'x' * 300}@{OURS}", 550, 550),
    (f"nobody@{OURS}.", 550, 550),
    (f"@relay.test:nobody@{OURS}", 550, 550),
    (f"void@{OURS}", 550, 550),
    (f"off@{OURS}", 550, 550),
    (f"alice*@{OURS}", 550, 550),
    (f"alice%00@{OURS}", 554, 550),
    (f"alice'--@{OURS}", 550, 550),
    # Source routes and old address forms
    (f"alice%far.test@{OURS}", 554, 550),
    (f"alice%{OURS}@{OURS}", 554, 550),
    (f"far.test!alice@{OURS}", 554, 550),
    (f"{OURS}!alice", 554, 550),
    (f"far.test!{OURS}!alice", 554, 550),
    ("alice%far.test", 554, 550),
    (f"alice%{OURS}", 554, 550),
    (f'"alice%far.test"@{OURS}', 554, 550),
    (f"alice%far.test@{HOSTNAME}", 554, 550),
    # The server itself
    ("root", 550, 550),
    ("alice", 550, 550),
    ("MAILER-DAEMON", 550, 550),
    (f"root@{HOSTNAME}", 550, 550),
    (f"alice@{HOSTNAME}", 550, 550),
    (f"double-bounce@{HOSTNAME}", 550, 550),
    (f"SRS0=aaaaaa=bb=far.test=x@{HOSTNAME}", 550, 550),
    (f"SRS1=aaaaaa=far.test==x@{HOSTNAME}", 550, 550),
    # Address literals
    (f"alice@[{ADDRESS}]", 550, 550),
    (f"anything@[{ADDRESS}]", 550, 550),
    (f"postmaster@[{ADDRESS}]", 550, 550),
    ("root@[127.0.0.1]", 550, 550),
    ("postmaster@[127.0.0.1]", 550, 550),
    ("x@[IPv6:::1]", 554, 550),
    ("x@[192.0.2.77]", 554, 550),
    (f"alice@{ADDRESS}", 501, 501),
    (f'"x@[{ADDRESS}]"', 550, 550),
    # External and inactive domains
    ("x@far.test", 554, 250),
    (f"x@sub.{OURS}", 554, 250),
    (f"x@not{OURS}", 554, 250),
    ("x@localhost", 554, 250),
    ("x@localhost.localdomain", 554, 250),
    (f"x@{OURS.partition('.')[0]}", 554, 250),
    ("alice@asleep-forms.test", 450, 450),
    ("postmaster@asleep-forms.test", 450, 450),
    ("", 501, 501),
    ("@", 501, 501),
    ("alice@", 501, 501),
]


def _prepare(stack: Stack) -> None:
    domain = stack.make_domain(OURS)
    stack.make_mailbox(domain, "alice")
    off = stack.make_mailbox(domain, "off")
    stack.do("PATCH", f"/mailboxes/{off['id']}", {"active": False})
    for source, destination in {
        "team": f"alice@{OURS}", "outside": "friend+forms@remote.test", "half": f"nobody@{OURS}, alice@{OURS}",
        "void": f"nobody@{OURS}",
    }.items():  # fmt: skip
        body = {"domain_id": domain, "source_local_part": source, "destination": destination}
        stack.do("POST", "/aliases", body)
    asleep = stack.make_domain("asleep-forms.test")
    stack.make_mailbox(asleep, "alice")
    stack.do("PATCH", f"/domains/{asleep}", {"active": False})
    stack.make_mailbox(stack.make_domain("chiefs.test"), "chief")
    stack.do("POST", "/admins", {"email": CHIEF, "password": PASSWORD, "role": "super_admin"})


def _answer(client: smtplib.SMTP, sender: str, form: str, *, data: bool) -> int:
    """The reply to a recipient; accepted ones get a message. Uses a new connection, because errors slow one down."""
    with client:
        assert client.mail(sender)[0] == 250
        code, _ = client.docmd(f"RCPT TO:<{form}>")
        if code == 250 and data:
            answer, words = client.data(letter(form, "Form", sender=sender))
            assert answer == 250, (form, words)
    return code


# All forms of a bare `postmaster`, which Postfix accepts before any restriction, and similar ones.
BARE = [
    "<postmaster>", "<PostMaster>", '<"postmaster">', '<"post\\master">', "<post\\master>", "<@x:postmaster>",
    "<@x:@y:postmaster>", "< @x:postmaster>", "<<@x:postmaster>>", '<""@x:postmaster>', "postmaster", " postmaster",
    "@x:postmaster", "< postmaster >", "<<postmaster>>", "<,postmaster>",
]  # fmt: skip
COMMENTED = [
    "<postmaster(c)>", "<(a@b)postmaster>", "<postmaster(@)>", "<postmaster((c)@)>", "<postmaster(@>",
    "<postmaster(>)>", "<postmaster(>", "<postmaster(\\)>", "<(c)@x:postmaster>",
]  # fmt: skip


def test_a_bare_postmaster_is_deferred_while_no_administrator_has_mail(stack: Stack) -> None:
    """It was accepted and bounced, with the whole message, to the claimed sender."""

    def answer(form: str) -> int:
        with stack.smtp() as client:
            client.mail(FORGED)
            return client.docmd(f"RCPT TO:{form}")[0]

    assert answer(f"<postmaster@{HOSTNAME}>") == 451  # the first administrator's address is admin@localhost
    assert {form: answer(form) for form in BARE} == dict.fromkeys(BARE, 451)
    assert {form: answer(form) for form in COMMENTED} == dict.fromkeys(COMMENTED, 501)


def test_unknown_and_literal_recipients_make_no_backscatter(stack: Stack) -> None:
    """`anything@[address]` and a bare `postmaster` were accepted and bounced to the claimed sender."""
    _prepare(stack)
    found = {form: _answer(stack.smtp(), FORGED, form, data=True) for form, _, _ in FORMS}
    wrong = {form: found[form] for form, code, _ in FORMS if found[form] != code}
    assert not wrong, str(wrong)
    assert stack.arrived("friend+forms@remote.test")
    eventually(lambda: not stack.do("GET", "/queue"), what="the end of the queue")
    bounces = [line for mail in stack.caught(FORGED) for line in mail.split(b"\r\n") if b"-Recipient: " in line]
    assert bounces == []
    assert stack.caught(FORGED) == []
    assert len(stack.mail_of(CHIEF)) >= 7


def test_submission_to_an_unknown_recipient_of_ours_is_refused_at_rcpt(stack: Stack) -> None:
    alice = f"alice@{OURS}"
    found = {form: _answer(stack.login(alice), alice, form, data=False) for form, _, _ in FORMS}
    wrong = {form: found[form] for form, _, code in FORMS if found[form] != code}
    assert not wrong, str(wrong)
