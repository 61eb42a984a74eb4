"""The full profile: each fate once with its data, and a stream of mail over the death of its parts (a short run; all of
them, and PostgreSQL away for a minute: `make prove-stack`).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import smtplib
import ssl
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.crash.stack import ALICE, DOMAIN, PASSWORD, Stack, Stream, running, until

NEEDED = ("postfix", "dovecot", "rspamd", "redis-server")
pytestmark = [
    pytest.mark.root,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(shutil.which(name) for name in NEEDED),
        reason="the full profile needs root and `mailkeep install`",
    ),
]
STAGES = ("api", "smtp", "mail.sent", "mail.delivered", "mail.received")


@pytest.fixture(scope="module")
async def stack() -> AsyncIterator[Stack]:
    async with running(give_up_hours=0.005) as opened:
        yield opened


async def told_of(stack: Stack, subject: str, *, until_kinds: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The events of a message, once these kinds are among them."""
    deadline = time.monotonic() + 60
    while True:
        rows = await stack.rows(
            "SELECT kind, data FROM events WHERE data->>'subject' = %(subject)s ORDER BY id", subject=subject
        )
        if set(until_kinds) <= {kind for kind, _ in rows}:
            return rows
        assert time.monotonic() < deadline, rows
        await asyncio.sleep(0.2)


async def send(stack: Stack, to: str, subject: str) -> None:
    body = {"from": {"email": ALICE}, "to": [{"email": to}], "subject": subject, "text_body": "Hello."}
    await stack("POST", "/send", body)


@pytest.mark.parametrize(
    "to, kinds, expected",
    [
        (
            "ok@far.test",
            ("mail.sent", "mail.delivered"),
            {"smtp_code": 250, "attempts": 1, "diagnostic": "Ok: queued as far"},
        ),
        (
            "later@far.test",
            ("mail.sent", "mail.bounced", "mail.delivered"),
            {"smtp_code": 250, "attempts": 2, "to": "later@far.test"},
        ),
        (
            "refused@far.test",
            ("mail.sent", "mail.bounced"),
            {"smtp_code": 550, "enhanced_code": "5.1.1", "bounce_type": "permanent",
             "diagnostic": "No such user here (in reply to RCPT TO command)"},
        ),
        (
            "content@far.test",
            ("mail.sent", "mail.bounced"),
            {"smtp_code": 554, "enhanced_code": "5.7.1",
             "diagnostic": "Content refused (in reply to end of DATA command)"},
        ),
        (f"nobody@{DOMAIN}", ("mail.sent", "mail.bounced"), {"enhanced_code": "5.1.1", "bounce_type": "permanent"}),
    ],
)  # fmt: skip
async def test_each_fate_is_told_once_with_its_data(
    stack: Stack, to: str, kinds: tuple[str, ...], expected: dict[str, Any]
) -> None:
    subject = f"fate-of-{to}"
    await send(stack, to, subject)
    told = await told_of(stack, subject, until_kinds=kinds)
    assert [kind for kind, _ in told] == list(kinds)
    last = told[-1][1]
    assert {name: last[name] for name in expected} == expected
    assert (last["to"], last["domain"]) == (to, DOMAIN)
    assert last["queue_id"]


async def test_what_is_never_taken_is_deferred_once_and_deleted_from_the_queue(stack: Stack) -> None:
    await send(stack, "never@far.test", "never-taken")
    await told_of(stack, "never-taken", until_kinds=("mail.bounced",))
    await until(lambda: stack.far.tried["never@far.test"] >= 2, 30)
    answer = await stack("POST", "/queue/actions", {"action": "hold", "filter": {"recipient": "never@"}})
    assert answer["affected"] == 1
    (held,) = await stack("GET", "/queue?state=hold")
    assert (held["sender"], held["recipients"][0]["address"]) == (ALICE, "never@far.test")
    assert "451 4.3.0 Try later" in held["recipients"][0]["reason"]
    answer = await stack("POST", "/queue/actions", {"action": "delete", "ids": [held["queue_id"]]})
    assert answer["affected"] == 1
    told = await told_of(stack, "never-taken", until_kinds=("mail.failed",))
    assert [kind for kind, _ in told] == ["mail.sent", "mail.bounced", "mail.failed"]
    assert told[-1][1]["reason"] == "Deleted from the queue by an operator"


async def test_what_is_never_taken_expires_with_the_last_words(stack: Stack) -> None:
    await send(stack, "never-ever@far.test", "expired")
    told = await told_of(stack, "expired", until_kinds=("mail.failed",))
    assert [kind for kind, _ in told] == ["mail.sent", "mail.bounced", "mail.failed"]
    assert (told[1][1]["bounce_type"], told[1][1]["smtp_code"]) == ("temporary", 451)
    assert told[2][1]["reason"] == "Try later (in reply to RCPT TO command)"


async def test_spam_goes_to_junk_and_is_told_as_such(stack: Stack) -> None:
    # No From, To, Date nor Message-ID: without asking the network, that is what the filter has against it.
    code, _ = await asyncio.to_thread(bring, stack, ALICE, "spam", head="X-Spam: No\r\nX-Rspamd-Score: -50\r\n")
    assert code == 250
    told = await told_of(stack, "spam", until_kinds=("mail.received",))
    (row,) = await stack("GET", "/messages?direction=inbound&subject=spam")
    rows = await stack.rows("SELECT data FROM events WHERE kind = 'mail.spam' AND message_id = %(id)s", id=row["id"])
    assert (len(told), len(rows)) == (1, 1)
    assert rows[0][0]["spam_score"] > 6
    assert row["spam"]["action"] == rows[0][0]["spam_action"] == "add header"
    assert "MISSING_MID" in row["spam"]["symbols"]
    assert stack.copies(".Junk") == ["spam"]


