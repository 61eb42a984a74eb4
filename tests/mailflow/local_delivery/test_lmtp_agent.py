"""One reply a recipient, one event and one copy for each (queue id, mailbox), whatever happens in between."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.local_delivery.journal import Journal, UncertainDelivery
from mailkeep.mail.message import srs
from mailkeep.mail.smtp.reply import SmtpReply
from tests.mailflow.local_delivery.lmtp_dialogue import LETTER, SETTLING, Agent, running
from tests.support.client import EXAMPLE, Api

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"


@pytest.fixture
async def agent(api: Api) -> AsyncIterator[Agent]:
    await api.mailbox(ALICE)
    await api.mailbox(BOB)
    # A socket's path has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        async with running(api, Path(folder)) as opened:
            yield opened


async def events(agent: Agent) -> list[tuple[str, dict[str, Any]]]:
    return [(row["kind"], row["data"]) for row in await agent.api.sql("SELECT kind, data FROM events ORDER BY id")]


async def test_a_message_reaches_each_mailbox_and_is_filed_before_the_answer(agent: Agent) -> None:
    assert await agent.bring(ALICE, BOB) == ["250 2.0.0 Saved"] * 2
    published = await events(agent)
    assert [kind for kind, _ in published] == ["mail.received"] * 2
    assert published[0][1] == {
        "message_id": "<1@far.test>", "from": "someone@far.test", "domain": EXAMPLE, "subject": "Hello",
        "size": len(LETTER), "queue_id": "4jW9T1xz0bz1",
    }  # fmt: skip
    rows = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert {row["recipients"][0]["address"] for row in rows} == {ALICE, BOB}
    assert {(row["status"], row["source"], row["queue_id"]) for row in rows} == {("received", "smtp", "4jW9T1xz0bz1")}
    raw = await agent.api.sue.get(f"/messages/{rows[0]['id']}/raw")
    assert raw.body == LETTER


async def test_each_recipient_of_our_own_mail_gets_a_reply_of_its_own(agent: Agent) -> None:
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    own = "NAME=localhost ADDR=127.0.0.1 PORT=0 IDENT=4jW9T1xz0bz1 SOURCE=REMOTE"
    assert await agent.bring(ALICE, BOB, f"nobody@{EXAMPLE}", forwarded=own) == [
        "250 2.0.0 Saved",
        "552 5.2.2 Mailbox full",
        "550 5.1.1 User unknown",
    ]


async def test_own_mail_without_a_sender_waits_for_a_full_mailbox(agent: Agent) -> None:
    """A bounce would reach nobody."""
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    own = "NAME=localhost ADDR=127.0.0.1 PORT=0 IDENT=4jW9T1xz0bz1 SOURCE=REMOTE"
    assert await agent.bring(ALICE, BOB, forwarded=own, sender="") == ["250 2.0.0 Saved", "452 4.2.2 Mailbox full"]
    assert (await agent.api.sue.get("/messages", direction="inbound", status="rejected")).data == []
    agent.dovecot.says = {}
    assert await agent.bring(BOB, forwarded=own, sender="") == ["250 2.0.0 Saved"]
    assert agent.dovecot.doubts == [False, False]


async def test_mail_of_another_server_does_not_bounce_to_a_forged_sender(agent: Agent) -> None:
    """A mailbox that became full, or was removed, after Postfix had accepted the message made a bounce."""
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    replies = await agent.bring(ALICE, BOB, f"nobody@{EXAMPLE}")
    assert [each[:3] for each in replies] == ["250"] * 3
    assert [kind for kind, _ in await events(agent)] == ["mail.received"]
    rows = (await agent.api.sue.get("/messages", direction="inbound", status="rejected")).data
    assert {(row["recipients"][0]["address"], row["recipients"][0]["smtp_code"]) for row in rows} == {
        (BOB, 552),
        (f"nobody@{EXAMPLE}", 550),
    }


async def test_a_temporary_word_of_dovecot_leaves_no_trace(agent: Agent) -> None:
    agent.dovecot.says = {ALICE: SmtpReply(451, "4.2.0", "Locked")}
    assert await agent.bring(ALICE) == ["451 4.2.0 Locked"]
    assert await events(agent) == []
    agent.dovecot.says = {}
    assert await agent.bring(ALICE) == ["250 2.0.0 Saved"]
    assert len(await events(agent)) == 1


async def test_two_recipients_of_a_mailbox_are_one_copy_with_both_addresses(agent: Agent) -> None:
    asked = {f"alice+tag@{EXAMPLE}": f"sales@{EXAMPLE}"}
    assert await agent.bring(ALICE, f"alice+tag@{EXAMPLE}", asked=asked) == ["250 2.0.0 Saved"] * 2
    assert len(agent.dovecot.copies) == 1
    (row,) = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert [each["address"] for each in row["recipients"]] == [ALICE, f"sales@{EXAMPLE}"]


async def test_usage_is_reported_for_accepted_messages_only(agent: Agent) -> None:
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    await agent.bring(ALICE, BOB, f"alice+tag@{EXAMPLE}")
    rows = await agent.api.sql("SELECT id FROM mailboxes ORDER BY local_key")
    alice, bob = (row["id"] for row in rows)
    assert agent.came == [(alice, len(LETTER))]
    agent.dovecot.says = {ALICE: SmtpReply(451, "4.2.0", "Locked")}
    await agent.bring(ALICE, BOB, queue_id="4jW9T1xz0bz2")
    assert agent.came[1:] == [(bob, len(LETTER))]


async def test_what_is_filed_is_not_handed_over_again(agent: Agent) -> None:
    await agent.bring(ALICE)
    assert await agent.bring(ALICE, BOB) == ["250 2.0.0 Already delivered", "250 2.0.0 Saved"]
    assert len(agent.dovecot.copies) == 2
    assert len(await events(agent)) == 2


@pytest.mark.parametrize("place", ["lmtp.handed_over", "lmtp.recorded"])
@pytest.mark.parametrize("killed", [False, True])
async def test_a_crash_after_dovecots_reply_leaves_one_copy_and_one_event(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, place: str, killed: bool
) -> None:
    def die(name: str) -> None:
        if name == place:
            raise ConnectionError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        assert (await agent.bring(ALICE))[0].startswith("451")
    if killed:
        await agent.start()
    assert (await agent.bring(ALICE))[0].startswith("250")
    assert len(agent.dovecot.copies) == 1
    assert agent.dovecot.doubts == [False, True][: 1 if place == "lmtp.recorded" else 2]
    assert len(await events(agent)) == 1
    await agent.bring(ALICE, queue_id="4jW9T1xz0bz2")
    assert agent.dovecot.doubts[-1] is False


@pytest.mark.parametrize("killed", [False, True])
async def test_a_dovecot_that_ends_before_its_answer_has_made_one_copy(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    begin, doubts = Journal.begin, list[UncertainDelivery | None]()

    def noted(self: Journal, *given: Any) -> UncertainDelivery | None:
        doubts.append(begin(self, *given))
        return doubts[-1]

    monkeypatch.setattr(Journal, "begin", noted)
    agent.dovecot.gone = 1
    began = time.monotonic()
    assert (await agent.bring(ALICE, BOB))[0].startswith("451 4.3.0")
    if killed:
        await agent.start()
    assert await agent.bring(ALICE, BOB) == ["250 2.0.0 Saved"] * 2
    first, again = doubts
    assert first is None
    assert again
    assert began + SETTLING <= again.not_before <= time.monotonic()
    assert len(agent.dovecot.copies) == 2
    assert agent.dovecot.doubts == [False, True]
    assert len(await events(agent)) == 2


async def test_a_message_that_comes_again_while_it_is_delivered_waits_for_that(agent: Agent) -> None:
    agent.dovecot.gone = 1
    first = asyncio.create_task(agent.bring(ALICE))
    await agent.dovecot.taken.wait()
    assert await agent.bring(ALICE) == ["250 2.0.0 Saved"]
    assert (await first)[0].startswith("451")
    many = await asyncio.gather(*(agent.bring(ALICE, queue_id="4jW9T1xz0bz2") for _ in range(5)))
    assert sorted(many) == [["250 2.0.0 Already delivered"]] * 4 + [["250 2.0.0 Saved"]]
    assert len(agent.dovecot.copies) == len(await events(agent)) == 2


@pytest.mark.parametrize("killed", [False, True])
async def test_a_dovecot_that_says_it_is_ending_may_have_the_message(agent: Agent, killed: bool) -> None:
    agent.dovecot.ending = 1
    assert await agent.bring(ALICE) == ["421 4.3.2 Shutting down"]
    if killed:
        await agent.start()
    assert await agent.bring(ALICE) == ["250 2.0.0 Saved"]
    assert agent.dovecot.doubts == [False, True]
    assert len(agent.dovecot.copies) == len(await events(agent)) == 1


async def test_a_last_word_of_refusal_and_a_dovecot_that_is_away_leave_no_doubt(agent: Agent) -> None:
    agent.dovecot.says = {ALICE: SmtpReply(552, "5.2.2", "Mailbox full")}
    await agent.bring(ALICE, BOB)
    agent.dovecot.says = {}
    await agent.bring(ALICE, BOB)
    await agent.dovecot_server.close(0)
    assert (await agent.bring(ALICE, queue_id="4jW9T1xz0bz2"))[0].startswith("451")
    await agent.start_dovecot()
    assert (await agent.bring(ALICE, queue_id="4jW9T1xz0bz2"))[0].startswith("250")
    assert agent.dovecot.doubts == [False] * 3


async def test_mail_that_is_older_than_the_journal_may_have_been_delivered(agent: Agent) -> None:
    old = b"Received: from x by y (Postfix) with ESMTP id 4jW9T1xz0bz1; Sat, 21 Nov 2020 16:36:18 +0000\r\n" + LETTER
    await agent.bring(ALICE, content=old)
    unreadable = old.replace(b"2020", b"a year")
    await agent.bring(ALICE, content=unreadable, queue_id="4jW9T1xz0bz2")
    assert agent.dovecot.doubts == [True, True]
    assert len(agent.dovecot.copies) == 2


async def test_what_cant_be_written_down_is_not_handed_over(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_append", full)
        assert (await agent.bring(ALICE))[0].startswith("451")
        assert agent.dovecot.copies == []
    assert await agent.bring(ALICE) == ["250 2.0.0 Saved"]
    assert agent.dovecot.doubts == [False]


def full(self: Journal, line: bytes) -> None:
    raise OSError("no room")


async def test_with_the_database_away_the_answer_is_451_and_dovecot_has_nothing(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def away(self: DatabasePool) -> AsyncIterator[Any]:
        raise Unavailable
        yield

    with monkeypatch.context() as patch:
        patch.setattr(DatabasePool, "autocommit", away)
        assert (await agent.bring(ALICE))[0].startswith("451 4.3.0")
    assert len(agent.dovecot.copies) == 0
    with monkeypatch.context() as patch:

        def goes_away(place: str) -> None:
            if place == "lmtp.handed_over":
                patch.setattr(DatabasePool, "autocommit", away)

        patch.setattr(failpoint, "reach", goes_away)
        assert (await agent.bring(ALICE))[0].startswith("451 4.3.0")
    assert len(agent.dovecot.copies) == 1
    assert (await agent.bring(ALICE))[0].startswith("250")
    assert len(agent.dovecot.copies) == 1
    assert len(await events(agent)) == 1


async def test_with_dovecot_away_the_answer_is_451(agent: Agent) -> None:
    await agent.dovecot_server.close(1)
    assert (await agent.bring(ALICE))[0].startswith("451 4.3.0")
    assert await events(agent) == []


async def test_mail_of_a_deactivated_domain_is_deferred(agent: Agent) -> None:
    await agent.api.sql("UPDATE domains SET active = false WHERE name = %(name)s RETURNING id", name=EXAMPLE)
    assert (await agent.bring(ALICE))[0].startswith("450 4.2.1")


async def test_the_filters_verdict_is_published_and_stored(agent: Agent) -> None:
    flagged = (
        b"X-Spamd-Result: default: False [9.20 / 15.00]; LAB_SPAM(8.00)[x]; ONCE_RECEIVED(0.10)[]\r\n"
        b"X-Rspamd-Action: add header\r\nX-Rspamd-Score: 9.20\r\nX-Spam: Yes\r\n" + LETTER
    )
    await agent.bring(ALICE, content=flagged)
    published = dict(await events(agent))
    assert published["mail.spam"] == {
        "message_id": "<1@far.test>", "from": "someone@far.test", "domain": EXAMPLE, "spam_score": 9.2,
        "spam_action": "add header",
        "decided_by": {"scope": "server", "rule": "junk_score", "entry_id": None},
    }  # fmt: skip
    (row,) = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert row["spam"] == {
        "score": 9.2, "action": "add header", "symbols": ["LAB_SPAM", "ONCE_RECEIVED"],
        "decided_by": {"scope": "server", "rule": "junk_score", "entry_id": None},
    }  # fmt: skip


@pytest.mark.parametrize(
    "fields, results",
    [
        (b"X-Rspamd-Auth: spf=pass; dkim=fail; dmarc=none\r\n", ("pass", "fail", "none")),
        (b"X-Rspamd-Auth: spf=softfail; dmarc=fail\r\n", ("softfail", None, "fail")),
        (b"X-Rspamd-Auth: \r\n", (None, None, None)),
        (b"Authentication-Results: mx.test; spf=pass; dkim=pass; dmarc=pass\r\n", (None, None, None)),
        (b"X-Rspamd-Auth: spf=<b>; dkim=softfail; arc=pass; dmarc\r\n", (None, None, None)),
    ],
)
async def test_only_the_filters_authentication_results_are_stored(
    agent: Agent, fields: bytes, results: tuple[str | None, ...]
) -> None:
    await agent.bring(ALICE, content=fields + LETTER)
    (row,) = (await agent.api.sue.get("/messages", direction="inbound")).data
    shown = (await agent.api.sue.get(f"/messages/{row['id']}")).data
    assert row["auth"] == shown["auth"] == dict(zip(("spf", "dkim", "dmarc"), results, strict=True))


async def test_ham_is_no_event_of_spam(agent: Agent) -> None:
    await agent.bring(ALICE, content=b"X-Rspamd-Action: no action\r\nX-Rspamd-Score: 0.10\r\n" + LETTER)
    assert [kind for kind, _ in await events(agent)] == ["mail.received"]


async def test_a_rewritten_sender_is_restored_for_mailboxes_and_the_history(agent: Agent) -> None:
    rewriter = srs.rewriter(agent.api.app.vault, agent.api.app.settings)
    sender = rewriter.rewrite("Some.One+x@far.test", agent.api.clock())
    assert sender
    without_from = b"Subject: Hello\r\n\r\nHi.\r\n"
    for number, each in enumerate((sender, sender.replace("far.test", "near.test"))):
        await agent.bring(ALICE, sender=each, content=without_from, queue_id=f"4jW9T1xz0bz{number}")
    rows = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert [row["from"] for row in reversed(rows)] == ["Some.One+x@far.test", sender.replace("far.test", "near.test")]
    assert agent.dovecot.senders == [row["from"] for row in reversed(rows)]


async def test_spam_for_a_full_mailbox_is_recorded_without_a_bounce(agent: Agent) -> None:
    spam = b"X-Rspamd-Action: add header\r\nX-Rspamd-Score: 9.20\r\n" + LETTER
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    home, full = await agent.bring(ALICE, BOB, content=spam)
    assert (home, full[:3]) == ("250 2.0.0 Saved", "250")
    rows = (await agent.api.sue.get("/messages", direction="inbound", status="rejected")).data
    assert [(row["recipients"][0]["address"], row["recipients"][0]["smtp_code"]) for row in rows] == [(BOB, 552)]
    agent.dovecot.says = {BOB: SmtpReply(451, "4.2.0", "Locked")}
    assert await agent.bring(BOB, content=spam, queue_id="4jW9T1xz0bz2") == ["451 4.2.0 Locked"]
    agent.dovecot.says = {BOB: SmtpReply(552, "5.2.2", "Mailbox full")}
    (answer,) = await agent.bring(BOB, queue_id="4jW9T1xz0bz3")
    assert answer.startswith("250 ")


async def test_a_delivery_field_that_comes_along_is_taken_out(agent: Agent) -> None:
    received = LETTER[: LETTER.index(b"From:")]
    forged = b"Subject: a\r\nx-mailkeep-delivery : forged\r\n folded\r\nTo: b@x\r\n\r\nX-Mailkeep-Delivery: body\r\n"
    await agent.bring(ALICE, content=received + forged)
    (content,) = agent.dovecot.copies
    kept = b"Subject: a\r\nTo: b@x\r\n\r\nX-Mailkeep-Delivery: body\r\n"
    assert content == b"X-Mailkeep-Delivery: 4jW9T1xz0bz1\r\n" + received + kept


async def test_dots_and_large_messages_come_through_unchanged(agent: Agent) -> None:
    body = b"Subject: x\r\n\r\n.\r\n..two\r\n" + b"0123456789abcde\r\n" * 40_000
    assert await agent.bring(ALICE, content=body.replace(b"\r\n.", b"\r\n..")) == ["250 2.0.0 Saved"]
    (content,) = agent.dovecot.copies
    assert content.split(b"\r\n", 1)[1] == body


async def test_many_at_once_are_filed_each_once(agent: Agent) -> None:
    answers = await asyncio.gather(*(agent.bring(ALICE, BOB, queue_id=f"4jW9T1xz{n:04d}") for n in range(60)))
    assert answers == [["250 2.0.0 Saved"] * 2] * 60
    assert len(await events(agent)) == 120


async def test_dovecot_gets_the_address_that_was_written_to(agent: Agent) -> None:
    """For vacation replies: a message to an alias is addressed to the mailbox."""
    asked = {ALICE: f"sales+2Bspring@{EXAMPLE}", BOB: BOB}
    assert await agent.bring(ALICE, BOB, asked=asked) == ["250 2.0.0 Saved"] * 2
    assert agent.dovecot.originals == [f"sales+spring@{EXAMPLE}", BOB]


async def test_the_parsed_message_is_published_to_subscribers(agent: Agent) -> None:
    settings = agent.api.app.settings
    agent.api.app.settings = replace(settings, events=replace(settings.events, received_full=True))
    await agent.bring(ALICE, asked={ALICE: f"sales@{EXAMPLE}"})
    published = dict(await events(agent))
    assert published["mail.received.full"]["envelope"] == {
        "mail_from": "someone@far.test", "rcpt_to": [f"sales@{EXAMPLE}"],
    }  # fmt: skip
    assert len(await agent.api.sql("SELECT queue_id FROM event_payloads")) == 1


@pytest.mark.parametrize(
    "forwarded, source",
    [
        ("NAME=localhost ADDR=127.0.0.1 PORT=[UNAVAILABLE] IDENT=4jW9T1xz0bz1 SOURCE=REMOTE", "system"),
        ("NAME=localhost ADDR=127.0.0.1 PORT=0 IDENT=4jW9T1xz0bz1 SOURCE=REMOTE", "system"),
        ("NAME=localhost ADDR=127.0.0.1 PORT=4711 IDENT=4jW9T1xz0bz1 SOURCE=REMOTE", "smtp"),
        ("NAME=[UNAVAILABLE] ADDR=[UNAVAILABLE] SOURCE=LOCAL", "system"),
    ],
)
async def test_mail_of_our_own_is_of_the_system(agent: Agent, forwarded: str, source: str) -> None:
    await agent.bring(ALICE, forwarded=forwarded)
    (row,) = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert row["source"] == source


async def test_a_bounce_has_its_queue_id_in_the_field_on_top(agent: Agent) -> None:
    bounce = (
        b"Received: by mx.lab.test (Postfix)\r\n\tid 4jWyWl542hz1WHfS; Sat, 21 Nov 2026 16:36:19 +0000 (UTC)\r\n"
        b"Received: from x by y (Postfix) with ESMTP id 4jWyWl542hz1WHf9; Sat, 21 Nov 2026 16:36:18 +0000\r\n"
    ) + LETTER
    for expected in ("250 2.0.0 Saved", "250 2.0.0 Already delivered"):
        assert await agent.bring(ALICE, content=bounce, forwarded="SOURCE=LOCAL") == [expected]
    (row,) = (await agent.api.sue.get("/messages", direction="inbound")).data
    assert row["queue_id"] == "4jWyWl542hz1WHfS"
