"""Decisions at RCPT and at the end of DATA, and the history of what was refused."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core import failpoint
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.policy.service import PolicyServer
from mailkeep.features.mailflow.receiving.rules import DENIED, REFUSED
from mailkeep.features.mailflow.verdicts import service as verdicts
from mailkeep.mail.postfix.policy import DUNNO
from mailkeep.run.processes.keys import KeysListener
from tests.mailflow.delivery_status.test_outcomes import Log, kinds
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api

ALICE, BOB = f"alice@{EXAMPLE}", f"bob@{EXAMPLE}"
ANN, CLIENT = "ann@good.test", "192.0.2.5"
_ID = "4jW9T1xz0bz1"
PROVED = "spf=pass; dkim=none; dmarc=pass; from=pass"


@pytest.fixture
def hits(api: Api) -> HitCounter:
    return HitCounter(api.app)


@pytest.fixture
def log(api: Api, tmp_path: Path) -> Log:
    return Log(api, tmp_path / "log" / "mail.log")


@pytest.fixture
async def mailboxes(api: Api) -> dict[str, UUID]:
    """alice and bob; `away` forwards, `both` forwards and keeps a copy for bob; the server rejects from 15 on."""
    await api.sql("UPDATE filter_settings SET junk_score = 6, reject_score = 15")
    found = {ALICE: await api.mailbox(ALICE), BOB: await api.mailbox(BOB)}
    await api.alias(f"away@{EXAMPLE}", ["x@far.test"])
    await api.alias(f"both@{EXAMPLE}", [BOB, "x@far.test"])
    return found


async def set_scores(api: Api, *, junk: float | None = None, reject: float | None = None, **scope: UUID) -> None:
    """Thresholds of a `mailbox_id` or `domain_id`."""
    ids = {"domain_id": None, "mailbox_id": None, **scope}
    await api.sql(
        "INSERT INTO filter_settings (domain_id, mailbox_id, junk_score, reject_score, updated_at) "
        "VALUES (%(domain_id)s, %(mailbox_id)s, %(junk)s, %(reject)s, %(at)s)",
        **ids, junk=junk, reject=reject, at=api.clock(),
    )  # fmt: skip


async def ask(api: Api, hits: HitCounter, *recipients: str, **changed: Any) -> tuple[str, bool]:
    """The action (empty: accepted) and whether the message is diverted."""
    facts: dict[str, Any] = {
        "queue_id": _ID, "score": "1.00", "auth": PROVED, "author": ANN, "mail_from": ANN, "client": CLIENT,
        "recipients": "\n".join(recipients), "symbols": "A B", "from": ANN, "subject": "Hi", "message_id": "<1@x>",
        "size": 5, "refused_by": "", "junk_rule": "", **changed,
    }  # fmt: skip
    status, body = await KeysListener(api.app, hits).answer("/verdict/" + json.dumps(facts, ensure_ascii=False))
    answer = json.loads(body)
    assert status == 200
    return answer.get("action", ""), answer["spam"]


@pytest.mark.parametrize(
    "recipients, score, expected",
    [
        ([ALICE], 1, ("", False)),
        ([ALICE], 8, ("", True)),
        ([ALICE], 15, ("reject", True)),
        ([ALICE, BOB], 15, ("", True)),
        ([BOB], 15, ("", False)),
        ([f"away@{EXAMPLE}"], 5, ("", False)),
        ([f"away@{EXAMPLE}"], 6, ("reject", True)),
        ([f"both@{EXAMPLE}"], 6, ("", True)),
        ([ALICE, f"away@{EXAMPLE}"], 16, ("reject", True)),
        ([ALICE, f"away@{EXAMPLE}"], 8, ("", True)),
        (["nobody@example.com", ALICE], 16, ("", True)),
        (["x@far.test"], 99, ("", False)),
        ([], 99, ("", False)),
        ([f'"alice"@{EXAMPLE}', f"ALICE+tag@{EXAMPLE}"], 16, ("reject", True)),
    ],
)
async def test_a_message_is_refused_only_by_all_destinations(
    api: Api,
    hits: HitCounter,
    mailboxes: dict[str, UUID],
    recipients: list[str],
    score: int,
    expected: tuple[str, bool],
) -> None:
    await set_scores(api, junk=0, reject=0, mailbox_id=mailboxes[BOB])
    assert await ask(api, hits, *recipients, score=f"{score}.00") == expected


async def test_external_copies_follow_the_thresholds_of_their_domain(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID]
) -> None:
    await set_scores(api, junk=9, domain_id=DOMAIN_IDS[EXAMPLE])
    await api.alias(f"away@{OTHER}", ["x@far.test"])
    assert await ask(api, hits, f"away@{EXAMPLE}", score="8.00") == ("", False)
    assert await ask(api, hits, f"away@{OTHER}", score="8.00") == ("reject", True)
    assert await ask(api, hits, f"away@{EXAMPLE}", f"away@{OTHER}", score="8.00") == ("", True)


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({}, ("", False)),
        ({"auth": "spf=fail; from=fail"}, ("reject", True)),
        ({"auth": "dmarc=temperror; from=temperror"}, ("soft reject", True)),
        ({"refused_by": "virus"}, ("reject", True)),
        ({"refused_by": "gtube"}, ("reject", False)),
        ({"junk_rule": "encrypted"}, ("", True)),
        ({"score": "nan"}, ("", False)),
        ({"subject": "a\0b\n\ud7ff"}, ("", False)),
    ],
)
async def test_proof_of_the_author_and_the_rules_of_other_modules(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID], changed: dict[str, str], expected: tuple[str, bool]
) -> None:
    await api.filter_entry(ANN, "allow", mailbox_id=mailboxes[ALICE])
    assert await ask(api, hits, ALICE, **{"score": "30.00", **changed}) == expected


async def test_messages_that_are_decided_in_one_statement_have_their_own_verdicts(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID]
) -> None:
    await api.filter_entry(ANN, mailbox_id=mailboxes[ALICE])
    await set_scores(api, junk=5, reject=0, mailbox_id=mailboxes[BOB])
    asked: list[tuple[list[str], dict[str, str], tuple[str, bool]]] = [
        ([ALICE], {}, ("reject", True)),
        ([ALICE], {"mail_from": "x@far.test", "author": "x@far.test"}, ("", False)),
        ([BOB], {"score": "6.00"}, ("", True)),
        ([BOB, ALICE], {}, ("", True)),
        ([f"nobody@{EXAMPLE}"], {}, ("", False)),
        ([], {}, ("", False)),
    ]
    found = await asyncio.gather(*(ask(api, hits, *to, **changed) for to, changed, _ in asked * 3))
    assert found == [expected for *_, expected in asked * 3]


async def test_at_rcpt_all_destinations_must_deny_and_postmaster_never_does(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID]
) -> None:
    await api.filter_entry(ANN, mailbox_id=mailboxes[ALICE])
    await api.filter_entry("192.0.2.0/24", kind="network", mailbox_id=mailboxes[BOB])
    await api.alias(f"team@{EXAMPLE}", [ALICE, BOB])
    await api.alias(f"abuse@{EXAMPLE}", [ALICE])

    async def refuses(recipient: str, sender: str = ANN, client: str = "198.51.100.1") -> bool:
        request = {
            "request": "smtpd_access_policy", "protocol_state": "RCPT", "policy_context": "denying",
            "recipient": recipient, "sender": sender, "client_address": client, "instance": "1.2.3.0",
        }  # fmt: skip
        action = await PolicyServer(api.app, hits).answer(request)
        assert action in (DUNNO, str(DENIED))
        return action != DUNNO

    asked = {name: await refuses(f"{name}@{EXAMPLE}") for name in ("alice", "bob", "team", "both", "abuse", "nobody")}
    assert asked == {"alice": True, "bob": False, "team": False, "both": False, "abuse": False, "nobody": False}
    assert await refuses(f"team@{EXAMPLE}", client=CLIENT)
    assert not await refuses(ALICE, "other@good.test")
    await hits.flush()
    assert sorted(row["hits"] for row in await api.sql("SELECT hits FROM filter_entries")) == [1, 2]


@pytest.mark.parametrize(
    "local, classes", [("alice", "denying"), ("bob", None), ("both", "expanding"), ("team", "denying")]
)
async def test_postfix_asks_only_about_recipients_with_deny_entries(
    api: Api, mailboxes: dict[str, UUID], local: str, classes: str | None
) -> None:
    await api.alias(f"team@{EXAMPLE}", [ALICE, BOB])

    async def find_classes() -> list[str]:
        rows = await api.sql("SELECT r FROM mta_recipient(%(local)s, %(domain)s) r", local=local, domain=EXAMPLE)
        return [row["r"] for row in rows]

    before = await find_classes()
    assert before == (["expanding"] if local == "both" else [])
    await api.filter_entry(ANN, "allow")
    assert await find_classes() == before
    await api.filter_entry(ANN, mailbox_id=mailboxes[ALICE])
    assert await find_classes() == ([classes] if classes else [])
    await api.filter_entry("192.0.2.0/24", kind="network")
    assert await find_classes() == (["denying, expanding"] if local == "both" else ["denying"])


def refused_line(queue_id: str = _ID, text: str = "5.7.1 Refused by the recipient's filter") -> str:
    return (
        f"inbound/cleanup[9]: {queue_id}: milter-reject: END-OF-MESSAGE from h[{CLIENT}]: {text}; "
        f"from=<{ANN}> to=<{BOB}> proto=ESMTP helo=<h>"
    )


async def die_at(place: str, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that reads the log is killed there, and started again."""

    class Killed(BaseException):
        pass

    def die(name: str) -> None:
        if name == place:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(failpoint, "reach", die)
        with pytest.raises(Killed):
            await log.follower.read_next()
    log.restart()


