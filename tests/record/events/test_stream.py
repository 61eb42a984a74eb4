"""GET /events/stream: new events, each once over reconnections, for callers that may see them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.features.record.events import jobs, service, store
from mailkeep.features.record.events.model import RecordedEvent
from tests.support.client import ADMIN_IDS, DOMAIN_IDS, EXAMPLE, KEY_IDS, OTHER, Api, Client, faults, reason
from tests.support.event_stream import StreamBlock, open_stream
from tests.support.events import assert_each_event_read_once, emit, sample_event

BEGINNING = str(UUID(int=0))


@pytest.fixture
async def live(api: Api) -> AsyncIterator[Api]:
    """The application, with the watcher of its streams."""
    watching = asyncio.create_task(jobs.watch(api.app))
    yield api
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


def numbers(events: list[Any]) -> list[int]:
    return [each["data"]["n"] for each in events]


async def feed(api: Api, count: int) -> list[dict[str, Any]]:
    """The feed, once it shows `count` events."""
    async with asyncio.timeout(60):
        while len(events := (await api.sue.get("/events")).data) < count:
            await asyncio.sleep(0.05)
    return events


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_a_stream_sends_events_as_they_happen(live: Api):
    await emit(live, n=0)
    old = await feed(live, 1)
    async with open_stream(live.adam) as stream:
        assert stream.blocks == [StreamBlock("", old[0]["id"], None)], "the ID for a reconnection before any event"
        await emit(live, n=1)
        await emit(live, "mail.received", n=2)
        assert numbers(await stream.until(2)) == [1, 2]
        assert [each.name for each in stream.blocks[1:]] == ["mail.sent", "mail.received"]
        assert stream.events == (await live.adam.get("/events", after=old[0]["id"])).data, "the same as GET /events"
        assert [each.id for each in stream.blocks[1:]] == [each["id"] for each in stream.events]
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert stream.headers["cache-control"] == "no-store, no-transform"
    assert stream.headers["x-accel-buffering"] == "no"
    assert "content-length" not in stream.headers
    assert stream.text.startswith("retry: ")


async def test_a_client_continues_after_the_last_event_it_saw(live: Api):
    async with open_stream(live.adam) as stream:
        assert stream.last_id == BEGINNING, "there is no event yet"
    await emit(live, n=1)
    await emit(live, n=2)
    first = (await feed(live, 2))[0]["id"]
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


async def test_reconnecting_readers_see_each_event_once_in_any_order_of_commits(live: Api):
    async def read(chance: random.Random) -> AsyncIterator[list[int]]:
        last = BEGINNING
        while True:
            async with open_stream(live.adam, {"Last-Event-ID": last}) as stream:
                await asyncio.sleep(chance.random() * 0.1)
                events, last = numbers(stream.events), stream.last_id
            yield events

    await assert_each_event_read_once(live, read)


async def test_several_pages_are_in_order_and_a_duration_ends_a_stream(live: Api):
    async with live.app.db.tx() as conn:
        events = [sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {"n": number}) for number in range(120)]
        await service.emit_all(conn, live.clock(), events)
    await feed(live, 50)
    async with open_stream(live.sue, after=BEGINNING, duration=0) as stream:
        await stream.until_closed()
        assert numbers(stream.events) == list(range(120))
    async with open_stream(live.sue, duration=1) as stream:
        assert await stream.until_closed() is None
        assert stream.events == []


async def test_after_a_deleted_event_the_stream_is_truncated(live: Api):
    await emit(live, n=1)
    await feed(live, 1)
    deleted = str(uuid7_floor(live.clock() - timedelta(days=31)))
    async with open_stream(live.sue, {"Last-Event-ID": deleted}) as stream:
        assert numbers(await stream.until(1)) == [1]
        assert [(each.name, each.data) for each in stream.blocks][:2] == [
            ("", None),
            ("stream.truncated", {"reason": "truncated"}),
        ]
        assert stream.blocks[0].id == BEGINNING
    unknown = await live.sue("GET", "/events/stream", headers={"Last-Event-ID": str(uuid7(live.clock()))})
    assert (unknown.code, faults(unknown)) == ("INVALID_FIELD", ["after"])
    malformed = await live.sue("GET", "/events/stream", headers={"Last-Event-ID": "42"})
    assert (malformed.code, faults(malformed)) == ("INVALID_FIELD", ["Last-Event-ID"])


async def test_callers_see_only_events_of_their_domains(live: Api):
    for kind, domain in (("mail.sent", EXAMPLE), ("mail.received", OTHER), ("mail.bounced", None)):
        await emit(live, kind, domain)
    await feed(live, 3)

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
        assert stream.last_id == newest, "not the ID of an event that the caller may not see"


ENDS = {
    "logged out": ("adam", "DELETE FROM sessions WHERE admin_id = %(admin)s", "SESSION_INVALID"),
    "expired": ("adam", "UPDATE sessions SET expires_at = created_at WHERE admin_id = %(admin)s", "SESSION_INVALID"),
    "deleted": ("adam", "DELETE FROM admins WHERE id = %(admin)s", "SESSION_INVALID"),
    "demoted": ("adam", "UPDATE admins SET role = 'domain_admin' WHERE id = %(admin)s", "FORBIDDEN"),
    "revoked": ("scoped", "DELETE FROM api_keys WHERE id = %(key)s", "API_KEY_INVALID"),
    "its owner demoted": ("scoped", "UPDATE admins SET role = 'domain_admin' WHERE id = %(admin)s", "FORBIDDEN"),
}


@pytest.mark.parametrize("change", ENDS)
async def test_a_stream_ends_when_its_caller_loses_access(live: Api, change: str):
    who, statement, code = ENDS[change]
    async with open_stream(live.callers[who]) as stream:
        await emit(live, n=1)
        await stream.until(1)
        await live.sql(statement.encode(), admin=ADMIN_IDS["adam"], key=KEY_IDS["scoped"])  # type: ignore[arg-type]
        await emit(live, n=2)
        assert (await stream.until_closed())["code"] == code
        assert numbers(stream.events) == [1]


async def test_a_stream_without_events_has_heartbeats_and_can_end(api: Api, monkeypatch: pytest.MonkeyPatch):
    """Even without a watcher: the streams poll."""
    monkeypatch.setattr(service, "_HEARTBEAT_SECONDS", 0.1)
    async with open_stream(api.adam) as stream:
        await emit(api, n=1)
        await stream.until(1)
        await until(lambda: asyncio.sleep(0, stream.text.count(": still here\n\n") > 2))
        await api.adam.post("/auth/logout")
        assert (await stream.until_closed())["code"] == "SESSION_INVALID"


async def test_a_changed_key_scope_changes_the_stream(live: Api):
    async with open_stream(live.scoped) as stream:
        await emit(live, n=1)
        await stream.until(1)
        await live.sql(
            "UPDATE api_key_domains SET domain_id = %(other)s WHERE key_id = %(key)s",
            other=DOMAIN_IDS[OTHER],
            key=KEY_IDS["scoped"],
        )
        await emit(live, n=2)
        await emit(live, domain=OTHER, n=3)
        assert numbers(await stream.until(2)) == [1, 3]
    async with open_stream(live.scoped, domain_id=DOMAIN_IDS[OTHER]) as stream:
        await live.sql("DELETE FROM api_key_domains WHERE key_id = %(key)s", key=KEY_IDS["scoped"])
        await emit(live, domain=OTHER, n=4)
        assert (await stream.until_closed())["code"] == "API_KEY_DOMAIN_SCOPE"
        assert stream.events == []


@pytest.mark.parametrize("wanted", [{}, {"domain_id": DOMAIN_IDS[EXAMPLE]}])
async def test_a_read_that_began_before_a_scope_change_shows_no_later_event(
    live: Api, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
):
    read = store.list_events
    monkeypatch.setattr(service, "_HEARTBEAT_SECONDS", 0.1)
    async with open_stream(live.scoped, **wanted) as stream:
        has_read = asyncio.Event()

        async def read_late(*args: Any) -> list[RecordedEvent]:
            """Read after the scope has changed and an event has happened; the permission was checked before."""
            monkeypatch.setattr(store, "list_events", read)
            await live.sql("DELETE FROM api_key_domains WHERE key_id = %(key)s", key=KEY_IDS["scoped"])
            await emit(live, n=2)
            has_read.set()
            return await read(*args)

        monkeypatch.setattr(store, "list_events", read_late)
        await emit(live, domain=OTHER, n=1)
        if wanted:
            assert (await stream.until_closed())["code"] == "API_KEY_DOMAIN_SCOPE"
        else:
            await asyncio.wait_for(has_read.wait(), 60)
            heartbeats = stream.text.count(": still here")
            await until(lambda: asyncio.sleep(0, stream.text.count(": still here") > heartbeats + 1))
        assert stream.events == []


async def test_a_stream_counts_as_one_request_of_its_key(live: Api):
    client, _ = await live.key(live.adam, rate_limit=3)
    async with open_stream(client) as stream:
        for number in range(5):
            await emit(live, n=number)
            await stream.until(number + 1)
        assert stream.headers["ratelimit-remaining"] == "2"
    assert (await client.get("/events")).headers["ratelimit-remaining"] == "1"


async def test_the_number_of_streams_is_limited(live: Api):
    limits = replace(live.app.settings.limits, event_streams=3, event_streams_per_caller=2)
    live.app.settings = replace(live.app.settings, limits=limits)
    async with open_stream(live.adam) as first, open_stream(live.adam):
        refused = await live.adam.get("/events/stream")
        assert (refused.status, refused.code, reason(refused)) == (429, "RATE_LIMIT_EXCEEDED", "too_many_streams")
        assert refused.headers["retry-after"]
        async with open_stream(live.scoped):  # a key is a separate caller
            full = await live.sue.get("/events/stream")
            assert (full.status, full.code, reason(full)) == (503, "UNAVAILABLE", "too_many_streams")
        first.disconnected.set()
        await first.until_closed()
        async with open_stream(live.adam, duration=0) as third:
            assert third.status == 200
    assert len(live.app.streams) == 0


async def test_head_opens_no_stream(live: Api):
    answer = await live.sue("HEAD", "/events/stream")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert len(live.app.streams) == 0


async def listeners(live: Api) -> set[int]:
    """The backend PIDs of watchers that sleep until there is a new event."""
    rows = await live.sql(
        """
        SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND d.datname = current_database()
        """
    )
    return {row["pid"] for row in rows}


async def test_all_streams_share_one_listener_and_without_them_is_no_notify(live: Api):
    async def wait_for_listeners(count: int) -> None:
        async def has_count() -> bool:
            return len(await listeners(live)) == count

        await until(has_count)

    async with live.app.db.listen("mailkeep_events") as conn:
        await emit(live, n=1)
        assert [each async for each in conn.notifies(timeout=0.2)] == []
        async with open_stream(live.adam), open_stream(live.adam), open_stream(live.sue):
            await wait_for_listeners(1)

            async def is_notified() -> bool:
                await emit(live, n=2)
                return [each async for each in conn.notifies(timeout=1, stop_after=1)] != []

            await until(is_notified)  # every second the listener is awake for a moment, and polls instead
        await wait_for_listeners(0)


async def test_a_listener_reconnects(live: Api):
    async def disconnect_all() -> bool:
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
        await emit(live, n=1)
        await stream.until(1)
        await until(disconnect_all)  # the stream may have read before the watcher listens
        count = 1
        while count < 4:
            with suppress(Unavailable):  # the pool's connections were closed as well
                await emit(live, n=count + 1)
                count += 1
        assert numbers(await stream.until(4)) == [1, 2, 3, 4]


async def test_a_shutdown_ends_the_streams_and_accepts_none(live: Api):
    async with open_stream(live.adam) as stream:
        live.app.streams.close()
        assert (await stream.until_closed())["code"] == "UNAVAILABLE"
    assert (await live.adam.get("/events/stream")).status == 503
