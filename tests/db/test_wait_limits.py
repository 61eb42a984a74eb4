"""A database that hangs without failing: every call ends, and those after it are answered."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db import wait_limits
from mailkeep.db.pool import DatabasePool
from mailkeep.db.wait_limits import WaitLimit, limit_database_waits
from tests.plugins.post import letter
from tests.support.client import Api

ENDS = 20  # seconds, of which a call takes one: the server's own timeout would end it after thirty


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits a second of the thirty that a connection of the tests may take."""
    monkeypatch.setattr(wait_limits, "_SHARE", 1 / 30)


async def pid_of(database: DatabasePool) -> int:
    async with database.autocommit() as conn:
        row = await (await conn.execute("SELECT pg_backend_pid() AS pid")).fetchone()
        assert row
        return row["pid"]


@pytest.fixture
async def database(make_database, drop_database, hurried: None):
    urls = make_database("template1")
    made = DatabasePool(urls.owner, min_size=1, max_size=1, timeout=30)
    await made.open()
    yield made
    await made.close()
    drop_database(urls)


async def test_a_stopped_backend_does_not_hold_up_a_call(database: DatabasePool):
    stopped = await pid_of(database)
    os.kill(stopped, signal.SIGSTOP)
    try:
        async with asyncio.timeout(ENDS):
            with limit_database_waits():
                for _ in range(2):
                    with pytest.raises(Unavailable):
                        async with database.tx() as conn:
                            await conn.execute("SELECT 1")
            with limit_database_waits():
                assert await pid_of(database) != stopped, "another connection is in its place"
    finally:
        os.kill(stopped, signal.SIGCONT)


def test_slow_answers_count_together_and_quick_ones_do_not(monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr(wait_limits, "monotonic", lambda: now)
    waits = WaitLimit(5.0)
    with limit_database_waits():
        waits.restart()
        assert waits.remaining() == pytest.approx(3.5)
        now += 3.4  # the first lock of two is free now
        waits.record_answer()
        assert waits.remaining() == pytest.approx(0.5)
    with limit_database_waits():
        for _ in range(1000):  # as one that reads the audit log stretch by stretch
            waits.restart()
            now += 1.0
            waits.record_answer()
            assert waits.remaining() == pytest.approx(3.5)


async def test_work_beside_the_calls_may_take_its_time(database: DatabasePool):
    async with asyncio.timeout(60), database.autocommit() as conn:
        await conn.execute("SELECT pg_sleep(2)")
        with limit_database_waits():
            pass
        await conn.execute("SELECT pg_sleep(2)")


async def test_a_call_that_is_cancelled_ends_its_statement(database: DatabasePool):
    async def slow() -> None:
        with limit_database_waits():
            async with database.tx() as conn:
                await conn.execute("SELECT pg_sleep(0.9), pg_sleep(30)")

    task = asyncio.create_task(slow())
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(ENDS):
        await pid_of(database)


@pytest.mark.usefixtures("hurried")
async def test_every_call_ends_with_503_while_a_table_is_locked_for_ever(api: Api):
    conn = await api.app.db.connect_dedicated()
    try:
        async with conn.transaction():
            await conn.execute("LOCK TABLE domains, sessions IN ACCESS EXCLUSIVE MODE")
            async with asyncio.timeout(ENDS):
                listed, made, sent = await asyncio.gather(
                    api.sue.get("/domains"),
                    api.sue.post("/domains", {"name": "new.test"}),
                    api.unscoped.post("/send", letter()),
                )
        assert [(each.status, each.code) for each in (listed, made, sent)] == [(503, "UNAVAILABLE")] * 3
    finally:
        await api.app.db.close_dedicated(conn)
    async with asyncio.timeout(60):
        while (await api.sue.get("/domains")).status != 200:
            await asyncio.sleep(0.1)