@pytest.mark.parametrize("place", ["", "log.applied", "log.committed"])
async def test_a_refusal_has_a_row_and_an_event_for_each_recipient_once(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID], log: Log, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    entry_id = await api.filter_entry("good.test", kind="domain", mailbox_id=mailboxes[ALICE])
    assert await ask(api, hits, ALICE, BOB, score="17.00") == ("reject", True)
    assert await ask(api, hits, ALICE, BOB, score="17.00", queue_id="4jW9T1xz0bz2") == ("reject", True)
    log.add(f"mx/smtpd[9]: {_ID}: client=h[{CLIENT}]", f"inbound/cleanup[9]: {_ID}: message-id=<1@x>", refused_line())
    if place:
        await die_at(place, log, monkeypatch)
    await log.read()
    rows = await api.sql("SELECT * FROM messages ORDER BY mailbox_id")
    assert [(row["mailbox_id"], row["queue_id"], row["spam_score"], row["spam_action"]) for row in rows] == [
        (mailboxes[name], _ID, 17.0, "reject") for name in (ALICE, BOB)
    ]
    assert [row["spam_decided_by"] for row in rows] == [
        {"scope": "mailbox", "rule": "deny_entry", "entry_id": str(entry_id)},
        {"scope": "server", "rule": "reject_score", "entry_id": None},
    ]
    assert {(row["subject"], row["client_address"]) for row in rows} == {("Hi", CLIENT)}
    assert await kinds(log) == ["mail.spam", "mail.spam"]
    assert [row["queue_id"] for row in await api.sql("SELECT queue_id FROM refused_mail")] == ["4jW9T1xz0bz2"]
    await hits.flush()
    assert [row["hits"] for row in await api.sql("SELECT hits FROM filter_entries")] == [2]
    api.clock.advance(days=1, seconds=1)
    await delivery_status.prune(api.app)
    assert await api.sql("SELECT queue_id FROM refused_mail") == []


