"""GET /messages/{id}/events: the timeline of a message, with the replies of servers."""

from __future__ import annotations

from typing import Any

from tests.plugins.post import Post
from tests.support.client import EXAMPLE


async def fetch_timeline(
    post: Post, message_id: str, **query: Any
) -> list[tuple[str, str | None, int | None, int | None]]:
    answer = await post.api.sue.get(f"/messages/{message_id}/events", **query)
    assert answer.status == 200, answer.body
    return [
        (each["kind"], each["recipient"], each["detail"]["attempt"], each["detail"]["smtp_code"])
        for each in answer.data
    ]


async def test_the_timeline_has_every_delivery_attempt(post: Post):
    to = [{"email": f"{name}@elsewhere.test"} for name in ("ok", "bounce", "defer", "fail")]
    sent = (await post.send(to=to)).data["id"]
    post.api.clock.advance(seconds=1)
    await post.run_queue()
    await post.run_queue(seconds=2)
    timeline = await fetch_timeline(post, sent)
    assert timeline[:2] == [("submitted", None, None, None), ("accepted", None, None, None)]
    assert sorted(timeline[2:6], key=str) == [
        ("bounced", "bounce@elsewhere.test", 1, 550),
        ("deferred", "defer@elsewhere.test", 1, 451),
        ("deferred", "fail@elsewhere.test", 1, 451),
        ("delivered", "ok@elsewhere.test", 1, 250),
    ]
    assert sorted(timeline[6:], key=str) == [
        ("delivered", "defer@elsewhere.test", 2, 250),
        ("failed", "fail@elsewhere.test", 2, None),
    ]
    entries = (await post.api.sue.get(f"/messages/{sent}/events")).data
    assert [each["at"] for each in entries] == sorted(each["at"] for each in entries)
    deferred = next(each for each in entries if each["kind"] == "deferred")
    assert deferred["detail"]["remote_host"] == "sandbox"
    assert "(sandbox)" in deferred["detail"]["diagnostic"]
    assert deferred["detail"]["next_attempt_at"] > deferred["at"]
    assert entries[1]["detail"]["queue_id"] == (await post.caught())[0]["queue_id"]


async def test_a_timeline_is_paginated(post: Post):
    sent = (await post.send(to=[{"email": f"{n}@elsewhere.test"} for n in range(5)])).data["id"]
    await post.run_queue()
    whole = await fetch_timeline(post, sent)
    for order in ("asc", "desc"):
        pages: list[Any] = []
        cursor = None
        while cursor != "":
            answer = await post.api.sue.get(f"/messages/{sent}/events", limit=3, order=order, cursor=cursor)
            pages += [(each["kind"], each["recipient"]) for each in answer.data]
            cursor = answer.json["meta"]["pagination"]["next_cursor"]
        assert pages == [each[:2] for each in (whole if order == "asc" else whole[::-1])]


async def test_timelines_of_refused_and_received_mail(post: Post):
    await post.api.sql("DELETE FROM dkim_keys")
    assert (await post.send()).code == "SEND_FAILED"
    (failed,) = await post.messages()
    assert [each[0] for each in await fetch_timeline(post, failed["id"])] == ["submitted", "failed"]

    await post.api.mailbox()
    await post.deliver(f"alice@{EXAMPLE}", f"nobody@{EXAMPLE}")
    (received,) = await post.messages(status="received")
    (rejected,) = await post.messages(status="rejected")
    assert await fetch_timeline(post, received["id"]) == [("received", f"alice@{EXAMPLE}", 1, 250)]
    assert await fetch_timeline(post, rejected["id"]) == [("rejected", f"nobody@{EXAMPLE}", 1, 550)]
    assert (await post.api.otto.get(f"/messages/{received['id']}/events")).code == "FORBIDDEN"
    assert (await post.api.dora.get(f"/messages/{received['id']}/events")).status == 200
