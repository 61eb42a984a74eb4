"""What changes between scheduling and the due time, and calls that meet the worker."""

from __future__ import annotations

import asyncio
import json
import random
from base64 import b64encode
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.mailflow.sending.stored_request import unpack
from mailkeep.mail.smtp.client import ConnectionLost
from tests.mailflow.sending.test_large import attached, content_of, send_raw
from tests.plugins.post import Post, letter
from tests.support.client import EXAMPLE, START

HOUR = timedelta(hours=1)
MIB = 1 << 20


async def schedule(post: Post, client: Any = None, **changes: Any) -> str:
    body = letter(scheduled_at=iso(START + HOUR)) | changes
    answer = await (client or post.api.sue).post("/send", body)
    assert (answer.status, answer.data["status"]) == (200, "scheduled"), answer.body
    return answer.data["id"]


async def run_due(post: Post) -> None:
    await ScheduledWorker(post.api.app).drain()


async def status_of(post: Post, message_id: str) -> str:
    return (await post.api.sue.get(f"/messages/{message_id}")).data["status"]


async def test_a_message_at_the_size_limit_is_stored_and_sent_whole(post: Post):
    data = random.Random(50).randbytes(37 * MIB)
    text = "y" * 70 + "\n"
    message = letter(text_body=text * 9_000, attachments=[attached(b64encode(data).decode())])
    later = message | {"scheduled_at": iso(START + HOUR)}
    answer = await send_raw(post, json.dumps(later).encode())
    assert (answer.status, answer.data["status"]) == (200, "scheduled"), answer.body
    [stored] = await post.api.sql("SELECT count(*) AS parts, max(length(sealed)) AS longest FROM scheduled_contents")
    assert stored["parts"] >= 50
    assert stored["longest"] < MIB + 100
    post.api.clock.advance(hours=1)
    await run_due(post)
    assert await content_of(post) == data
    assert await post.api.sql("SELECT FROM scheduled_contents") == []
    over = message | {"scheduled_at": iso(START + 2 * HOUR), "text_body": text * 20_000}
    refused = await send_raw(post, json.dumps(over).encode())
    assert (refused.status, refused.code) == (413, "PAYLOAD_TOO_LARGE")
    assert await post.api.sql("SELECT FROM scheduled_messages") == []


@pytest.mark.parametrize("seconds", [0, -60])
async def test_rescheduling_to_now_sends_it_at_once(post: Post, seconds: int):
    message_id = await schedule(post)
    post.api.clock.advance(minutes=5)
    now = post.api.clock()
    path = f"/messages/{message_id}"
    moved = await post.api.sue.patch(path, {"scheduled_at": iso(now + timedelta(seconds=seconds))})
    assert (moved.status, moved.data["scheduled_at"]) == (200, iso(now))
    await run_due(post)
    assert (await status_of(post, message_id), len(await post.caught())) == ("queued", 1)
    refused = await post.api.sue.patch(path, {"scheduled_at": iso(now + HOUR)})
    assert (refused.status, refused.json["error"]["details"]["reason"]) == (409, "not_scheduled")


class _NoMta:
    """An MTA that can't be reached."""

    size = 10

    async def submit(self, *_: Any, **__: Any) -> Any:
        raise ConnectionLost("refused", "connect")

    async def close(self) -> None: ...


async def test_a_cancellation_with_a_version_meets_the_worker(post: Post):
    """The version from before an attempt is stale afterwards: somebody who saw the message wait may not know why."""
    message_id = await schedule(post)
    path = f"/messages/{message_id}"
    tag = (await post.api.sue.get(path)).headers["etag"]
    post.api.clock.advance(hours=1)
    pool, post.api.app.mta = post.api.app.mta, _NoMta()  # type: ignore[assignment]
    await run_due(post)
    stale = await post.api.sue("POST", f"{path}/cancel", headers={"if-match": tag})
    assert (stale.status, stale.code) == (412, "PRECONDITION_FAILED")
    fresh = (await post.api.sue.get(path)).headers["etag"]
    post.api.app.mta = pool
    post.api.clock.advance(minutes=1)
    cancelled, _ = await asyncio.gather(
        post.api.sue("POST", f"{path}/cancel", headers={"if-match": fresh}), run_due(post)
    )
    kinds = [kind for kind, _ in await post.events()]
    if cancelled.status == 200:
        assert (await status_of(post, message_id), kinds, await post.caught()) == ("cancelled", [], [])
    else:  # begun, or sent already
        assert cancelled.json["error"]["details"]["reason"] == "not_scheduled"
        assert (await status_of(post, message_id), kinds, len(await post.caught())) == ("queued", ["mail.sent"], 1)


