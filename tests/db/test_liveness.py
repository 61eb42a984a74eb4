"""Liveness locks: other processes see by a session's lock that a process is alive."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID, uuid4

import psycopg
import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.liveness import LivenessLock
from mailkeep.db.pool import DatabasePool


@pytest.fixture
async def urls(make_database, drop_database):
    urls = make_database("template1")
    yield urls
    drop_database(urls)


@pytest.fixture
async def database(urls):
    database = DatabasePool(urls.owner, max_size=4, timeout=2)
    await database.open()
    yield database
    await database.close()


async def is_gone(database: DatabasePool, asker: LivenessLock, other: UUID) -> bool:
    async with database.autocommit() as conn:
        return await asker.is_process_gone(conn, other)


async def test_a_process_is_seen_until_it_ends(database):
    ours, others = LivenessLock(database), LivenessLock(database)
    first, *again = await asyncio.gather(*(ours.hold() for _ in range(5)))
    assert again == [first] * 4
    assert await asyncio.gather(*(is_gone(database, others, first) for _ in range(8))) == [False] * 8
    assert await is_gone(database, others, uuid4())
    await ours.release()
    assert await is_gone(database, others, first)
    second = await ours.hold()
    assert second != first
    assert not await is_gone(database, others, second)


async def test_a_process_is_gone_with_its_pool(urls, database):
    dying = DatabasePool(urls.owner)
    await dying.open()
    name = await LivenessLock(dying).hold()
    asker = LivenessLock(database)
    assert not await is_gone(database, asker, name)
    await dying.close()
    deadline = time.monotonic() + 30
    while not await is_gone(database, asker, name):  # the session's end takes a moment
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_after_a_lost_session_it_is_seen_under_another_name(urls, database):
    ours, others = LivenessLock(database), LivenessLock(database)
    first = await ours.hold()
    with psycopg.connect(urls.owner, autocommit=True) as conn:
        ended = conn.execute(
            """
            SELECT pg_terminate_backend(pid, 30000) FROM pg_locks JOIN pg_database d ON d.oid = database
            WHERE locktype = 'advisory' AND datname = current_database()
            """
        ).fetchall()
    assert ended == [(True,)]
    assert await is_gone(database, others, first)
    second = await ours.hold()
    assert second != first
    assert not await is_gone(database, others, second)


async def test_without_a_database_nobody_is_seen():
    nowhere = DatabasePool("postgresql://nobody@127.0.0.1:1/none", timeout=0.1)
    with pytest.raises(Unavailable):
        await LivenessLock(nowhere).hold()
