"""GET /events/stream: the feed as it grows, none missed and none twice over reconnections, for those who may see it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.features.record.events import jobs, service, store
from mailkeep.features.record.events.model import RecordedEvent
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, OTHER, Api, Client, faults, reason
from tests.support.event_stream import StreamBlock, open_stream
from tests.support.events import sample_event

BEGINNING = str(UUID(int=0))


async def tell(api: Api, kind: str = "mail.sent", domain: str | None = EXAMPLE, **data: Any) -> None:
    async with api.app.db.tx() as conn:
        await service.emit(conn, api.clock(), sample_event(kind, DOMAIN_IDS[domain] if domain else None, None, data))


@pytest.fixture
async def live(api: Api) -> AsyncIterator[Api]:
    """The application with what runs beside its requests."""
    watching = asyncio.create_task(jobs.watch(api.app))
    yield api
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


def numbers(events: list[Any]) -> list[int]:
    return [each["data"]["n"] for each in events]


async def settled(api: Api, count: int) -> list[dict[str, Any]]:
    """The feed, once it shows so many events."""
    async with asyncio.timeout(60):
        while len(events := (await api.sue.get("/events")).data) < count:
            await asyncio.sleep(0.05)
    return events


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_what_happens_is_told_as_it_happens(live: Api):
    await tell(live, n=0)
    old = await settled(live, 1)
    async with open_stream(live.adam) as stream:
        assert stream.blocks == [StreamBlock("", old[0]["id"], None)], (
            "the id to come back with, before there is an event"
        )
        await tell(live, n=1)
        await tell(live, "mail.received", n=2)
        assert numbers(await stream.until(2)) == [1, 2]
        assert [each.name for each in stream.blocks[1:]] == ["mail.sent", "mail.received"]
        assert stream.events == (await live.adam.get("/events", after=old[0]["id"])).data, "as GET /events tells them"
        assert [each.id for each in stream.blocks[1:]] == [each["id"] for each in stream.events]
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert stream.headers["cache-control"] == "no-store, no-transform"
    assert stream.headers["x-accel-buffering"] == "no"
    assert "content-length" not in stream.headers
    assert stream.text.startswith("retry: ")


async def test_a_client_comes_back_where_it_was(live: Api):
    async with open_stream(live.adam) as stream:
        assert stream.last_id == BEGINNING, "nothing has happened yet"
    await tell(live, n=1)
    await tell(live, n=2)
    first = (await settled(live, 2))[0]["id"]
    for headers, query, expected in (
        ({"Last-Event-ID": stream.last_id}, {}, [1, 2]),
        ({"Last-Event-ID": first}, {}, [2]),
        ({}, {"after": first}, [2]),
        ({"Last-Event-ID": first}, {"after": BEGINNING}, [2]),
        ({"Last-Event-ID": ""}, {"after": BEGINNING}, [1, 2]),
    ):
        async with open_stream(live.adam, headers, duration=0, **query) as again:
            await again.until_closed()
            assert numbers(again.events) == expected, (headers, query)


async def test_none_is_missed_and_none_seen_twice_whatever_the_order_of_commits_and_however_often_it_breaks(live: Api):
    chance = random.Random(7)
    told: list[int] = []
    done = asyncio.Event()

    async def writer(seed: int) -> None:
        for number in range(12):
            async with live.app.db.tx() as conn:
                values = [seed * 1000 + number * 10 + part for part in range(chance.randint(1, 3))]
                for value in values:
                    await service.emit(
                        conn, live.clock(), sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": value})
                    )
                    await asyncio.sleep(chance.random() * 0.01)  # others commit before, with later ids
                if chance.random() < 0.2:
                    raise psycopg.Rollback  # what was never done is never told
                told.extend(values)

    async def reader() -> list[int]:
        seen: list[int] = []
        last = BEGINNING
        while not (done.is_set() and len(seen) >= len(told)):
            async with open_stream(live.adam, {"Last-Event-ID": last}) as stream:
                await asyncio.sleep(chance.random() * 0.1)
                seen += numbers(stream.events)
                last = stream.last_id
        return seen

    reading = asyncio.create_task(reader())
    await asyncio.gather(*(writer(seed) for seed in range(4)))
    done.set()
    seen = await asyncio.wait_for(reading, 60)
    assert sorted(seen) == sorted(told)
    assert len(set(seen)) == len(seen)


async def test_more_than_a_page_comes_in_order_and_a_stream_ends_when_it_was_asked_to(live: Api):
    async with live.app.db.tx() as conn:
        events = [sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": number}) for number in range(120)]
        await service.emit_all(conn, live.clock(), events)
    await settled(live, 50)
    async with open_stream(live.sue, after=BEGINNING, duration=0) as stream:
        await stream.until_closed()
        assert numbers(stream.events) == list(range(120))
    async with open_stream(live.sue, duration=1) as stream:
        assert await stream.until_closed() is None
        assert stream.events == []


async def test_an_id_that_is_gone_begins_anew_and_says_so(live: Api):
    await tell(live, n=1)
    await settled(live, 1)
    gone = str(uuid7_floor(live.clock() - timedelta(days=31)))
    async with open_stream(live.sue, {"Last-Event-ID": gone}) as stream:
        assert numbers(await stream.until(1)) == [1]
        assert [(each.name, each.data) for each in stream.blocks][:2] == [
            ("", None),
            ("stream.truncated", {"reason": "truncated"}),
        ]
        assert stream.blocks[0].id == BEGINNING
    never = await live.sue("GET", "/events/stream", headers={"Last-Event-ID": str(uuid7(live.clock()))})
    assert (never.code, faults(never)) == ("INVALID_FIELD", ["after"])
    malformed = await live.sue("GET", "/events/stream", headers={"Last-Event-ID": "42"})
    assert (malformed.code, faults(malformed)) == ("INVALID_FIELD", ["Last-Event-ID"])


async def test_everybody_sees_their_own(live: Api):
    for kind, domain in (("mail.sent", EXAMPLE), ("mail.received", OTHER), ("mail.bounced", None)):
        await tell(live, kind, domain)
    await settled(live, 3)

    async def kinds(client: Client, **query: Any) -> list[str]:
        async with open_stream(client, after=BEGINNING, duration=0, **query) as stream:
            await stream.until_closed()
            return [each["kind"] for each in stream.events]

    assert await kinds(live.adam) == ["mail.sent", "mail.received", "mail.bounced"]
    assert await kinds(live.scoped) == ["mail.sent"]
    assert await kinds(live.sue, kind="mail.received") == ["mail.received"]
    assert await kinds(live.sue, domain_id=DOMAIN_IDS[OTHER]) == ["mail.received"]
    assert (await live.dora.get("/events/stream")).code == "FORBIDDEN"
    assert (await live.scoped.get("/events/stream", domain_id=DOMAIN_IDS[OTHER])).code == "API_KEY_DOMAIN_SCOPE"
    assert (await live.sue.get("/events/stream", domain_id=uuid7(live.clock()))).code == "DOMAIN_NOT_FOUND"
    async with open_stream(live.scoped) as stream:
        newest = (await live.sue.get("/events", domain_id=DOMAIN_IDS[EXAMPLE])).data[-1]["id"]
        assert stream.last_id == newest, "no id of an event that the caller may not see"


ENDS = {
    "logged out": ("adam", "DELETE FROM sessions WHERE admin_id = %(admin)s", "SESSION_INVALID"),
    "expired": ("adam", "UPDATE sessions SET expires_at = created_at WHERE admin_id = %(admin)s", "SESSION_INVALID"),
    "deleted": ("adam", "DELETE FROM admins WHERE id = %(admin)s", "SESSION_INVALID"),
    "demoted": ("adam", "UPDATE admins SET role = 'domain_admin' WHERE id = %(admin)s", "FORBIDDEN"),
    "revoked": ("scoped", "DELETE FROM api_keys WHERE id = %(key)s", "API_KEY_INVALID"),
    "its owner demoted": ("scoped", "UPDATE admins SET role = 'domain_admin' WHERE id = %(admin)s", "FORBIDDEN"),
}


@pytest.mark.parametrize("change", ENDS)
async def test_who_may_no_more_is_told_nothing_more(live: Api, change: str):
    who, statement, code = ENDS[change]
    async with open_stream(live.callers[who]) as stream:
        await tell(live, n=1)
        await stream.until(1)
        await live.sql(statement.encode(), admin=ADMIN_IDS["adam"], key=KEY_IDS["scoped"])  # type: ignore[arg-type]
        await tell(live, n=2)
        assert (await stream.until_closed())["code"] == code
        assert numbers(stream.events) == [1]


async def test_silence_is_filled_and_a_stream_without_news_ends_as_well(api: Api, monkeypatch: pytest.MonkeyPatch):
    """Also where nothing runs beside the requests: the streams look by themselves."""
    monkeypatch.setattr(service, "_HEARTBEAT_SECONDS", 0.1)
    async with open_stream(api.adam) as stream:
        await tell(api, n=1)
        await stream.until(1)
        await until(lambda: asyncio.sleep(0, stream.text.count(": still here\n\n") > 2))
        await api.adam.post("/auth/logout")
        assert (await stream.until_closed())["code"] == "SESSION_INVALID"


async def test_a_scope_that_narrows_narrows_the_stream(live: Api):
    async with open_stream(live.scoped) as stream:
        await tell(live, n=1)
        await stream.until(1)
        await live.sql(
            "UPDATE api_key_domains SET domain_id = %(other)s WHERE key_id = %(key)s",
            other=DOMAIN_IDS[OTHER],
            key=KEY_IDS["scoped"],
        )
        await tell(live, n=2)
        await tell(live, domain=OTHER, n=3)
        assert numbers(await stream.until(2)) == [1, 3]
    async with open_stream(live.scoped, domain_id=DOMAIN_IDS[OTHER]) as stream:
        await live.sql("DELETE FROM api_key_domains WHERE key_id = %(key)s", key=KEY_IDS["scoped"])
        await tell(live, domain=OTHER, n=4)
        assert (await stream.until_closed())["code"] == "API_KEY_DOMAIN_SCOPE"
        assert stream.events == []


@pytest.mark.parametrize("wanted", [{}, {"domain_id": DOMAIN_IDS[EXAMPLE]}])
async def test_what_happens_after_a_key_is_narrowed_is_not_shown_by_a_look_begun_before(
    live: Api, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
):
    feed = store.feed
    monkeypatch.setattr(service, "_HEARTBEAT_SECONDS", 0.1)
    async with open_stream(live.scoped, **wanted) as stream:
        looked = asyncio.Event()

        async def late(*args: Any) -> list[RecordedEvent]:
            """The look, once the key is narrowed and something has happened: its right to look was told before."""
            monkeypatch.setattr(store, "feed", feed)
            await live.sql("DELETE FROM api_key_domains WHERE key_id = %(key)s", key=KEY_IDS["scoped"])
            await tell(live, n=2)
            looked.set()
            return await feed(*args)

        monkeypatch.setattr(store, "feed", late)
        await tell(live, domain=OTHER, n=1)
        if wanted:
            assert (await stream.until_closed())["code"] == "API_KEY_DOMAIN_SCOPE"
        else:
            await asyncio.wait_for(looked.wait(), 60)
            silences = stream.text.count(": still here")
            await until(lambda: asyncio.sleep(0, stream.text.count(": still here") > silences + 1))
        assert stream.events == []


async def test_a_stream_counts_as_one_request_of_its_key(live: Api):
    client, _ = await live.key(live.adam, rate_limit=3)
    async with open_stream(client) as stream:
        for number in range(5):
            await tell(live, n=number)
            await stream.until(number + 1)
        assert stream.headers["ratelimit-remaining"] == "2"
    assert (await client.get("/events")).headers["ratelimit-remaining"] == "1"


async def test_streams_are_bounded_and_make_room_when_they_end(live: Api):
    limits = replace(live.app.settings.limits, event_streams=3, event_streams_per_caller=2)
    live.app.settings = replace(live.app.settings, limits=limits)
    async with open_stream(live.adam) as first, open_stream(live.adam):
        refused = await live.adam.get("/events/stream")
        assert (refused.status, refused.code, reason(refused)) == (429, "RATE_LIMIT_EXCEEDED", "too_many_streams")
        assert refused.headers["retry-after"]
        async with open_stream(live.scoped):  # a key is a caller of its own
            full = await live.sue.get("/events/stream")
            assert (full.status, full.code, reason(full)) == (503, "UNAVAILABLE", "too_many_streams")
        first.gone.set()
        await first.until_closed()
        async with open_stream(live.adam, duration=0) as third:
            assert third.status == 200
    assert len(live.app.streams) == 0


async def test_the_head_of_a_stream_is_told_without_it(live: Api):
    answer = await live.sue("HEAD", "/events/stream")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert len(live.app.streams) == 0


async def listeners(live: Api) -> set[int]:
    """Who sleeps until the feed moves."""
    rows = await live.sql(
        """
        SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND d.datname = current_database()
        """
    )
    return {row["pid"] for row in rows}


async def test_all_streams_share_one_listener_and_nobody_is_notified_without_them(live: Api):
    async def become(count: int) -> None:
        async def are() -> bool:
            return len(await listeners(live)) == count

        await until(are)

    async with live.app.db.listen("mailkeep_events") as conn:
        await tell(live, n=1)
        assert [each async for each in conn.notifies(timeout=0.2)] == []
        async with open_stream(live.adam), open_stream(live.adam), open_stream(live.sue):
            await become(1)

            async def is_notified() -> bool:
                await tell(live, n=2)
                return [each async for each in conn.notifies(timeout=1, stop_after=1)] != []

            await until(is_notified)  # the listener is awake for a moment every second, and looks by itself then
        await become(0)


async def test_a_listener_that_is_cut_off_comes_back(live: Api):
    async def cut_off() -> bool:
        if not await listeners(live):
            return False
        await live.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND datname = current_database()
            """
        )
        return True

    async with open_stream(live.adam) as stream:
        await tell(live, n=1)
        await stream.until(1)
        await until(cut_off)  # the stream may have looked before the watcher listens
        told = 1
        while told < 4:
            with suppress(Unavailable):  # the pool's connections were cut off as well
                await tell(live, n=told + 1)
                told += 1
        assert numbers(await stream.until(4)) == [1, 2, 3, 4]


async def test_the_server_s_end_ends_the_streams_and_lets_none_in(live: Api):
    async with open_stream(live.adam) as stream:
        live.app.streams.close()
        assert (await stream.until_closed())["code"] == "UNAVAILABLE"
    assert (await live.adam.get("/events/stream")).status == 503
