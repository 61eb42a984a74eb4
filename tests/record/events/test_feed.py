"""GET /events: each event once, in the order of commit, for callers that may see it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.features.record.events import service
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, faults
from tests.support.events import assert_each_event_read_once, emit, sample_event


async def feed(client: Client, count: int, **query: Any) -> Answer:
    """The feed, once it shows `count` events; transactions in other databases of the server delay it."""
    async with asyncio.timeout(60):
        while True:
            answer = await client.get("/events", **query)
            assert answer.status == 200, answer.body
            if len(answer.data) >= count:
                return answer
            await asyncio.sleep(0.05)


async def test_the_feed_continues_after_the_last_event_seen(api: Api):
    for number in range(5):
        await emit(api, n=number)
    await feed(api.adam, 5)
    first = await feed(api.adam, 2, limit=2)
    assert [each["data"]["n"] for each in first.data] == [0, 1]
    assert set(first.data[0]) == {"id", "kind", "created_at", "domain_id", "message_id", "data"}
    assert first.json["meta"]["pagination"]["has_more"] is True
    rest = await feed(api.adam, 3, after=first.data[-1]["id"])
    assert [each["data"]["n"] for each in rest.data] == [2, 3, 4]
    assert "details" not in rest.json["meta"]
    by_cursor = await feed(api.adam, 3, cursor=first.json["meta"]["pagination"]["next_cursor"])
    assert by_cursor.data == rest.data
    assert (await api.adam.get("/events", after=rest.data[-1]["id"])).data == []
    assert (await api.adam.get(f"/events/{rest.data[0]['id']}")).data == rest.data[0]


async def test_nul_characters_in_an_event_are_replaced(api: Api):
    await emit(api, text="a\0\0b\\u0000", metadata={"k\0": "\\\0"})
    (event,) = (await feed(api.adam, 1)).data
    assert event["data"] == {"text": "a\ufffd\ufffdb\\u0000", "metadata": {"k\ufffd": "\\\ufffd"}}


async def test_a_reader_sees_each_event_once_in_any_order_of_commits(api: Api):
    async def read(chance: random.Random) -> AsyncIterator[list[int]]:
        after = None
        while True:
            answer = await api.sue.get("/events", after=after, limit=chance.randint(1, 9))
            after = answer.data[-1]["id"] if answer.data else after
            yield [each["data"]["n"] for each in answer.data]

    await assert_each_event_read_once(api, read)


async def test_an_event_waits_for_older_transactions(api: Api):
    async with api.app.db.tx() as older:
        await service.emit(older, api.clock(), sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": 1}))
        await emit(api, n=2)
        assert (await api.sue.get("/events")).data == []
    assert [each["data"]["n"] for each in (await feed(api.sue, 2)).data] == [1, 2]


async def test_filters_and_permissions(api: Api):
    await emit(api, "mail.sent", EXAMPLE)
    await emit(api, "mail.received", OTHER)
    await emit(api, "mail.bounced", None)
    api.clock.advance(days=1)
    await emit(api, "mail.received", EXAMPLE)
    await feed(api.sue, 4)

    async def kinds(client: Client, **query: Any) -> list[tuple[str, str | None]]:
        names = {str(value): name for name, value in DOMAIN_IDS.items()}
        return [(each["kind"], names.get(each["domain_id"])) for each in (await client.get("/events", **query)).data]

    every = [("mail.sent", EXAMPLE), ("mail.received", OTHER), ("mail.bounced", None), ("mail.received", EXAMPLE)]
    assert await kinds(api.adam) == every
    assert await kinds(api.scoped) == [every[0], every[3]]
    assert await kinds(api.sue, kind="mail.received") == [every[1], every[3]]
    assert await kinds(api.sue, domain_id=DOMAIN_IDS[OTHER]) == [every[1]]
    assert await kinds(api.sue, since=(api.clock() - timedelta(hours=1)).isoformat()) == [every[3]]
    both = {"kind": "mail.received", "domain_id": DOMAIN_IDS[EXAMPLE], "since": api.clock().isoformat()}
    assert await kinds(api.scoped, **both) == [every[3]]
    assert (await api.dora.get("/events")).code == "FORBIDDEN"
    assert (await api.scoped.get("/events", domain_id=DOMAIN_IDS[OTHER])).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.sue.get("/events", domain_id=uuid7(api.clock()))).code == "DOMAIN_NOT_FOUND"
    without_domain = (await api.sue.get("/events", kind="mail.bounced")).data[0]["id"]
    assert (await api.adam.get(f"/events/{without_domain}")).status == 200
    assert (await api.scoped.get(f"/events/{without_domain}")).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.sue.get(f"/events/{uuid7(api.clock())}")).code == "NOT_FOUND"


async def test_after_a_deleted_event_the_feed_is_truncated(api: Api):
    await emit(api, n=1)
    await feed(api.sue, 1)
    deleted = uuid7_floor(api.clock() - timedelta(days=31))
    answer = await api.sue.get("/events", after=deleted)
    assert [each["data"]["n"] for each in answer.data] == [1]
    assert answer.json["meta"]["details"] == {"reason": "truncated"}
    unknown = await api.sue.get("/events", after=uuid7(api.clock()))
    assert (unknown.code, faults(unknown)) == ("INVALID_FIELD", ["after"])


async def test_the_feed_cannot_be_read_backwards(api: Api):
    answer = await api.sue.get("/events", order="desc")
    assert (answer.status, answer.code) == (400, "INVALID_PAGINATION")
    assert (await api.sue.get("/events", kind="mail.lost")).code == "INVALID_FIELD"
    assert (await api.sue.get("/events", after="last")).code == "INVALID_FIELD"
