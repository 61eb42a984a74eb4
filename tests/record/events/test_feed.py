"""GET /events: in the order of commit, once each, for those who may see them."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import Any
from uuid import UUID

from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.features.record.events import service
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, faults
from tests.support.events import sample_event


async def tell(api: Api, kind: str = "mail.sent", domain: str | None = EXAMPLE, **data: Any) -> None:
    async with api.app.db.tx() as conn:
        await service.emit(conn, api.clock(), sample_event(kind, DOMAIN_IDS[domain] if domain else None, None, data))


async def feed(client: Client, count: int, **query: Any) -> Answer:
    """The feed, once it shows `count` events: a transaction in another database of the server holds it up."""
    async with asyncio.timeout(60):
        while True:
            answer = await client.get("/events", **query)
            assert answer.status == 200, answer.body
            if len(answer.data) >= count:
                return answer
            await asyncio.sleep(0.05)


async def test_the_feed_goes_on_from_the_last_event_seen(api: Api):
    for number in range(5):
        await tell(api, n=number)
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


async def test_a_nul_that_the_database_refuses_does_not_hold_up_an_event(api: Api):
    await tell(api, text="a\0\0b\\u0000", metadata={"k\0": "\\\0"})
    (event,) = (await feed(api.adam, 1)).data
    assert event["data"] == {"text": "a\ufffd\ufffdb\\u0000", "metadata": {"k\ufffd": "\\\ufffd"}}


async def test_a_reader_misses_none_and_sees_none_twice_whatever_the_order_of_commits(api: Api):
    chance = random.Random(8)
    told: list[int] = []
    done = asyncio.Event()

    async def writer(seed: int) -> None:
        for number in range(12):
            async with api.app.db.tx() as conn:
                for part in range(chance.randint(1, 3)):
                    value = seed * 1000 + number * 10 + part
                    await service.emit(
                        conn, api.clock(), sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": value})
                    )
                    told.append(value)
                    await asyncio.sleep(chance.random() * 0.01)  # others commit before, with later ids

    async def reader() -> list[int]:
        seen: list[int] = []
        after = None
        deadline = asyncio.get_running_loop().time() + 60
        while not (done.is_set() and len(seen) >= len(told)):
            assert asyncio.get_running_loop().time() < deadline, (len(seen), len(told))
            answer = await api.sue.get("/events", after=after, limit=chance.randint(1, 9))
            seen += [each["data"]["n"] for each in answer.data]
            after = answer.data[-1]["id"] if answer.data else after
            await asyncio.sleep(0.001)
        return seen

    reading = asyncio.create_task(reader())
    await asyncio.gather(*(writer(seed) for seed in range(5)))
    done.set()
    seen = await reading
    assert sorted(seen) == sorted(told)
    assert len(set(seen)) == len(seen)


async def test_an_event_waits_for_older_transactions(api: Api):
    async with api.app.db.tx() as older:
        await service.emit(older, api.clock(), sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": 1}))
        await tell(api, n=2)
        assert (await api.sue.get("/events")).data == []
    assert [each["data"]["n"] for each in (await feed(api.sue, 2)).data] == [1, 2]


async def test_filters_and_who_sees_what(api: Api):
    await tell(api, "mail.sent", EXAMPLE)
    await tell(api, "mail.received", OTHER)
    await tell(api, "mail.bounced", None)
    api.clock.advance(days=1)
    await tell(api, "mail.received", EXAMPLE)
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
    nobodys = (await api.sue.get("/events", kind="mail.bounced")).data[0]["id"]
    assert (await api.adam.get(f"/events/{nobodys}")).status == 200
    assert (await api.scoped.get(f"/events/{nobodys}")).code == "API_KEY_DOMAIN_SCOPE"
    assert (await api.sue.get(f"/events/{uuid7(api.clock())}")).code == "NOT_FOUND"


async def test_a_place_that_is_gone_begins_anew_and_says_so(api: Api):
    await tell(api, n=1)
    await feed(api.sue, 1)
    gone = uuid7_floor(api.clock() - timedelta(days=31))
    answer = await api.sue.get("/events", after=gone)
    assert [each["data"]["n"] for each in answer.data] == [1]
    assert answer.json["meta"]["details"] == {"reason": "truncated"}
    never = await api.sue.get("/events", after=UUID(int=uuid7(api.clock()).int))
    assert (never.code, faults(never)) == ("INVALID_FIELD", ["after"])


async def test_the_feed_goes_forward_only(api: Api):
    answer = await api.sue.get("/events", order="desc")
    assert (answer.status, answer.code) == (400, "INVALID_PAGINATION")
    assert (await api.sue.get("/events", kind="mail.lost")).code == "INVALID_FIELD"
    assert (await api.sue.get("/events", after="last")).code == "INVALID_FIELD"