async def test_of_concurrent_changes_with_the_same_version_one_wins(post: Post):
    message_id = await schedule(post)
    path = f"/messages/{message_id}"
    tag = (await post.api.sue.get(path)).headers["etag"]
    post.api.clock.advance(seconds=1)
    headers = {"if-match": tag}
    times = [iso(START + number * HOUR) for number in (2, 3, 4)]
    answers = await asyncio.gather(
        *(post.api.sue("PATCH", path, {"scheduled_at": at}, headers=headers) for at in times),
        post.api.sue("POST", f"{path}/cancel", headers=headers),
    )
    [won] = [each for each in answers if each.status == 200]
    was_cancelled = won.data["status"] == "cancelled"
    # After a cancellation there is no version any more.
    assert {each.status for each in answers if each is not won} <= ({409} if was_cancelled else {412})
    shown = (await post.api.sue.get(path)).data
    assert (shown["status"], shown["scheduled_at"]) == (won.data["status"], won.data["scheduled_at"])


async def _expire_key(post: Post, _: str) -> None:
    await post.api.sql("UPDATE api_keys SET expires_at = now() - interval '1 year' WHERE name = 'temporary'")


async def _narrow_key(post: Post, _: str) -> None:
    await post.api.sql("UPDATE api_keys SET permissions = 'read' WHERE name = 'temporary'")


async def _lower_size(post: Post, _: str) -> None:
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, limits=replace(settings.limits, message_size_mb=1))


async def _delete_group(post: Post, _: str) -> None:
    await post.api.sql("DELETE FROM unsubscribe_groups")


async def _damage(post: Post, _: str) -> None:
    await post.api.sql("UPDATE scheduled_contents SET sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)")


async def _leave_group(post: Post, group_id: str) -> None:
    await post.api.suppression("customer@elsewhere.test", reason="unsubscribe", group_id=group_id)


@pytest.mark.parametrize(
    "change, expected, why",
    [
        (_expire_key, "permission", "ended"),
        (_narrow_key, "permission", ""),
        (_lower_size, "payload_too_large", ""),
        (_delete_group, "invalid_field", "unsubscribe.group_id"),
        (_leave_group, "recipient_suppressed", "customer@elsewhere.test"),
        (_damage, "internal_error", "can't be read"),
    ],
)
async def test_a_message_that_can_not_be_sent_any_more_fails_with_the_reason(
    post: Post, change: Any, expected: str, why: str
):
    created = await post.api.sue.post("/api-keys", {"name": "temporary", "expires_in_days": 30})
    client = post.api.nobody.with_key(created.data["key"])
    group_id = str(await post.api.unsubscribe_group("News"))
    text = ("y" * 70 + "\n") * 20_000
    message_id = await schedule(post, client, unsubscribe={"group_id": group_id}, text_body=text)
    await change(post, group_id)
    post.api.clock.advance(hours=1)
    await run_due(post)
    [(kind, failed)] = await post.events()
    assert (kind, failed["reason"], failed["to"]) == ("mail.failed", expected, "customer@elsewhere.test")
    assert why in failed["diagnostic"]
    assert (await status_of(post, message_id), await post.caught()) == ("failed", [])
    assert await post.api.sql("SELECT FROM scheduled_messages") == []


async def test_the_limit_of_a_domain_lets_the_others_wait(post: Post):
    """Senders of a domain share its limit."""
    settings = post.api.app.settings
    post.api.app.settings = replace(settings, abuse=replace(settings.abuse, domain_per_hour=2))
    senders = [f"one@{EXAMPLE}", f"two@{EXAMPLE}", f"three@{EXAMPLE}"]
    ids = [await schedule(post, **{"from": {"email": each}}) for each in senders]
    post.api.clock.advance(hours=1)
    await run_due(post)
    assert [await status_of(post, each) for each in ids] == ["queued", "queued", "scheduled"]
    waiting = (await post.api.sue.get(f"/messages/{ids[2]}")).data["recipients"][0]
    assert "2 recipients an hour" in waiting["diagnostic"]
    for _ in range(5):
        post.api.clock.advance(minutes=15)
        await run_due(post)
    assert await status_of(post, ids[2]) == "queued"
    assert [kind for kind, _ in await post.events()] == ["mail.sent"] * 3


async def test_the_worker_sleeps_until_the_next_message_is_due(post: Post):
    worker = ScheduledWorker(post.api.app)
    assert await worker._pause() == 1.0
    await schedule(post)
    assert await worker._pause() == 1.0
    post.api.clock.advance(minutes=59, seconds=59, milliseconds=750)
    assert await worker._pause() == pytest.approx(0.25)
    post.api.clock.advance(seconds=5)
    assert await worker._pause() == 0.005


def test_what_is_stored_is_read_again_by_the_next_version():
    """A message that a version without a later field stored: the field has its default."""
    import msgspec

    head = msgspec.msgpack.encode(
        {
            "sender": {"email": "a@example.test"}, "to": [], "cc": [], "bcc": [], "reply_to": None, "subject": "s",
            "text_body": "t", "html_body": None, "headers": {}, "in_reply_to": "", "references": [],
            "unsubscribe": None, "tags": [], "metadata": {}, "attachments": [],
        }
    )  # fmt: skip
    request = unpack(len(head).to_bytes(4, "big") + head)
    assert (request.text_body, request.unsubscribe_group) == ("t", None)
