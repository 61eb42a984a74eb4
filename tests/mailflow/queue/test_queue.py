"""The queue in the API: pages, filters, actions, an agent that does not answer, and a profile without a queue."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.queue import rules
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.mail.message import srs
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.queue import PostqueueRecipient, list_queue_ids, parse_listing
from tests.mailflow.queue.stand_in import Waiters, answering, waiting
from tests.support.client import Api
from tests.support.messages import insert, outbound

_LISTED = (
    b'{"queue_name": "deferred", "queue_id": "4jW9T1xz0bz1", "arrival_time": 1770000000, "message_size": 512, '
    b'"forced_expire": false, "sender": "shop@example.test", "recipients": [{"address": "a@far.test", '
    b'"delay_reason": "host mx said: 451 \xff later"}, {"address": "b@far.test"}]}\n'
)


@pytest.fixture
async def mail(api: Api, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Waiters]:
    messages = [waiting(number) for number in range(5)]
    messages += [waiting(5, "hold"), waiting(6, "active", "x@near.test", "y@far.test", sender="Other@example.test")]
    async with answering(api.app, monkeypatch, messages) as waiters:
        yield waiters


async def ids(api: Api, **query: Any) -> list[str]:
    return [each["queue_id"][-1] for each in (await api.sue.get("/queue", **query)).data]


def test_a_listing_of_postqueue_is_read_line_by_line() -> None:
    found = parse_listing(_LISTED + b"{broken\n\n" + _LISTED.replace(b"bz1", b"bz2"))
    assert [each.queue_id for each in found] == ["4jW9T1xz0bz1", "4jW9T1xz0bz2"]
    assert [each.delay_reason for each in found[0].recipients] == ["host mx said: 451 \ufffd later", ""]


def test_a_message_that_moves_during_the_listing_is_listed_once() -> None:
    found = parse_listing(_LISTED.replace(b'"deferred"', b'"active"') + _LISTED)
    assert [(each.queue_id, each.queue_name) for each in found] == [("4jW9T1xz0bz1", "deferred")]


def test_a_file_in_any_queue_directory_is_a_queued_message(tmp_path: Path) -> None:
    for place in ("hold/4kA", "deferred/4/4kB", "active/4kC", "defer/4/4kD", "corrupt/4kE"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    for name, mode in (("4kF", 0o700), ("4kG", 0o600)):  # the second is not complete
        (tmp_path / "incoming").mkdir(exist_ok=True)
        (tmp_path / "incoming" / name).touch(mode)
    assert list_queue_ids(tmp_path) == {"4kA", "4kB", "4kC", "4kF"}


@pytest.mark.parametrize(
    "reason, is_local",
    [
        ("connect to mx.near.test[/run/relay.sock]: Connection refused", True),
        ("delivery temporarily suspended: connect to mx.near.test[/run/relay.sock]: No such file or directory", True),
        ("host mx.near.test[/run/relay.sock] said: 451 4.7.0 The relay says: later", False),
        ("host mx.near.test[/run/lmtp.sock] said: 451 4.3.0 The mailboxes are not available", True),
        ("host mx.near.test[/run/lmtp.sock] said: 452 4.2.2 Mailbox full", False),
        ("host mx.far.test[192.0.2.1] said: 451 4.7.1 Greylisted", False),
    ],
)
def test_a_deferral_because_of_our_own_processes(reason: str, is_local: bool) -> None:
    (entry,) = parse_listing(_LISTED)
    recipient = PostqueueRecipient("a@far.test", reason)
    message = msgspec.structs.replace(entry, recipients=[recipient])
    assert rules.is_local_deferral(message, (), "/run/lmtp.sock", "/run/relay.sock") == is_local


def test_a_message_that_moves_during_the_search_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("active", "deferred/4", "hold"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "deferred/4/4kA").touch()
    look = Path.iterdir

    def moved_before(folder: Path) -> Iterator[Path]:
        if folder.name == "4" and (folder / "4kA").exists():
            (folder / "4kA").rename(tmp_path / "active/4kA")
        return look(folder)

    monkeypatch.setattr(Path, "iterdir", moved_before)
    assert list_queue_ids(tmp_path) == {"4kA"}


async def test_a_message_is_shown_with_the_last_reason_of_each_recipient(api: Api, mail: Waiters) -> None:
    (row,) = (await api.sue.get("/queue", queue_id="4jW9T1xz0003")).data
    assert row == {
        "queue_id": "4jW9T1xz0003", "state": "deferred", "arrived_at": "2026-02-02T02:40:03.000Z", "size": 512,
        "sender": "shop@example.test", "recipients": [{"address": "a@far.test", "reason": "try later"}],
        "next_attempt_at": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "query, expected",
    [
        ({}, "6543210"),
        ({"order": "asc"}, "0123456"),
        ({"state": "hold"}, "5"),
        ({"sender": "OTHER@"}, "6"),
        ({"recipient": "NEAR"}, "6"),
        ({"domain": "near.test"}, "6"),
        ({"domain": "ear.test"}, ""),
        ({"since": "2026-02-02T02:40:05Z"}, "65"),
        ({"until": "2026-02-02T02:40:02Z"}, "10"),
    ],
)
async def test_filters_and_order(api: Api, mail: Waiters, query: dict[str, str], expected: str) -> None:
    assert "".join(await ids(api, **query)) == expected


async def test_a_rewritten_sender_is_shown_and_found_by_the_original(api: Api, mail: Waiters) -> None:
    sender = srs.rewriter(api.app.vault, api.app.settings).rewrite("Some.One@far.test", api.clock())
    assert sender
    mail.messages.append(waiting(7, sender=sender))
    (row,) = (await api.sue.get("/queue", sender="some.one@far.test")).data
    assert row["sender"] == "Some.One@far.test"
    body = {"action": "hold", "filter": {"sender": "some.one@far.test"}, "dry_run": True}
    assert (await api.sue.post("/queue/actions", body)).data["affected"] == 1


async def test_a_bounce_address_is_shown_and_found_by_the_from_address(api: Api, mail: Waiters) -> None:
    """The bounce address of a message of the history; one that was made up stays as it is."""
    message = outbound(api, "a@far.test")
    real, forged = (f"b+{message.id.hex}{digit * 28}@example.test" for digit in "0f")
    await insert(api, replace(message, mail_from=real))
    mail.messages = [waiting(7, sender=real), waiting(8, sender=forged), waiting(9, sender=f"b+{'0' * 60}@far.test")]
    shown = {each["queue_id"][-1]: each["sender"] for each in (await api.sue.get("/queue")).data}
    assert shown == {"7": "shop@example.test", "8": forged, "9": f"b+{'0' * 60}@far.test"}
    assert await ids(api, sender="shop@") == ["7"]


async def test_pages_are_consistent_while_the_queue_changes(api: Api, mail: Waiters) -> None:
    first = await api.sue.get("/queue", limit=3)
    mail.messages = [waiting(9), *(each for each in mail.messages if not each.queue_id.endswith("3"))]
    cursor = first.json["meta"]["pagination"]["next_cursor"]
    second = await api.sue.get("/queue", limit=3, cursor=cursor)
    shown = [each["queue_id"][-1] for each in first.data + second.data]
    assert shown == ["6", "5", "4", "2", "1", "0"]
    assert second.json["meta"]["pagination"]["next_cursor"] == ""


@pytest.mark.parametrize(
    "body, affected, done",
    [
        ({"action": "flush", "filter": {}}, 6, "012346"),
        ({"action": "hold", "filter": {"state": "deferred"}}, 5, "01234"),
        ({"action": "release", "filter": {}}, 1, "5"),
        ({"action": "delete", "ids": ["4jW9T1xz0002", "4jW9T1xz0005", "4jW9T1xz9999"]}, 2, "25"),
        ({"action": "delete", "filter": {"recipient": "nobody"}}, 0, ""),
    ],
)
async def test_an_action_applies_to_messages_in_a_suitable_state(
    api: Api, mail: Waiters, body: dict[str, Any], affected: int, done: str
) -> None:
    counted = await api.sue.post("/queue/actions", body | {"dry_run": True})
    assert (counted.data, mail.done) == ({"affected": affected, "dry_run": True}, [])
    answer = await api.sue.post("/queue/actions", body)
    assert answer.data == {"affected": affected, "dry_run": False}
    assert ["".join(each[-1] for each in ids) for _, ids in mail.done] == [done]


async def test_an_action_is_audited_and_a_dry_run_is_not(api: Api, mail: Waiters) -> None:
    await api.sue.post("/queue/actions", {"action": "hold", "filter": {"domain": "far.test"}, "dry_run": True})
    await api.sue.post("/queue/actions", {"action": "hold", "filter": {"domain": "far.test"}})
    await api.sue.post("/queue/actions", {"action": "delete", "ids": ["4jW9T1xz0002"]})
    rows = (await api.sue.get("/audit", resource_type="queue")).data
    assert [row["action"] for row in rows] == ["queue.delete", "queue.hold"]
    assert rows[1]["details"]["filter"] == {"domain": "far.test"}


async def test_an_action_needs_either_ids_or_a_filter(api: Api, mail: Waiters) -> None:
    both = await api.sue.post("/queue/actions", {"action": "hold", "ids": ["4jW9T1xz0002"], "filter": {}})
    assert (both.status, both.json["error"]["code"]) == (400, "INVALID_FIELD")
    neither = await api.sue.post("/queue/actions", {"action": "hold"})
    assert (neither.status, neither.json["error"]["code"]) == (400, "MISSING_FIELDS")


async def test_the_embedded_profile_has_no_queue(api: Api) -> None:
    for answer in (
        await api.sue.get("/queue"),
        await api.sue.post("/queue/actions", {"action": "flush", "filter": {}}),
    ):
        assert answer.status == 503
        assert answer.json["error"]["details"]["reason"] == "needs_full_profile"


async def test_without_an_agent_the_task_is_withdrawn(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.app.settings = replace(api.app.settings, mta=replace(api.app.settings.mta, mode="postfix"))
    monkeypatch.setattr(node_tasks.wait_for_result, "__defaults__", (0.3,))
    answer = await api.sue.post("/queue/actions", {"action": "delete", "filter": {}})
    assert answer.json["error"]["details"]["reason"] == "node_agent_away"
    assert [row["state"] for row in await api.sql("SELECT state FROM node_tasks")] == ["withdrawn"]
    assert not await node_tasks.run_next(api.app, {})


async def test_a_failure_of_the_agent_is_reported(api: Api, mail: Waiters, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(conf: Path) -> Any:
        raise Failure("postqueue failed: Queue report unavailable")

    monkeypatch.setattr(postfix_queue, "list_queue", broken)
    answer = await api.sue.get("/queue")
    assert answer.status == 503
    assert answer.json["error"]["details"]["reason"] == "operation_failed"
    assert "Queue report unavailable" in answer.json["error"]["message"]


async def test_tasks_of_a_dead_agent_fail(api: Api) -> None:
    async with api.app.db.autocommit() as conn:
        task = await node_tasks.submit(conn, api.app, "queue.list", {})
        await node_tasks.store.claim(conn, api.clock())
    api.clock.advance(minutes=6)
    await node_tasks.clean_up(api.app)
    (row,) = await api.sql("SELECT id, state FROM node_tasks")
    assert (row["id"], row["state"]) == (task.id, "failed")
