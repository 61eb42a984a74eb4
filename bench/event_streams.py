"""Event streams: what an open stream costs the publisher, the delay of an event, and the speed of reading a backlog.

Promise: a backlog is read at least half as fast as by paging the feed. `synchronous_commit` is off, so that the disk
does not hide costs. Reader and publisher share a process. `python -m bench.event_streams [EVENTS]`.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from math import inf
from pathlib import Path
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.page import PageRequest
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import Vault
from mailkeep.db import migrate, postgres
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.pool import DatabasePool
from mailkeep.features.record.events import jobs, service
from mailkeep.features.record.events.model import EventFilter, FeedStart
from mailkeep.features.record.events.service import StreamReader
from mailkeep.settings import Settings
from tests.support.events import sample_event

WHO = Principal(uuid7(utc_now()), "bench@example.test", Role.ADMIN, ActorType.SESSION, ip_address="192.0.2.1")
ALL = EventFilter(None)
DATA = {"message_id": "<1@example.test>", "from": "shop@example.test", "to": ["a@elsewhere.test"], "subject": "x" * 40}


async def emit_event(app: App) -> float:
    """Emit an event in a separate transaction, with the time in its data; returns the seconds that took."""
    start = time.perf_counter()
    async with app.db.tx() as conn:
        await conn.execute("SET LOCAL synchronous_commit = off")
        await service.emit(conn, utc_now(), sample_event("mail.sent", None, None, DATA | {"at": time.perf_counter()}))
    return time.perf_counter() - start


async def follow(app: App, delays: list[float]) -> None:
    """Read new events until cancelled; adds the seconds from publication to reading to `delays`."""

    async def reload_caller() -> Principal:
        return WHO

    async with app.db.autocommit() as conn:
        start = await service.start_stream(conn, WHO, ALL, FeedStart(None, utc_now()))
    with app.streams.open(UUID(int=0), max_streams=1, max_per_caller=1) as slot:
        async for events in service.follow(app, StreamReader(slot, reload_caller, ALL, inf), start.position):
            delays += [time.perf_counter() - each.data["at"] for each in events]


async def compare_publishing(app: App, count: int) -> None:
    """Time events with and without an open stream, alternately, so that both use the same table."""
    alone: list[float] = []
    followed: list[float] = []
    delays: list[float] = []
    for _ in range(10):
        alone += [await emit_event(app) for _ in range(count // 10)]
        following = asyncio.create_task(follow(app, delays))
        await asyncio.sleep(0.2)
        for _ in range(count // 10):
            followed.append(await emit_event(app))
            await asyncio.sleep(0.002)  # lets the watcher sleep
        await asyncio.sleep(0.3)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await asyncio.sleep(1.2)  # until the watcher has stopped
    ratio = statistics.median(followed) / statistics.median(alone)
    print(f"an event, nobody follows   median {statistics.median(alone) * 1e6:6.0f} µs")
    print(f"an event, a stream is open median {statistics.median(followed) * 1e6:6.0f} µs: {ratio:.2f} times")
    delays.sort()
    last = delays[int(len(delays) * 0.99)]
    print(f"published to read: median {statistics.median(delays) * 1e3:.1f} ms, p99 {last * 1e3:.1f} ms")


async def compare_backlogs(app: App, count: int) -> None:
    """Read the whole feed in pages of 50, and as a stream."""
    async with app.db.tx() as conn:
        await service.emit_all(conn, utc_now(), [sample_event("mail.sent", None, None, DATA)] * count)
    start, seen, key = time.perf_counter(), 0, None
    async with app.db.autocommit() as conn:
        while True:
            page, _ = await service.read_feed(
                conn, WHO, ALL, PageRequest(50, "sequence", "asc", key), FeedStart(None, utc_now())
            )
            seen, key = seen + len(page.rows), page.next_key
            if key is None:
                break
    pages = seen / (time.perf_counter() - start)

    async def reload_caller() -> Principal:
        return WHO

    start, streamed = time.perf_counter(), 0
    with app.streams.open(UUID(int=0), max_streams=1, max_per_caller=1) as slot:
        async for events in service.follow(app, StreamReader(slot, reload_caller, ALL, 0), None):
            streamed += len(events)
    stream = streamed / (time.perf_counter() - start)
    assert streamed == seen
    print(
        f"a backlog of {seen:,}: {pages:,.0f} a second by pages, {stream:,.0f} as a stream: {stream / pages:.2f} times"
    )


async def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        data_dir.chmod(0o755)
        server = await postgres.start(data_dir)
        await migrate.migrate(server.urls.owner, utc_now)
        db = DatabasePool(server.urls.app)
        await db.open()
        app = App(Settings(), data_dir, utc_now, Vault(b"the master secret of the bench, 32+"), db)
        async with db.tx() as conn:
            await ensure_partitions(conn, utc_now())
        watching = asyncio.create_task(jobs.watch(app))
        try:
            await compare_publishing(app, count)
            await compare_backlogs(app, count)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await db.close()
            await server.stop()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
