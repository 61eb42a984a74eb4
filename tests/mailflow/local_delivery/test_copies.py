"""One message, a verdict for each mailbox: one LMTP transaction for each group of equal verdicts."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.mail.smtp.reply import SmtpReply
from tests.mailflow.local_delivery.lmtp_dialogue import LETTER, Agent, running
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

ALICE, BOB, CAROL = (f"{name}@{EXAMPLE}" for name in ("alice", "bob", "carol"))
SCANNED = (
    b"X-Spamd-Result: default: False [5.00 / 15.00]; LAB(5.00)[x]\r\nX-Rspamd-Action: no action\r\n"
    b"X-Rspamd-Score: 5.00\r\nX-Rspamd-Auth: spf=pass; dkim=none; dmarc=none; from=pass\r\n"
    b"X-Rspamd-Author: someone@far.test\r\n"
) + LETTER
DIVERTED = b"X-Spam: Yes\r\n" + SCANNED


@pytest.fixture
async def agent(api: Api) -> AsyncIterator[Agent]:
    # A socket's path has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        async with running(api, Path(folder)) as opened:
            yield opened


async def set_scores(api: Api, junk: float | None, reject: float | None = None, **scope: Any) -> None:
    """Thresholds of a mailbox or domain."""
    await api.sql(
        "INSERT INTO filter_settings (domain_id, mailbox_id, junk_score, reject_score, updated_at)"
        " VALUES (%(domain_id)s, %(mailbox_id)s, %(junk)s, %(reject)s, 'epoch')"
        " ON CONFLICT (domain_id, mailbox_id) DO UPDATE SET junk_score = %(junk)s, reject_score = %(reject)s",
        **{"domain_id": None, "mailbox_id": None} | scope, junk=junk, reject=reject,
    )  # fmt: skip


async def add_entry(api: Api, which: str, kind: str, value: str, **scope: Any) -> str:
    """A list entry; returns its ID."""
    (row,) = await api.sql(
        "INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, created_by, created_at)"
        " VALUES (gen_random_uuid(), %(domain_id)s, %(mailbox_id)s, %(list)s, %(kind)s, %(value)s, 'test', 'epoch')"
        " RETURNING id",
        **{"domain_id": None, "mailbox_id": None} | scope, list=which, kind=kind, value=value,
    )  # fmt: skip
    return str(row["id"])


def fields(content: bytes) -> list[str]:
    """Our fields of a copy, and the filter's, without the delivery field."""
    lines = content.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return [line for line in lines if line.startswith(("X-Spam:", "X-Rspamd", "X-Mailkeep-V"))]


async def history(api: Api) -> dict[str, dict[str, Any]]:
    rows = (await api.sue.get("/messages", direction="inbound", order="asc")).data
    return {row["recipients"][0]["address"]: row for row in rows}


async def test_three_mailboxes_have_three_verdicts(agent: Agent) -> None:
    api = agent.api
    strict, lenient, plain = [await api.mailbox(each) for each in (ALICE, BOB, CAROL)]
    await set_scores(api, 4, mailbox_id=strict)
    await set_scores(api, 3, 5, mailbox_id=lenient)
    assert await agent.bring(ALICE, BOB, CAROL, content=DIVERTED) == ["250 2.0.0 Saved"] * 3
    assert sorted(fields(copy) for copy in agent.dovecot.copies) == sorted(
        [
            ["X-Spam: Yes", "X-Mailkeep-Verdict: junk; score=5.00; rule=junk_score; scope=mailbox"],
            ["X-Spam: Yes", "X-Mailkeep-Verdict: junk; score=5.00; rule=reject_score; scope=mailbox"],
            ["X-Mailkeep-Verdict: inbox; score=5.00"],
        ]
    )
    assert all(b"X-Spamd-Result: default" in copy for copy in agent.dovecot.copies)
    rows = await history(api)
    assert {each: (row["spam"]["action"], row["spam"]["score"]) for each, row in rows.items()} == {
        ALICE: ("add header", 5), BOB: ("add header", 5), CAROL: ("no action", 5),
    }  # fmt: skip
    assert rows[BOB]["spam"]["decided_by"] == {"scope": "mailbox", "rule": "reject_score", "entry_id": None}
    assert rows[CAROL]["spam"]["decided_by"] is None
    spam = await api.sql("SELECT count(*) AS n FROM events WHERE kind = 'mail.spam'")
    assert spam == [{"n": 2}]
    # A changed threshold holds for the next message.
    await set_scores(api, 6, mailbox_id=strict)
    await set_scores(api, 4, mailbox_id=plain)
    await agent.bring(ALICE, CAROL, content=DIVERTED, queue_id="4jW9T1xz0bz2")
    assert [fields(copy)[0] for copy in agent.dovecot.copies[3:]] == [
        "X-Mailkeep-Verdict: inbox; score=5.00", "X-Spam: Yes",
    ]  # fmt: skip


