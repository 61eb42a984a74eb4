"""External copies of a diverted message are forwarded once, or refused by the domain that would forward them."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import failpoint
from mailkeep.mail.smtp.reply import SmtpReply
from tests.mailflow.delivery_status.test_outcomes import Log
from tests.mailflow.local_delivery.lmtp_dialogue import Agent, running
from tests.mailflow.local_delivery.test_copies import DIVERTED, add_entry, set_scores
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

ALICE, FRIEND, SALES, TEAM = f"alice@{EXAMPLE}", "friend@far.test", f"sales@{EXAMPLE}", f"team@{OTHER}"
SENDER = "SRS0=AAAA=BB=far.test=someone@mx.test"
FORWARDED, REFUSED = "250 2.0.0 Forwarded", "250 2.0.0 Spam is not forwarded"


@pytest.fixture
async def agent(api: Api) -> AsyncIterator[Agent]:
    strict = await api.mailbox(ALICE)
    await set_scores(api, 4, mailbox_id=strict)
    await api.alias(SALES, [ALICE, FRIEND])
    await api.alias(TEAM, [FRIEND, "second@far.test"])
    # A socket's path has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="mk-") as folder:
        async with running(api, Path(folder)) as opened:
            await opened.start()
            yield opened


async def bring(agent: Agent, *recipients: str, original: str = TEAM) -> list[str]:
    asked = dict.fromkeys(recipients, original)
    return await agent.bring(*recipients, asked=asked, content=DIVERTED, sender=SENDER)


async def caught_up(api: Api) -> None:
    """The log has been read to now."""
    await api.sql(
        "INSERT INTO mail_logs (name, caught_up_at) VALUES ('mail', %(at)s)"
        " ON CONFLICT (name) DO UPDATE SET caught_up_at = %(at)s",
        at=api.clock(),
    )


def accepted_in_log(log: Log, agent: Agent, queue_id: str) -> None:
    about = f"from h[127.0.0.1]; from=<{SENDER}> to=<{FRIEND}> proto=ESMTP helo=<h>"
    log.add(
        f"returned/smtpd[9]: {queue_id}: client=localhost[127.0.0.1]",
        f"returned/cleanup[9]: {queue_id}: strip: header X-Mailkeep-Copy: {agent.postfix.marker} {about}",
        f"returned/cleanup[9]: {queue_id}: info: header Subject: Hello {about}",
        f"returned/cleanup[9]: {queue_id}: message-id=<1@far.test>",
        f"qmgr[9]: {queue_id}: from=<{SENDER}>, size=700, nrcpt=1 (queue active)",
    )


async def copies(api: Api) -> list[tuple[str, str, str]]:
    rows = await api.sql("SELECT recipient, domain_name, state FROM external_copies ORDER BY recipient")
    return [(row["recipient"], row["domain_name"], row["state"]) for row in rows]


async def outbound(api: Api) -> list[dict[str, Any]]:
    return (await api.sue.get("/messages", direction="outbound")).data


async def test_a_strict_mailbox_does_not_stop_the_copy_of_another_domain(agent: Agent) -> None:
    asked = {ALICE: SALES, FRIEND: TEAM, "second@far.test": TEAM}
    replies = await agent.bring(*asked, asked=asked, content=DIVERTED, sender=SENDER)
    assert replies == ["250 2.0.0 Saved", FORWARDED, FORWARDED]
    ((sender, recipients, content),) = agent.postfix.accepted
    assert (sender, recipients) == (SENDER, [FRIEND, "second@far.test"])
    assert content.count(b"X-Rspamd") == content.count(b"X-Spam:") == 0
    assert b"X-Spam: Yes" in agent.dovecot.copies[0]
    # A second attempt of Postfix forwards nothing again.
    assert (await bring(agent, FRIEND, "second@far.test")) == [FORWARDED] * 2
    assert len(agent.postfix.accepted) == 1


async def test_the_forwarding_domain_refuses_by_its_own_thresholds_and_lists(agent: Agent) -> None:
    api = agent.api
    await set_scores(api, 5, domain_id=DOMAIN_IDS[EXAMPLE])
    assert await bring(agent, FRIEND, original=SALES) == [REFUSED]
    assert agent.postfix.accepted == []
    (row,) = (await api.sue.get("/messages", direction="inbound")).data
    assert (row["status"], row["domain_id"], row["recipients"][0]["address"]) == (
        "rejected", str(DOMAIN_IDS[EXAMPLE]), SALES,
    )  # fmt: skip
    assert (row["spam"]["action"], row["spam"]["decided_by"]["scope"]) == ("reject", "domain")
    published = await api.sql("SELECT kind, data->>'spam_action' AS action FROM events")
    assert published == [{"kind": "mail.spam", "action": "reject"}]
    # Once, whatever Postfix repeats; another domain that forwards to the same address may.
    assert await bring(agent, FRIEND, original=SALES) == [REFUSED]
    assert len((await api.sue.get("/messages", direction="inbound")).data) == 1
    entry = await add_entry(api, "deny", "domain", "far.test", domain_id=DOMAIN_IDS[OTHER])
    assert await agent.bring("second@far.test", asked={"second@far.test": TEAM}, content=DIVERTED) == [REFUSED]
    (row, _) = (await api.sue.get("/messages", direction="inbound")).data
    assert row["spam"]["decided_by"] == {"scope": "domain", "rule": "deny_entry", "entry_id": entry}


async def test_two_domains_that_forward_to_an_address_send_it_one_copy(agent: Agent) -> None:
    await set_scores(agent.api, 5, domain_id=DOMAIN_IDS[EXAMPLE])
    pairs = [f"{FRIEND} {SALES}", f"{FRIEND} {TEAM}", f"{FRIEND} {TEAM}"]
    assert await agent.bring(*pairs, content=DIVERTED, sender=SENDER) == [FORWARDED] * 3
    assert [recipients for _, recipients, _ in agent.postfix.accepted] == [[FRIEND]]
    assert await copies(agent.api) == [(FRIEND, OTHER, "returned")]


async def test_the_log_gives_the_copy_to_the_forwarding_domain(agent: Agent, tmp_path: Path) -> None:
    log = Log(agent.api, tmp_path / "log" / "mail.log")
    await bring(agent, FRIEND)
    accepted_in_log(log, agent, "4kBCDFGHJK1")
    await log.read()
    log.tried("4kBCDFGHJK1", FRIEND)
    log.removed("4kBCDFGHJK1")
    await log.read()
    (row,) = await outbound(agent.api)
    assert (row["source"], row["domain_id"], row["queue_id"], row["to"], row["status"], row["subject"]) == (
        "system", str(DOMAIN_IDS[OTHER]), "4kBCDFGHJK1", [TEAM], "delivered", "Hello",
    )  # fmt: skip
    assert row["recipients"][0]["address"] == FRIEND


@pytest.mark.parametrize(
    "place, is_accepted",
    [
        ("copies.marked", False),
        ("submit.dot_sent", False),
        ("submit.dot_sent", True),
        ("copies.returned", True),
    ],
)
async def test_after_a_crash_the_log_decides(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, is_accepted: bool
) -> None:
    """Killed after the marker was committed, and after Postfix has the copy: neither lost nor sent twice."""
    api, log = agent.api, Log(agent.api, tmp_path / "log" / "mail.log")

    def die(name: str) -> None:
        if name == place:
            raise ConnectionError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        assert (await bring(agent, FRIEND))[0].startswith("451")
    before = len(agent.postfix.accepted)
    await agent.start()
    (reply,) = await bring(agent, FRIEND)
    assert reply.startswith("451 4.3.0 It may have been forwarded")
    await caught_up(api)
    assert (await bring(agent, FRIEND))[0].startswith("451"), "the attempt may still run"
    if is_accepted:
        accepted_in_log(log, agent, "4kBCDFGHJK1")
        await log.read()
    api.clock.advance(seconds=70)
    await caught_up(api)
    assert await bring(agent, FRIEND) == [FORWARDED]
    assert len(agent.postfix.accepted) == before + (not is_accepted)
    assert await copies(api) == [(FRIEND, OTHER, "returned")]


async def test_a_postfix_that_refuses_or_does_not_answer(agent: Agent) -> None:
    agent.postfix.refuses = {"second@far.test": SmtpReply(550, "5.1.1", "No"), FRIEND: SmtpReply(451, "4.3.0", "Later")}
    assert await bring(agent, FRIEND, "second@far.test") == ["451 4.3.0 Later"] * 2
    del agent.postfix.refuses[FRIEND]
    assert await bring(agent, FRIEND, "second@far.test") == [FORWARDED, "550 5.1.1 No"]
    agent.postfix.refuses, agent.postfix.silent = {}, 1
    await agent.start()
    (reply,) = await bring(agent, "second@far.test")
    assert reply.startswith("451 4.3.0 It may have been forwarded")
    agent.api.clock.advance(seconds=70)
    await caught_up(agent.api)
    assert await bring(agent, "second@far.test") == [FORWARDED]
