"""The pool with a real server: transactions, and behaviour while the database is unavailable."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from contextlib import AsyncExitStack
from math import inf
from time import monotonic

import psycopg
import pytest
from psycopg import errors

from mailkeep.core.errors import Unavailable
from mailkeep.db import postgres
from mailkeep.db.pool import DatabasePool, constraint_of, is_transient


@pytest.fixture
def seconds() -> float:
    """The time that a caller waits for a connection; longer than pauses of the machine."""
    return 60


@pytest.fixture
async def database(make_database, drop_database, seconds):
    urls = make_database("template1")
    database = DatabasePool(urls.owner, max_size=4, timeout=seconds)
    await database.open()
    async with database.autocommit() as conn:
        await conn.execute("CREATE TABLE t (n int CONSTRAINT t_n_unique UNIQUE)")
    yield database
    await database.close()
    drop_database(urls)


async def count(database: DatabasePool) -> int:
    async with database.autocommit() as conn:
        row = await (await conn.execute("SELECT count(*) AS n FROM t")).fetchone()
        assert row
        return row["n"]


async def test_a_block_commits_at_its_end(database):
    async with database.tx() as conn:
        await conn.execute("INSERT INTO t VALUES (1)")
        assert await count(database) == 0
    assert await count(database) == 1


async def test_an_exception_rolls_back_and_propagates(database):
    async def body():
        async with database.tx() as conn:
            await conn.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        await body()
    assert await count(database) == 0


async def test_a_cancelled_block_is_rolled_back_and_its_connection_reused(database):
    async def slow():
        async with database.tx() as conn:
            await conn.execute("INSERT INTO t VALUES (1)")
            await conn.execute("SELECT pg_sleep(30)")

    task = asyncio.create_task(slow())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(database) == 0


async def test_a_nested_block_is_a_savepoint(database):
    async with database.tx() as conn:
        await conn.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(errors.UniqueViolation):
            async with conn.transaction():
                await conn.execute("INSERT INTO t VALUES (1)")
        await conn.execute("INSERT INTO t VALUES (2)")
    assert await count(database) == 2


async def test_the_callers_transaction_can_not_be_committed(database):
    async def body():
        async with database.tx() as conn:
            await conn.execute("INSERT INTO t VALUES (1)")
            await conn.commit()

    with pytest.raises(psycopg.ProgrammingError):
        await body()
    assert await count(database) == 0


async def test_a_swallowed_error_is_not_a_commit(database):
    async def body():
        async with database.tx() as conn:
            await conn.execute("INSERT INTO t VALUES (1)")
            try:
                await conn.execute("INSERT INTO t VALUES (1)")
            except errors.UniqueViolation:
                pass

    with pytest.raises(RuntimeError, match="swallowed"):
        await body()
    assert await count(database) == 0


async def test_single_statements_commit_by_themselves(database):
    async def body():
        async with database.autocommit() as conn:
            await conn.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        await body()
    assert await count(database) == 1


async def test_constraint_of_names_the_violated_constraint(database):
    with pytest.raises(errors.UniqueViolation) as violated:
        async with database.tx() as conn:
            await conn.execute("INSERT INTO t VALUES (1), (1)")
    assert constraint_of(violated.value) == "t_n_unique"
    assert constraint_of(ValueError()) is None
    assert constraint_of(errors.DiskFull()) is None


async def test_connections_are_limited_in_utc_and_named(database):
    async with database.autocommit() as conn:
        for name, value in {
            "statement_timeout": "30s",
            "idle_in_transaction_session_timeout": "1min",
            "TimeZone": "UTC",
            "application_name": "mailkeep",
        }.items():
            cursor = await conn.execute("SELECT current_setting(%(name)s) AS value", {"name": name})
            assert await cursor.fetchone() == {"value": value}


async def test_an_unreachable_server_is_noticed_within_a_minute(database):
    """Without keepalives its TCP sessions would hold their locks for two hours. (Tests use a Unix socket.)"""
    async with database.autocommit() as conn:
        cursor = await conn.execute(
            "SELECT name, reset_val::int AS value, source FROM pg_settings WHERE name LIKE 'tcp\\_keepalives\\_%'"
        )
        rows = await cursor.fetchall()
    assert {row["source"] for row in rows} == {"client"}
    idle, interval, count = (
        next(row["value"] for row in rows if row["name"] == f"tcp_keepalives_{name}")
        for name in ("idle", "interval", "count")
    )
    assert idle + interval * count <= 60


async def test_options_and_name_of_the_operators_url_are_kept(database_server):
    url = f"{database_server.app} application_name=theirs options='-c work_mem=5MB'"
    database = DatabasePool(url, max_size=1, timeout=60)
    await database.open()
    async with database.autocommit() as conn:
        for name, value in {"work_mem": "5MB", "application_name": "theirs", "statement_timeout": "30s"}.items():
            cursor = await conn.execute("SELECT current_setting(%(name)s) AS value", {"name": name})
            assert await cursor.fetchone() == {"value": value}
    await database.close()


async def test_without_a_free_connection_unavailable_is_raised(database):
    holding = asyncio.Barrier(5)

    async def hold(held: asyncio.Event):
        async with database.tx():
            await holding.wait()
            await held.wait()

    held = asyncio.Event()
    holders = [asyncio.create_task(hold(held)) for _ in range(4)]
    await holding.wait()
    database._pool.timeout = 1
    with pytest.raises(Unavailable):
        async with database.tx():
            pass
    database._pool.timeout = 60
    held.set()
    await asyncio.gather(*holders)
    assert await count(database) == 0


@pytest.mark.parametrize(
    "error,transient",
    [
        (errors.DiskFull(), True),
        (errors.TooManyConnections(), True),
        (errors.CannotConnectNow(), True),
        (errors.AdminShutdown(), True),
        (errors.CrashShutdown(), True),
        (errors.ConnectionFailure(), True),
        (errors.QueryCanceled(), True),
        (errors.DeadlockDetected(), True),
        (errors.SerializationFailure(), True),
        (errors.ReadOnlySqlTransaction(), True),
        (errors.IoError(), True),
        (psycopg.OperationalError("connection is lost"), True),
        (errors.UniqueViolation(), False),
        (errors.InsufficientPrivilege(), False),
        (errors.SyntaxError(), False),
        (errors.InvalidTextRepresentation(), False),
        (psycopg.DataError("NUL"), False),
        (psycopg.InterfaceError("misused"), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_only_transient_errors_become_unavailable(database, error, transient):
    assert is_transient(error) is transient
    with pytest.raises(Unavailable if transient else type(error)) as raised:
        async with database.autocommit():
            raise error
    if transient:
        assert raised.value.__cause__ is error


async def test_a_statement_that_takes_too_long_is_unavailable(database):
    async def body():
        async with database.tx() as conn:
            await conn.execute("SET LOCAL statement_timeout = '50ms'")
            await conn.execute("SELECT pg_sleep(5)")

    with pytest.raises(Unavailable):
        await body()


async def test_a_connection_closed_by_the_server_is_replaced(database):
    # The pool's own check would pause for two seconds after the second dead connection.
    took: list[float] = []
    while len(took) < 5 and min(took, default=inf) >= 2:  # repeated, because the machine may have paused
        async with AsyncExitStack() as stack:
            conns = [await stack.enter_async_context(database.autocommit()) for _ in range(4)]
            victims = [conn.info.backend_pid for conn in conns[1:]]
            await conns[0].execute("SELECT pg_terminate_backend(pid) FROM unnest(%(v)s) AS pid", {"v": victims})
            for conn in conns[1:]:
                assert await asyncio.to_thread(select.select, [conn.fileno()], [], [], 60) != ([], [], [])
        begin = monotonic()
        for _ in range(8):
            assert await count(database) == 0
        took.append(monotonic() - begin)
    assert min(took) < 2


async def test_unavailable_while_the_server_is_down_and_quick_recovery(cluster_dir):
    server = await postgres.start(cluster_dir)
    database = DatabasePool(server.urls.app, timeout=1)
    try:
        await database.open()
        while not await answers(database):
            pass
        await server.stop()
        for _ in range(4):  # until the pool has discarded all its connections
            with pytest.raises(Unavailable):
                await one(database)
        server = await postgres.start(cluster_dir)
        # Each attempt takes at most a second. Attempts are counted because pauses of the machine do not matter.
        attempts = 1
        while not await answers(database):
            attempts += 1
            assert attempts < 7
        supervisor = asyncio.create_task(server.supervise())
        assert server.pid
        killed = server.pid
        os.kill(killed, signal.SIGKILL)
        begin = monotonic()
        while server.pid == killed or not await answers(database):
            await asyncio.sleep(0.02)
            assert monotonic() - begin < 30
    finally:
        await server.stop()
        await database.close()
    await supervisor


async def one(database: DatabasePool) -> bool:
    async with database.tx() as conn:
        return await (await conn.execute("SELECT 1 AS n")).fetchone() == {"n": 1}


async def answers(database: DatabasePool) -> bool:
    try:
        return await one(database)
    except Unavailable:
        await asyncio.sleep(0.02)
        return False


async def test_a_pool_opens_without_a_database(tmp_path):
    database = DatabasePool(f"host={tmp_path} dbname=x user=x", timeout=0.2)
    await database.open()
    with pytest.raises(Unavailable):
        await one(database)
    await database.close()
    with pytest.raises(Unavailable):
        await one(database)


async def test_a_dedicated_connection_receives_notifications(database):
    async with database.listen("news") as conn:
        async with database.tx() as sender:
            await sender.execute("SELECT pg_notify('news', 'one'), pg_notify('other', 'two')")
        assert [each.payload async for each in conn.notifies(timeout=60, stop_after=1)] == ["one"]
        assert await count(database) == 0, "the pool still works"


async def test_a_listener_gets_unavailable_when_the_server_ends(database):
    async def listen():
        async with database.listen("news") as conn:
            async with database.autocommit() as killer:
                await killer.execute("SELECT pg_terminate_backend(%s)", [conn.info.backend_pid])
            async for _ in conn.notifies(timeout=60):
                pass

    with pytest.raises(Unavailable):
        await listen()