async def test_equal_verdicts_are_one_transaction(agent: Agent) -> None:
    for each in (ALICE, BOB, CAROL):
        await agent.api.mailbox(each)
    await agent.bring(ALICE, BOB, CAROL, content=SCANNED)
    assert len(agent.dovecot.doubts) == 1
    await agent.bring(ALICE, BOB, CAROL, queue_id="4jW9T1xz0bz2", forwarded="SOURCE=LOCAL IDENT=4jW9T1xz0bz2")
    assert len(agent.dovecot.doubts) == 2
    assert fields(agent.dovecot.copies[-1]) == []


async def test_entries_decide_and_count_once_for_a_message(agent: Agent) -> None:
    api = agent.api
    mailboxes = [await api.mailbox(each) for each in (ALICE, BOB, CAROL)]
    denied = await add_entry(api, "deny", "domain", "far.test", domain_id=DOMAIN_IDS[EXAMPLE])
    allowed = await add_entry(api, "allow", "address", "someone@far.test", mailbox_id=mailboxes[0])
    network = await add_entry(api, "allow", "network", "192.0.2.0/24", mailbox_id=mailboxes[1])
    await agent.bring(ALICE, BOB, CAROL, content=SCANNED)
    rows = await history(api)
    assert {each: (row["spam"]["action"], row["spam"]["decided_by"]["entry_id"]) for each, row in rows.items()} == {
        ALICE: ("no action", allowed), BOB: ("no action", network), CAROL: ("add header", denied),
    }  # fmt: skip
    # Without proof of the author the allow entry for an address does not apply.
    forged = SCANNED.replace(b"from=pass", b"from=fail")
    await agent.bring(ALICE, queue_id="4jW9T1xz0bz2", content=forged)
    assert (await history(api))[ALICE]["spam"]["decided_by"]["entry_id"] == denied
    await agent.handler.hits.flush()
    hits = {str(row["id"]): row["hits"] for row in await api.sql("SELECT id, hits FROM filter_entries")}
    assert hits == {denied: 2, allowed: 1, network: 1}


@pytest.mark.parametrize(
    "content, action, rule",
    [
        (b"X-Spam: Yes\r\n" + LETTER, "add header", "no_verdict"),
        (DIVERTED, "no action", None),
        (b"X-Rspamd-Action: no action\r\nX-Rspamd-Score: 7\r\n" + LETTER, "add header", "junk_score"),
        (b"X-Rspamd-Virus: encrypted\r\n" + DIVERTED, "add header", "encrypted"),
    ],
)
async def test_a_message_without_a_verdict_is_decided_by_its_score(
    agent: Agent, content: bytes, action: str, rule: str | None
) -> None:
    await agent.api.mailbox(ALICE)
    await agent.bring(ALICE, content=content)
    spam = (await history(agent.api))[ALICE]["spam"]
    assert (spam["action"], (spam["decided_by"] or {}).get("rule")) == (action, rule)


async def test_verdict_fields_of_our_own_mail_decide_nothing(agent: Agent) -> None:
    """A redirected message has those of its first delivery."""
    await agent.api.mailbox(ALICE)
    await agent.bring(ALICE, content=DIVERTED, forwarded="SOURCE=LOCAL IDENT=4jW9T1xz0bz1")
    assert (await history(agent.api))[ALICE]["spam"]["action"] is None
    assert fields(agent.dovecot.copies[0]) == []


@pytest.mark.parametrize("place", ["lmtp.handed_over", "lmtp.recorded"])
async def test_killed_between_two_groups_nothing_is_lost_or_doubled(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    strict = await agent.api.mailbox(ALICE)
    await agent.api.mailbox(BOB)
    await set_scores(agent.api, 4, mailbox_id=strict)

    def die(name: str) -> None:
        if name == place:
            raise ConnectionError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        assert (await agent.bring(ALICE, BOB, content=DIVERTED))[0].startswith("451")
    assert len(agent.dovecot.copies) == 1
    await agent.start()
    again = await agent.bring(ALICE, BOB, content=DIVERTED)
    first = "250 2.0.0 Already delivered" if place == "lmtp.recorded" else "250 2.0.0 Saved"
    assert again == [first, "250 2.0.0 Saved"]
    assert len(agent.dovecot.copies) == 2
    rows = await history(agent.api)
    assert {each: row["spam"]["action"] for each, row in rows.items()} == {ALICE: "add header", BOB: "no action"}


async def test_a_full_mailbox_beside_another_verdict(agent: Agent) -> None:
    strict = await agent.api.mailbox(ALICE)
    await agent.api.mailbox(BOB)
    await set_scores(agent.api, 4, mailbox_id=strict)
    agent.dovecot.says = {ALICE: SmtpReply(552, "5.2.2", "Mailbox full")}
    full, saved = await agent.bring(ALICE, BOB, content=DIVERTED)
    assert (full[:3], saved) == ("250", "250 2.0.0 Saved")
    rows = await history(agent.api)
    assert {each: row["status"] for each, row in rows.items()} == {ALICE: "rejected", BOB: "received"}
