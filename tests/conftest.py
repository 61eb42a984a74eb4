"""The database of the tests: one private server a run, one fresh database a test, cloned from a migrated one.

The server is the product's own, started by the process that outlives all others (with xdist the controller),
without fsync. `database_urls` is a test's own database, `module_database_urls` a module's, for tests that can
share; `make_database` makes more, also empty ones.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mailkeep.core.clock import utc_now
from mailkeep.db import migrate, postgres
from mailkeep.db.postgres import Urls
from mailkeep.db.postgres_cluster import DATABASE
from tests.support.scratch import new_directory

T = TypeVar("T")
MakeDatabase = Callable[[str], Urls]

_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "300",
    "checkpoint_timeout": "1h",
    "max_wal_size": "160MB",
}


@dataclass
class RunningServer:
    data_dir: Path
    server: postgres.PrivateServer


_running: RunningServer | None = None


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs it on a loop of its own, and leaves the loop of pytest-asyncio where it is."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def the_server() -> Urls:
    """The server of this process, started at the first call."""
    global _running
    if _running is None:
        # Open, since as root the server's own account must get in.
        data_dir = new_directory("mailkeep-tests-", 0o755)
        _running = RunningServer(data_dir, run(postgres.start(data_dir, postgres.ServerOptions(settings=_FAST))))
    return _running.server.urls


def pytest_unconfigure() -> None:
    global _running
    if _running is not None:
        run(_running.server.stop())
        shutil.rmtree(_running.data_dir, ignore_errors=True)
        _running = None


@pytest.fixture(scope="session")
def database_server() -> Urls:
    """The server of this worker: on one for all, each would see the others' open transactions. Its own database stays
    unused; it is what the others are cloned from.
    """
    return the_server()


@pytest.fixture(scope="session")
def template(database_server: Urls) -> str:
    """The name of the database with the product's migrations and nothing else; nobody may stay connected."""
    run(migrate.migrate(database_server.owner, utc_now))
    return DATABASE


@pytest.fixture(scope="session")
def make_database(database_server: Urls) -> Iterator[MakeDatabase]:
    """Clones a database; `template1` gives an empty one. Dropped by `drop_database`, else with the server."""
    numbers = itertools.count(1)
    with maintenance(database_server) as conn:

        def make(template: str) -> Urls:
            name = f"test_{os.getpid()}_{next(numbers)}"
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY {}").format(
                sql.Identifier(name), sql.Identifier(template), sql.SQL("FILE_COPY")
            )
            _alone(conn, statement, template)
            return Urls(
                owner=make_conninfo(database_server.owner, dbname=name),
                app=make_conninfo(database_server.app, dbname=name),
                audit=make_conninfo(database_server.audit, dbname=name),
            )

        yield make


def _alone(conn: psycopg.Connection[tuple[Any, ...]], statement: sql.Composed, name: str) -> None:
    """Executes it once nobody is connected to the database of this name."""
    deadline = time.monotonic() + 60
    while True:
        late = time.monotonic() > deadline
        try:
            conn.execute(statement)
            return
        except (errors.InsufficientPrivilege, errors.ObjectInUse) as error:
            # The other role's closed connections take a moment to go, and aren't the owner's to end.
            if late:
                raise TimeoutError(f"somebody is still connected to {name}") from error
            time.sleep(0.02)


def maintenance(server: Urls) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(make_conninfo(server.owner, dbname="postgres"), autocommit=True)


@pytest.fixture(scope="session")
def drop_database(database_server: Urls) -> Iterator[Callable[[Urls], None]]:
    """Drops a database, and cuts off whoever is still connected."""
    with maintenance(database_server) as conn:

        def drop(urls: Urls) -> None:
            name = conninfo_to_dict(urls.owner)["dbname"]
            _alone(conn, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(str(name))), str(name))

        yield drop


@pytest.fixture
def database_urls(make_database: MakeDatabase, drop_database: Callable[[Urls], None], template: str) -> Iterator[Urls]:
    """A fresh database with the product's schema, for one test."""
    urls = make_database(template)
    yield urls
    drop_database(urls)


@pytest.fixture(scope="module")
def module_database_urls(
    make_database: MakeDatabase, drop_database: Callable[[Urls], None], template: str
) -> Iterator[Urls]:
    """A fresh database with the product's schema, for all tests of a module."""
    urls = make_database(template)
    yield urls
    drop_database(urls)
