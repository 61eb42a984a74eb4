"""Idempotency-Key: the same call has its effect once, whatever is cut off."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.sending import jobs
from mailkeep.web import idempotency
from mailkeep.web.idempotency import IdempotencyKeys, delete_expired_keys
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.plugins.api import ACCESS_CONTROL, all_endpoints
from tests.plugins.post import Post, letter
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api, Client

ALIAS = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": "sales", "destination": "a@elsewhere.test"}


async def ask(client: Client, path: str, body: Any, key: str = "k") -> Answer:
    return await client("POST", path, body, headers={"idempotency-key": key})


def code(answer: Answer) -> str | None:
    return answer.json["error"] and answer.json["error"]["code"]


def cut_off_before_the_answer(post_or_api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of an answer never reaches the database, as when the process dies after the effect."""

    async def lost(*_: Any) -> None:
        raise Unavailable

    monkeypatch.setattr(IdempotencyKeys, "_store_response", lost)


async def another_process(api: Api) -> None:
    """A new process on the same database after this one died: it knows of nothing that was under way."""
    await api.pipeline._keys.close()
    api.pipeline._keys = IdempotencyKeys(api.app)


async def test_a_send_that_is_repeated_is_sent_once(post: Post):
    first = await ask(post.api.sue, "/send", letter())
    again = await ask(post.api.sue, "/send", letter())
    assert (first.status, again.status) == (200, 200)
    assert again.data == first.data
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert len(await post.caught()) == 1
    assert len(await post.events()) == 1
    assert len(await post.api.audit_entries("message.send")) == 1


async def test_whose_key_it_is(post: Post):
    """Held by caller and route: another caller, route or key is another call; another body is refused."""
    await ask(post.api.sue, "/send", letter())
    assert code(await ask(post.api.sue, "/send", letter(subject="Other"))) == "IDEMPOTENCY_MISMATCH"
    for client, path, body, key in (
        (post.api.adam, "/send", letter(), "k"),
        (post.api.unscoped, "/send", letter(), "k"),
        (post.api.sue, "/send/batch", {"messages": [letter()]}, "k"),
        (post.api.sue, "/send", letter(), "other"),
    ):
        answer = await ask(client, path, body, key)
        assert (answer.status, answer.headers.get("idempotent-replayed")) == (200, None)
    assert len(await post.caught()) == 5


async def test_a_key_is_held_for_24_hours(post: Post):
    await ask(post.api.sue, "/send", letter())
    post.api.clock.advance(hours=23, minutes=59)
    assert (await ask(post.api.sue, "/send", letter())).headers["idempotent-replayed"] == "true"
    post.api.clock.advance(minutes=2)
    assert "idempotent-replayed" not in (await ask(post.api.sue, "/send", letter())).headers
    post.api.clock.advance(hours=25)
    assert await delete_expired_keys(post.api.app.db, post.api.app.clock) == 1


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256, "tab\there"])
async def test_what_is_no_key(post: Post, key: str):
    answer = await ask(post.api.sue, "/send", letter(), key)
    assert (answer.status, code(answer)) == (400, "INVALID_FIELD")
    assert await post.caught() == []


async def test_a_refusal_gives_the_key_free(post: Post):
    assert (await ask(post.api.sue, "/send", letter(**{"from": {"email": "a@unmanaged.test"}}))).status == 403
    assert (await ask(post.api.sue, "/send", letter())).status == 200


async def test_a_definite_failure_gives_the_key_free(post: Post):
    keys = await post.api.sql("DELETE FROM dkim_keys RETURNING *")
    assert (await ask(post.api.sue, "/send", letter())).status == 500
    assert len(keys) == 1
    assert await post.api.sql("SELECT 1 FROM idempotency_keys") == []


async def test_calls_at_the_same_time(post: Post):
    answers = await asyncio.gather(*(ask(post.api.sue, "/send", letter()) for _ in range(8)))
    assert {(answer.status, code(answer)) for answer in answers} <= {(200, None), (409, "IDEMPOTENCY_IN_PROGRESS")}
    assert sum(answer.status == 200 for answer in answers) >= 1
    assert len(await post.caught()) == 1