def hand_in(stack: Stack, to: list[str], subject: str, sender: str = ALICE) -> tuple[int, str]:
    """By SMTP submission, as a mail client does; the answer at the end of data."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, _, port = stack.submission.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as client:
        client.starttls(context=context)
        client.login(ALICE, PASSWORD)
        client.mail(sender)
        for each in to:
            client.rcpt(each)
        code, text = client.data(f"From: {sender}\r\nTo: {to[0]}\r\nSubject: {subject}\r\n\r\nHi.\r\n")
        return code, text.decode()


async def test_mail_from_a_mail_client_stands_in_the_history_with_its_hidden_recipients(stack: Stack) -> None:
    code, _ = await asyncio.to_thread(hand_in, stack, ["ok1@far.test", "refused1@far.test"], "by-client")
    assert code == 250
    told = await told_of(stack, "by-client", until_kinds=("mail.sent", "mail.delivered", "mail.bounced"))
    assert sorted(kind for kind, _ in told) == ["mail.bounced", "mail.delivered", "mail.sent"]
    (row,) = await stack("GET", "/messages?direction=outbound&subject=by-client")
    assert (row["source"], row["from"], row["to"]) == ("smtp", ALICE, ["ok1@far.test"])
    assert {each["address"]: each["status"] for each in row["recipients"]} == {
        "ok1@far.test": "delivered", "refused1@far.test": "bounced",
    }  # fmt: skip


async def test_a_suspended_sender_is_refused_on_both_ways_in(stack: Stack) -> None:
    await stack("POST", f"/mailboxes/{stack.mailbox_id}/suspend", {"reason": "test"})
    try:
        code, text = await asyncio.to_thread(hand_in, stack, ["ok2@far.test"], "suspended")
        assert (code, "suspended" in text) == (550, True)
        with pytest.raises(AssertionError, match="MAILBOX_SUSPENDED"):
            await send(stack, "ok2@far.test", "suspended")
    finally:
        await stack("POST", f"/mailboxes/{stack.mailbox_id}/unsuspend")


def bring(
    stack: Stack, to: str, subject: str, body: str = "Hi.", head: str = "From: bob@far.test\r\n"
) -> tuple[int, str]:
    """By SMTP, as a stranger does: the last word."""
    host, _, port = stack.smtp.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=30) as client:
        client.ehlo("far.test")
        client.mail("bob@far.test")
        code, text = client.rcpt(to)
        if code == 250:
            code, text = client.data(f"{head}Subject: {subject}\r\n\r\n{body}\r\n")
        return code, text.decode()


async def test_what_is_rejected_at_smtp_stands_in_the_history(stack: Stack) -> None:
    code, _ = await asyncio.to_thread(bring, stack, f"unknown@{DOMAIN}", "rejected")
    assert code == 550
    deadline = time.monotonic() + 30
    while not (rows := await stack("GET", f"/messages?status=rejected&to=unknown@{DOMAIN}")):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.2)
    assert (rows[0]["from"], rows[0]["recipients"][0]["smtp_code"]) == ("bob@far.test", 550)


async def test_a_mailbox_over_its_quota_bounces_what_is_sent_and_refuses_what_comes(stack: Stack) -> None:
    domain = (await stack("GET", "/domains"))[0]["id"]
    body = {"domain_id": domain, "local_part": "tiny", "name": "", "password": PASSWORD, "quota_bytes": 2000}
    await stack("POST", "/mailboxes", body)
    large = "A line of a letter that fills a mailbox.\r\n" * 200
    code, _ = await asyncio.to_thread(bring, stack, f"tiny@{DOMAIN}", "too-large", large)
    assert code == 250  # Dovecot judges when Postfix brings it: the sender is told by a bounce
    deadline = time.monotonic() + 30
    while not (rows := await stack("GET", "/messages?status=rejected&subject=too-large")):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.2)
    recipient = rows[0]["recipients"][0]
    assert (recipient["smtp_code"], recipient["enhanced_code"]) == (552, "5.2.2")
    message = {"from": {"email": ALICE}, "to": [{"email": f"tiny@{DOMAIN}"}], "subject": "full", "text_body": large}
    await stack("POST", "/send", message)
    told = await told_of(stack, "full", until_kinds=("mail.bounced",))
    assert (told[-1][1]["smtp_code"], told[-1][1]["bounce_type"]) == (552, "permanent")


async def test_three_rotations_and_the_death_of_the_agents_under_load_lose_and_double_nothing(stack: Stack) -> None:
    stream = Stream(stack, a_second=10)
    async with stream.flowing():
        for name in ("logs", "lmtp", "postfix"):
            await asyncio.sleep(1)
            await asyncio.to_thread(stack.rotate)
            killed_at = time.monotonic()
            await stack.kill(name)
            assert await stream.recovery(STAGES, killed_at, 60) < 30
    await stream.settle()
    assert len(stream.out.succeeded) > 10
    assert [str(each) for each in await stream.balances(far_may_double=True) if not each.empty] == []
