"""The verdicts on messages that API keys submit, and what Postfix's log does with them afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.address import parse_address
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.record.messages.content import content_folder
from mailkeep.mail.message.bounce_address import bounce_address
from mailkeep.mail.milter import protocol
from mailkeep.mail.milter.server import Verdict
from tests.mailflow.key_submission.program import FULL, HEAD, SHOP, Log, Program
from tests.support.client import EXAMPLE, OTHER, Api


@pytest.fixture
async def program(api: Api) -> Program:
    _, key_id = await api.key(api.adam)
    return Program(api, key_id)


@pytest.fixture
def log(api: Api, tmp_path: Path) -> Log:
    return Log(api, tmp_path / "log" / "mail.log")


async def counts(api: Api) -> dict[str, int]:
    rows = await api.sql("SELECT subject, recipients FROM send_counts WHERE recipients > 0")
    return {row["subject"]: row["recipients"] for row in rows}


async def rows(api: Api) -> Sequence[Any]:
    return (await api.sue.get("/messages", direction="outbound")).data


async def test_an_accepted_message_is_in_the_history_when_the_log_shows_it(
    api: Api, program: Program, log: Log
) -> None:
    verdict = await program.submit("a@far.test", "hidden@far.test", tags="one, two", head=HEAD)
    assert verdict.reply == protocol.ACCEPT
    assert await counts(api) == {SHOP: 2, EXAMPLE: 2}
    assert await rows(api) == []
    await log.accept(program.queue_id)
    (row,) = await rows(api)
    found = (await api.sue.get(f"/messages/{row['id']}")).data
    assert (found["source"], found["api_key_id"], found["tags"]) == ("smtp", str(program.key_id), ["one", "two"])
    assert (found["subject"], found["from"], found["to"], found["size"]) == ("Hello", SHOP, ["a@far.test"], 700)
    keys = [parse_address(each).key for each in ("a@far.test", "hidden@far.test")]
    assert verdict.changes.sender == bounce_address(api.app.vault, UUID(row["id"]), keys, EXAMPLE)
    assert verdict.changes.removed_fields == [("X-Mailkeep-Tags", 1)]
    # The message has neither Date nor Message-ID.
    assert [name for name, _ in verdict.changes.added_fields] == ["Date", "Message-ID"]
    assert found["message_id"] == f"<{row['id']}@{EXAMPLE}>"
    content = (await api.sue.get(f"/messages/{row['id']}/raw")).body
    assert content.startswith(b"Date: ")
    assert content.endswith(b"Subject: Hello\r\n\r\nHello.\r\n")
    (event,) = await api.sql("SELECT kind, data FROM events")
    assert (event["kind"], event["data"]["tags"]) == ("mail.sent", ["one", "two"])


async def test_the_history_lists_the_messages_of_a_key(api: Api, program: Program, log: Log) -> None:
    sending, sending_id = await api.key(api.adam, permissions="sending")
    assert (await program.submit()).reply == protocol.ACCEPT
    await log.accept(program.queue_id)
    assert len((await api.sue.get("/messages", api_key_id=str(program.key_id))).data) == 1
    assert (await api.sue.get("/messages", api_key_id=str(sending_id))).data == []
    assert (await sending.get("/messages", api_key_id=str(program.key_id))).data == []


async def test_a_claim_is_pending_until_the_log_shows_the_acceptance(api: Api, program: Program, log: Log) -> None:
    assert (await program.submit(key="k")).reply == protocol.ACCEPT
    first = program.queue_id
    assert (await program.replies(key="k")).startswith("451 4.7.1 ")
    assert (await program.replies(key="k", body=b"Bye.\r\n")).startswith("550 5.7.1 ")
    assert (await program.submit(key="other")).reply == protocol.ACCEPT
    await log.accept(first)
    assert await program.submit(key="k") == Verdict(protocol.DISCARD)
    assert (await program.replies(key="k", body=b"Bye.\r\n")).startswith("550 5.7.1 ")
    assert await counts(api) == {SHOP: 2, EXAMPLE: 2}
    assert len(await rows(api)) == 1
    # Another key has its own claims, and a claim ends after a day.
    _, other = await api.key(api.adam)
    assert (await Program(api, other, program.numbers).submit(key="k", body=b"Bye.\r\n")).reply == protocol.ACCEPT
    api.clock.advance(hours=24)
    assert (await program.submit(key="k", body=b"Bye.\r\n")).reply == protocol.ACCEPT


async def test_a_replay_is_discarded_whatever_has_changed(api: Api, program: Program, log: Log) -> None:
    assert (await program.submit(key="k")).reply == protocol.ACCEPT
    await log.accept(program.queue_id)
    await api.suppression("a@far.test")
    assert await program.submit(key="k") == Verdict(protocol.DISCARD)


async def test_what_the_filter_behind_refuses_is_uncounted_and_can_be_repeated(
    api: Api, program: Program, log: Log
) -> None:
    assert (await program.submit(key="k")).reply == protocol.ACCEPT
    assert len(list(content_folder(api.app.data_dir).glob("*/*.eml"))) == 1
    await log.refuse(program.queue_id)
    assert await counts(api) == {}
    assert not list(content_folder(api.app.data_dir).glob("*/*.eml"))
    assert (await program.submit(key="k")).reply == protocol.ACCEPT
    await log.accept(program.queue_id)
    assert await counts(api) == {SHOP: 1, EXAMPLE: 1}
    assert len(await rows(api)) == 1


async def test_what_neither_log_nor_queue_has_is_freed_once_the_log_is_read(
    api: Api, program: Program, log: Log
) -> None:
    for key in ("k", "queued", "accepted"):
        assert (await program.submit(key=key)).reply == protocol.ACCEPT
    first, queued, accepted = (f"4jW9T1xz0bz{number}" for number in (1, 2, 3))
    await log.accept(accepted)
    api.clock.advance(minutes=16)
    listed_at = api.clock()
    assert await delivery_status.free_unaccepted(api.app, {queued}, listed_at) == 0  # the log is not read so far
    api.clock.advance(seconds=10)
    await log.read()
    assert await delivery_status.free_unaccepted(api.app, {queued}, listed_at - timedelta(minutes=2)) == 0
    assert await delivery_status.free_unaccepted(api.app, {queued}, listed_at) == 1
    assert await counts(api) == {SHOP: 2, EXAMPLE: 2}
    left = await api.sql("SELECT queue_id FROM submission_envelopes ORDER BY queue_id")
    assert [each["queue_id"] for each in left] == [queued, accepted]
    assert first not in left
    assert (await program.submit(key="k")).reply == protocol.ACCEPT
    assert (await program.replies(key="queued")).startswith("451 4.7.1 ")


async def test_suppressed_recipients_are_removed_and_not_counted(api: Api, program: Program, log: Log) -> None:
    suppression = await api.suppression("gone@far.test")
    verdict = await program.submit("a@far.test", "GONE@far.test")
    assert verdict.changes.removed_recipients == ["GONE@far.test"]
    assert await counts(api) == {SHOP: 1, EXAMPLE: 1}
    await log.accept(program.queue_id)
    events = await api.sql("SELECT kind, data FROM events ORDER BY id")
    assert [each["kind"] for each in events] == ["mail.sent", "mail.suppressed"]
    assert events[1]["data"]["suppression_id"] == str(suppression)
    assert (await program.replies("gone@far.test")).startswith("550 5.7.1 ")
    await api.suppression("a@far.test", OTHER)
    assert (await program.submit("a@far.test")).changes.removed_recipients == []
    # Postfix delivers to other spellings of the address.
    for spelling in ('"gone"@far.test', "gone@far.test."):
        assert (await program.replies("a@far.test", spelling)).startswith("553 5.1.3 ")


@pytest.mark.parametrize(
    "change, said",
    [
        ({"head": FULL.replace(EXAMPLE, "unmanaged.test")}, "553 5.7.1 "),
        ({"head": FULL.replace(EXAMPLE, OTHER)}, "553 5.7.1 "),
        ({"head": FULL.replace(EXAMPLE, "x")}, "550 5.6.0 From"),
        ({"head": FULL + f"From: {SHOP}\r\n"}, "550 5.6.0 "),
        ({"head": FULL + f"Sender: ceo@{OTHER}\r\n"}, "553 5.7.1 "),
        ({"head": FULL.replace(f"<{SHOP}>", f"<{SHOP}>, b@{EXAMPLE}")}, "550 5.6.0 "),
        ({"head": "Subject: x\r\n"}, "550 5.6.0 "),
        ({"head": FULL + "a:\r\n" * 2001 + f"From: ceo@{OTHER}\r\n"}, "550 5.6.0 "),
        ({"head": FULL.replace(f"<{SHOP}>", f"<{SHOP}>," + "\r\n " * 3000 + f"ceo@{OTHER}")}, "550 5.6.0 "),
        ({"head": FULL + f"X-Long: {'x' * 900}\r\n" * 300 + f"From: ceo@{OTHER}\r\n"}, "552 5.6.0 "),
        ({"tags": "x" * 101}, "550 5.6.0 X-Mailkeep-Tags"),
        ({"key": "a b"}, "550 5.6.0 Idempotency-Key"),
    ],
)
async def test_what_the_api_refuses_is_refused(api: Api, change: dict[str, Any], said: str) -> None:
    (row,) = await api.sql("SELECT id FROM domains WHERE name = %(name)s", name=EXAMPLE)
    _, key_id = await api.key(api.adam, scoped_domain_ids=[str(row["id"])])
    assert (await Program(api, key_id).replies(**change)).startswith(said)
    assert await counts(api) == {}


async def test_a_key_that_has_ended_and_a_suspended_sender_are_refused(api: Api, program: Program) -> None:
    await api.suspension(SHOP)
    assert (await program.replies(key="k")).startswith("550 5.7.1 ")
    await api.sql("DELETE FROM api_keys WHERE id = %(id)s RETURNING id", id=program.key_id)
    assert (await program.replies()).startswith("421 4.7.0 ")
    assert await api.sql("SELECT queue_id FROM submission_envelopes") == []


async def test_a_sender_over_its_limit_is_refused_suspended_and_claims_nothing(api: Api, program: Program) -> None:
    api.app.settings = replace(api.app.settings, abuse=replace(api.app.settings.abuse, sender_per_hour=2))
    assert (await program.submit("a@far.test", "b@far.test", key="1")).reply == protocol.ACCEPT
    assert (await program.replies("c@far.test", key="2")).startswith("450 4.7.1 ")
    assert (await program.replies("c@far.test", key="2")).startswith("550 5.7.1 ")
    assert len(await api.sql("SELECT queue_id FROM submission_envelopes")) == 1