def denied_line(recipient: str) -> str:
    return (
        f"mx/smtpd[9]: NOQUEUE: reject: RCPT from h[{CLIENT}]: 550 5.7.1 <{recipient}>: Recipient address rejected: "
        f"{DENIED.text}; from=<{ANN}> to=<{recipient}> proto=ESMTP helo=<h>"
    )


@pytest.mark.parametrize("place", ["", "log.applied", "log.committed"])
async def test_a_recipient_refused_at_rcpt_has_a_row_with_the_entry_once(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID], log: Log, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    first = await api.filter_entry(ANN, mailbox_id=mailboxes[ALICE])
    odd = f'"a b"@{EXAMPLE}'
    await api.alias(f"a b@{EXAMPLE}", [ALICE])

    async def refuse(recipient: str) -> None:
        assert await verdicts.refuses_recipient(api.app, hits, recipient, ANN, CLIENT)

    await refuse(ALICE)
    await api.sql("DELETE FROM filter_entries")
    second = await api.filter_entry("good.test", kind="domain")
    await refuse(ALICE)
    await refuse(f"a b@{EXAMPLE}")
    await refuse(f"away@{EXAMPLE}")
    log.add(denied_line(ALICE))
    await log.read()
    log.add(*map(denied_line, (ALICE, odd, f"away@{EXAMPLE}")))
    if place:
        await die_at(place, log, monkeypatch)
    await log.read()
    rows = await api.sql("SELECT * FROM messages ORDER BY id")
    alice, by_server = mailboxes[ALICE], {"scope": "server", "rule": "deny_entry", "entry_id": str(second)}
    assert [(row["mailbox_id"], row["spam_decided_by"]) for row in rows] == [
        (alice, {"scope": "mailbox", "rule": "deny_entry", "entry_id": str(first)}),
        (alice, by_server), (alice, by_server), (None, by_server),
    ]  # fmt: skip
    assert {(row["status"], row["spam_action"], row["client_address"]) for row in rows} == {
        ("rejected", "reject", CLIENT)
    }
    assert await kinds(log) == []
    listed = (await api.sue.get(f"/mailboxes/{alice}/junk")).data
    assert [each["result"] for each in listed] == ["refused"] * 3
    assert await api.sql("SELECT FROM denials") == []
    await refuse(ALICE)
    api.clock.advance(days=1, seconds=1)
    await delivery_status.prune(api.app)
    assert await api.sql("SELECT FROM denials") == []


async def test_a_deferral_leaves_what_is_stored(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID], log: Log
) -> None:
    await ask(api, hits, BOB, score="17.00")
    log.add(refused_line(text="4.7.1 Try again later"))
    await log.read()
    assert len(await api.sql("SELECT queue_id FROM refused_mail")) == 1
    assert await kinds(log) == []


async def test_rows_of_refusals_are_limited_for_a_client(
    api: Api, hits: HitCounter, mailboxes: dict[str, UUID], log: Log
) -> None:
    await api.alias(f"@{EXAMPLE}", [BOB])
    recipients = [f"{'x' * 250}{number:04}@{EXAMPLE}" for number in range(1000)]
    assert await ask(api, hits, *recipients, score="17.00") == ("reject", True)
    log.add(refused_line())
    await log.read()
    assert (await api.sql("SELECT count(*) FROM messages"))[0]["count"] == 60
    assert REFUSED.text in str(await api.sql("SELECT diagnostic FROM message_recipients LIMIT 1"))
