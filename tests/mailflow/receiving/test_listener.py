"""The listener as a stranger meets it: what it takes, what it refuses, and that nothing hangs it."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace

import pytest

from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.receiving.rules import GTUBE
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpSession
from mailkeep.run.processes.smtp import InboundHandler
from mailkeep.settings import Settings
from mailkeep.settings.tree import EventsSettings, LimitsSettings, ServerSettings, SmtpSettings
from tests.mailflow.receiving.smtp_dialogue import codes, dialogue
from tests.plugins.post import LETTER, Post
from tests.support.client import EXAMPLE, email_of

ALICE = f"alice@{EXAMPLE}"


@pytest.fixture
def api_settings() -> Settings:
    """Messages of 1 MB at most; each has `mail.received.full`."""
    return Settings(
        limits=LimitsSettings(login_per_second=0, requests_per_second=0, message_size_mb=1),
        smtp=SmtpSettings(listen="127.0.0.1:0", max_connections_per_address=0),
        events=EventsSettings(received_full=True),
        server=ServerSettings(hostname="mx.other.test"),
    )


async def test_the_size_limit_holds_as_declared_and_as_sent(post: Post):
    await post.api.mailbox()
    limit = (1 << 20) * 103 // 100 + (64 << 10)
    line = b"x" * 998 + b"\r\n"
    fitting = LETTER + line * ((limit - len(LETTER)) // 1000)
    result = await dialogue(
        post,
        f"MAIL FROM:<a@b.test> SIZE={limit + 1}",
        "MAIL FROM:<a@b.test>",
        f"RCPT TO:<{ALICE}>",
        fitting + line,
        f"MAIL FROM:<a@b.test> SIZE={limit}",
        f"RCPT TO:<{ALICE}>",
        fitting,
    )
    assert codes(result) == [552, 250, 250, 552, 250, 250, 250], result
    (rejected,) = await post.messages(status="rejected")
    assert rejected["recipients"][0]["smtp_code"] == 552


async def test_each_recipient_has_its_own_reply(post: Post):
    alice = await post.api.mailbox()
    await post.api.domain("asleep.test", active=False)
    recipients = [ALICE, f"nobody@{EXAMPLE}", "a@asleep.test", "a@foreign.test", "not an address"]
    result = await dialogue(
        post, "MAIL FROM:<a@b.test>", *(f"RCPT TO:<{address}>" for address in recipients), LETTER, "QUIT"
    )
    assert codes(result) == [250, 250, 550, 450, 554, 501, 250, 221]
    assert len(post.mail_of(alice)) == 1
    assert len(await post.messages(status="rejected")) == 3


async def test_a_reactivated_domain_accepts_deferred_mail(post: Post):
    domain = await post.api.domain("asleep.test", active=False)
    await post.api.mailbox("a@asleep.test")
    assert (await post.deliver("a@asleep.test")).refused["a@asleep.test"][0] == 450
    await post.api.sue.patch(f"/domains/{domain}", {"active": True})
    assert (await post.deliver("a@asleep.test")).code == 250


async def test_too_many_recipients_errors_and_refusals(post: Post):
    await post.api.mailbox()
    await post.api.alias(f"@{EXAMPLE}", [ALICE])
    many = [f"RCPT TO:<x{number}@{EXAMPLE}>" for number in range(1001)]
    result = await dialogue(post, "MAIL FROM:<a@b.test>", *many, LETTER)
    assert codes(result) == [250] * 1001 + [452, 250]
    assert len((await post.messages(status="received"))[0]["recipients"]) == 1000
    assert codes(await dialogue(post, *["NONSENSE"] * 21)) == [500] * 20 + [421]
    refused = await dialogue(post, "MAIL FROM:<a@b.test>", *["RCPT TO:<a@foreign.test>"] * 101)
    assert codes(refused) == [250] + [554] * 100 + [421]


@pytest.mark.parametrize(
    "sender, recipient, utf8, code",
    [
        ("", ALICE, False, 250),  # a bounce
        ("someone@elsewhere.test", '"alice"@example.test', False, 250),
        ("someone@elsewhere.test", '"al\\ice"@example.test', False, 250),
        ("someone@elsewhere.test", '"alice@evil.test"@example.test', False, 0),
        ("someone@elsewhere.test", '""@example.test', False, 0),
        ('"a b"@elsewhere.test', ALICE, False, 250),
        ("someone@[192.0.2.1]", "ALICE@EXAMPLE.TEST", False, 250),
        ("jörg@elsewhere.test", ALICE, True, 250),
        ("someone@elsewhere.test", f"alice@{'x' * 200}.test", False, 0),
    ],
)
async def test_envelopes_of_all_kinds(post: Post, sender: str, recipient: str, utf8: bool, code: int):
    alice = await post.api.mailbox()
    result = await post.deliver(recipient, sender=sender, utf8=utf8)
    assert result.code == code, result
    if code == 250:
        (copy,) = (post.api.app.data_dir / f"mail/{alice}/Maildir/new").iterdir()
        assert copy.read_bytes().startswith(f"Return-Path: <{sender}>\r\nDelivered-To: {recipient}\r\n".encode())


async def test_postmaster_without_a_domain_reaches_the_super_admins(post: Post):
    async with post.api.app.db.autocommit() as conn:
        await routing.apply_settings(conn, post.api.app.settings, post.api.clock())
    assert (await post.deliver("postmaster")).refused["postmaster"][0] == 451  # sue has no mailbox: never unknown
    assert (await post.deliver("root@mx.other.test")).refused["root@mx.other.test"][0] == 550
    sue = await post.api.mailbox(email_of("sue"))
    for address in ("Postmaster", "postmaster@MX.other.test", "abuse@mx.other.test"):
        assert (await post.deliver(address)).code == 250, address
    assert len(post.mail_of(sue)) == 3
    await post.api.domain("mx.other.test")
    own = await post.api.mailbox("postmaster@mx.other.test")
    assert (await post.deliver("postmaster")).code == 250
    assert (len(post.mail_of(sue)), len(post.mail_of(own))) == (3, 1)


HEAD = b"From: a@b.test\r\nMIME-Version: 1.0\r\n"
MIXED = HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
ODD = {
    "no content": b"",
    "no head": b"\r\nbody\r\n",
    "no body": b"Subject: x\r\n",
    "a body for a head": b"just text\r\n",
    "8-bit head": b"Subject: \xff\xfe \xc3\xbc\r\nFrom: \xfc@b.test\r\n\r\n\xff\r\n",
    "NUL": b"Subject: a\0b\r\nFrom: \0@b.test\r\nX\0: y\r\n\r\n\0\0\r\n",
    "surrogates": b"Subject: =?utf-7?q?+2AA-?=\r\nFrom: =?utf-7?q?+2AA-?= <a@b.test>\r\n\r\n",
    "raw surrogates": b"Message-ID: \xed\xa0\x80\r\nSubject: \xed\xa0\x80\r\n\r\n",
    "many fields": b"A: b\r\n" * 150_000 + b"\r\n",
    "many parts": MIXED + b"--b\r\n\r\nx\r\n" * 100_000,
    "deep": HEAD + b"Content-Type: message/rfc822\r\n\r\n" * 5000,
    "many parameters": HEAD + b"Content-Type: text/plain" + b";\r\n a*0*=utf-8''b" * 10_000 + b"\r\n\r\nx",
    "many addresses": b"To: " + b"(a,<b:" * 9000 + b"\r\n\r\n",
    "dots": b"Subject: x\r\n\r\n.\r\n..\r\n",
    "long body line": b"Subject: x\r\n\r\n" + b"y" * 900_000 + b"\r\n",
    "broken base64": HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n!!!!\r\n",
    "words without end": b"Subject: " + b"=?a?q?" * 10_000 + b"\r\n\r\n",
}


async def test_malformed_messages_are_delivered_unchanged_with_events(post: Post):
    alice = await post.api.mailbox()
    folder = post.api.app.data_dir / "mail" / str(alice) / "Maildir" / "new"
    for name, content in ODD.items():
        started = time.monotonic()
        result = await post.deliver(ALICE, content=content)
        assert result.code == 250, (name, result)
        assert time.monotonic() - started < 30, name
        (copy,) = folder.glob("*")
        sent = content if content.endswith(b"\r\n") else content + b"\r\n"
        assert copy.read_bytes().partition(b"+0000\r\n")[2] == sent, name
        copy.unlink()
        kinds = [kind for kind, _ in await post.events()]
        assert kinds == ["mail.received", "mail.received.full"], name
        await post.api.sql("DELETE FROM events WHERE true RETURNING id")
    assert len(await post.messages(limit=200)) == len(ODD)


async def test_a_header_line_of_a_megabyte_and_bare_line_ends_are_refused(post: Post):
    await post.api.mailbox()
    envelope = ("MAIL FROM:<a@b.test>", f"RCPT TO:<{ALICE}>")
    assert codes(await dialogue(post, *envelope, b"Subject: " + b"x" * 1_000_000 + b"\r\n\r\n"))[-1] // 100 == 5
    assert codes(await dialogue(post, *envelope, b"Subject: x\n\nbody\r\n"))[-1] // 100 == 5
    assert await post.messages(status="received") == []


async def test_a_message_that_goes_round_and_round_is_stopped(post: Post):
    alice = await post.api.mailbox()
    hops = b"Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000\r\n"
    assert (await post.deliver(ALICE, content=hops * 100 + LETTER)).code == 250
    result = await post.deliver(ALICE, content=hops * 101 + LETTER)
    assert (result.code, result.text[:5]) == (554, "5.4.6")
    assert len(post.mail_of(alice)) == 1


async def test_many_at_once_each_get_their_answer(post: Post):
    alice = await post.api.mailbox()
    bomb = MIXED + b'--b\r\nContent-Disposition: attachment; filename="' + b"=?a?q?" * 15_000 + b'"\r\n\r\nx\r\n'
    contents = [bomb if number % 4 == 0 else LETTER + GTUBE if number % 4 == 1 else LETTER for number in range(24)]
    result = await asyncio.wait_for(asyncio.gather(*(post.deliver(ALICE, content=each) for each in contents)), 100)
    assert {each.code for each in result} == {250}
    assert len(post.mail_of(alice)) == 18
    kinds = [kind for kind, _ in await post.events()]
    assert (kinds.count("mail.received"), kinds.count("mail.received.full"), kinds.count("mail.spam")) == (24, 24, 6)


async def test_what_the_listener_counts(post: Post):
    await post.api.mailbox()
    await post.deliver(ALICE, f"nobody@{EXAMPLE}")
    await post.deliver(f"nobody@{EXAMPLE}")
    text = post.inbound.metrics.text().decode()
    assert 'mailkeep_smtp_sessions_total{listener="inbound"} 2.0' in text
    assert post.api.app.counters.drain() == [
        (("deliveries", ("inbound", "received")), 1),
        (("deliveries", ("inbound", "rejected")), 2),
        (("messages_accepted", ("inbound", "smtp")), 1),
    ]


async def test_our_own_fields_in_incoming_mail_are_stripped(post: Post):
    alice = await post.api.mailbox()
    filler = b"X-Filler: " + b"x" * 900 + b"\r\n"
    content = b"Subject: x\r\n" + filler * 400 + b"x-mailkeep-tags: a\r\n b\r\nX-Mailkeep-Delivery: 1\r\n\r\nbody\r\n"
    assert (await post.deliver(ALICE, content=content)).code == 250
    (copy,) = (post.api.app.data_dir / f"mail/{alice}/Maildir/new").iterdir()
    kept = copy.read_bytes()
    assert kept.endswith(b"Subject: x\r\n" + filler * 400 + b"\r\nbody\r\n")
    assert re.findall(rb"x-mailkeep-[^:]*", kept.lower()) == [b"x-mailkeep-verdict"]


async def test_a_client_has_a_limit_of_messages_per_minute(post: Post):
    app = post.api.app
    app.settings = replace(app.settings, smtp=replace(app.settings.smtp, client_message_rate=2))
    handler = InboundHandler(app)
    for client, expected in (("192.0.2.1", [None, None, 450]), ("192.0.2.2", [None]), ("127.0.0.1", [None] * 4)):
        session = SmtpSession("smtp", (client, 25))
        replies = [await handler.mail(session, SmtpEnvelope("a@b.test", None, None, False)) for _ in expected]
        assert [reply and reply.code for reply in replies] == expected, client