async def test_another_process_leaves_alone_what_one_that_lives_has_in_hand(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    """Before anything of the send is written down, too."""
    other = replace(post.api, pipeline=Pipeline(post.api.app, Router(all_endpoints()), ACCESS_CONTROL))
    held, ends = asyncio.Event(), asyncio.Event()

    async def holds(*_: Any) -> NoReturn:
        held.set()
        await ends.wait()
        raise ConnectionResetError

    async def held_in_hand(key: str) -> asyncio.Task[Answer]:
        held.clear()
        with monkeypatch.context() as slow:
            slow.setattr("mailkeep.features.mailflow.sending.service._prepare_all", holds)
            first = asyncio.create_task(ask(post.api.sue, "/send", letter(), key))
            await held.wait()
        assert code(await ask(other.sue, "/send", letter(), key)) == "IDEMPOTENCY_IN_PROGRESS"
        return first

    # Its call ends, without anybody knowing how; then the process itself.
    first = await held_in_hand("one")
    ends.set()
    assert (await first).status == 500
    assert (await ask(other.sue, "/send", letter(), "one")).status == 200
    ends.clear()
    first = await held_in_hand("two")
    await post.api.pipeline._keys.close()
    assert (await ask(other.sue, "/send", letter(), "two")).status == 200
    assert len(await post.caught()) == 2
    ends.set()
    await first


async def test_partly_failed_batches_are_kept(post: Post):
    body = {"messages": [letter(), letter(subject=None), letter(subject="Third")]}
    first = await ask(post.api.sue, "/send/batch", body)
    again = await ask(post.api.sue, "/send/batch", body)
    assert (first.data["succeeded"], first.data["failed"]) == (2, 1)
    assert again.data == first.data
    assert len(await post.caught()) == 2


async def test_a_send_cut_off_after_its_acceptance_is_answered_as_done(post: Post, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as cut:
        cut_off_before_the_answer(post, cut)
        assert (await ask(post.api.sue, "/send", letter())).status == 503
    await another_process(post.api)
    again = await ask(post.api.sue, "/send", letter())
    assert (again.status, again.headers["idempotent-replayed"]) == (200, "true")
    (caught,) = await post.caught()
    assert again.data["message_id"] == caught["message_id"]
    assert (await ask(post.api.sue, "/send", letter())).data == again.data


async def test_a_send_cut_off_before_its_acceptance_is_settled_by_reconciliation(
    post: Post, monkeypatch: pytest.MonkeyPatch
):
    async def died(*_: Any) -> None:
        raise ConnectionResetError

    with monkeypatch.context() as cut:
        cut.setattr("mailkeep.features.mailflow.sending.writes.record_results", died)
        assert (await ask(post.api.sue, "/send", letter())).status == 500
    await another_process(post.api)
    assert code(await ask(post.api.sue, "/send", letter())) == "IDEMPOTENCY_IN_PROGRESS"
    post.api.clock.advance(seconds=1)
    await jobs.reconcile(post.api.app, post.api.clock())
    third = replace(post.api, pipeline=Pipeline(post.api.app, Router(all_endpoints()), ACCESS_CONTROL))
    again = await ask(third.sue, "/send", letter())
    assert (again.status, again.headers["idempotent-replayed"]) == (200, "true")
    assert len(await post.caught()) == 1
    assert len(await post.events()) == 1


async def test_a_send_that_never_reached_the_mta_is_sent_again(post: Post, monkeypatch: pytest.MonkeyPatch):
    async def died(*_: Any) -> None:
        raise ConnectionResetError

    with monkeypatch.context() as cut:
        cut.setattr("mailkeep.features.mailflow.sending.service._submit_batch", died)
        assert (await ask(post.api.sue, "/send", letter())).status == 500
    await another_process(post.api)
    post.api.clock.advance(seconds=1)
    await jobs.reconcile(post.api.app, post.api.clock())
    again = await ask(post.api.sue, "/send", letter())
    assert (again.status, again.headers.get("idempotent-replayed")) == (200, None)
    assert sorted(row["status"] for row in await post.messages()) == ["lost", "queued"]
    assert len(await post.caught()) == 1


async def test_of_a_batch_that_was_cut_off_only_the_rest_is_sent(post: Post, monkeypatch: pytest.MonkeyPatch):
    body = {"messages": [letter(subject=f"Number {n}") for n in range(4)]}
    with monkeypatch.context() as cut:
        cut_off_before_the_answer(post, cut)
        assert (await ask(post.api.sue, "/send/batch", body)).status == 503
    # As when the crash had come before the last two were submitted.
    await post.api.sql("UPDATE messages SET status = 'lost', accepted_at = NULL WHERE batch_index >= 2")
    await post.api.sql(
        "DELETE FROM sandbox_messages WHERE queue_id IN (SELECT queue_id FROM messages WHERE batch_index > 1)"
    )
    await another_process(post.api)
    again = await ask(post.api.sue, "/send/batch", body)
    assert (again.data["succeeded"], again.data["failed"]) == (4, 0)
    raised = [row["subject"] for row in await post.messages(status="queued")]
    assert sorted(raised) == [f"Number {n}" for n in range(4)]
    assert (await ask(post.api.sue, "/send/batch", body)).data == again.data


async def test_what_is_made_is_made_once_also_over_a_crash(api: Api, monkeypatch: pytest.MonkeyPatch):
    domain = str(DOMAIN_IDS[EXAMPLE])
    bodies = {
        "/aliases": ALIAS,
        "/domains": {"name": "fresh.test"},
        "/mailboxes": {"domain_id": domain, "local_part": "zoe", "password": "a long way to go"},
        "/admins": {"email": "zoe@example.test", "password": "a long way to go"},
        "/api-keys": {"name": "shop"},
    }
    for path, body in bodies.items():
        with monkeypatch.context() as cut:
            cut_off_before_the_answer(api, cut)
            assert (await ask(api.sue, path, body)).status == 503, path
        await another_process(api)
        settled = await ask(api.sue, path, body)
        assert (settled.status, settled.headers.get("idempotent-replayed")) == (201, "true"), (path, settled.body)
        again = await ask(api.sue, path, body)
        assert again.data == settled.data, path
    assert len(await api.audit_entries("alias.create")) == 1


async def test_a_secret_is_not_shown_again(api: Api):
    first = await ask(api.sue, "/api-keys", {"name": "shop"})
    again = await ask(api.sue, "/api-keys", {"name": "shop"})
    assert first.data["key"].startswith("svc_")
    assert again.data["key"] is None
    assert again.data["api_key"] == first.data["api_key"]
    (row,) = await api.sql("SELECT answer FROM idempotency_keys")
    assert first.data["key"].encode() not in bytes(row["answer"])


async def test_elsewhere_the_header_is_nobodys(api: Api):
    answer = await api.sue("POST", "/auth/logout", headers={"idempotency-key": "a b"})
    assert answer.status == 200
    assert idempotency.RETENTION.total_seconds() == 86_400
