"""Databases for tests: a private server per test process, and a fresh clone of a migrated database per test.

The server is started like the product's, without fsync. `database_urls` is a database for one test,
`module_database_urls` for all tests of a module; `make_database` creates more, also empty ones.
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
    """Run a coroutine on a new loop, leaving the loop of pytest-asyncio alone."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def the_server() -> Urls:
    """The server of this process, started at the first call."""
    global _running
    if _running is None:
        # Accessible for the account `postgres` when running as root.
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
    """The server of this process. (On a shared one, tests would see the open transactions of others.)"""
    return the_server()


@pytest.fixture(scope="session")
def template(database_server: Urls) -> str:
    """The name of the migrated template database. Do not keep connections to it open."""
    run(migrate.migrate(database_server.owner, utc_now))
    return DATABASE


@pytest.fixture(scope="session")
def make_database(database_server: Urls) -> Iterator[MakeDatabase]:
    """Clones a database; `template1` gives an empty one."""
    numbers = itertools.count(1)
    with maintenance(database_server) as conn:

        def make(template: str) -> Urls:
            name = f"test_{os.getpid()}_{next(numbers)}"
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY {}").format(
                sql.Identifier(name), sql.Identifier(template), sql.SQL("FILE_COPY")
            )
            _execute_without_connections(conn, statement, template)
            return Urls(
                owner=make_conninfo(database_server.owner, dbname=name),
                app=make_conninfo(database_server.app, dbname=name),
                audit=make_conninfo(database_server.audit, dbname=name),
            )

        yield make


def _execute_without_connections(conn: psycopg.Connection[tuple[Any, ...]], statement: sql.Composed, name: str) -> None:
    """Execute a statement as soon as nobody is connected to the database."""
    deadline = time.monotonic() + 60
    while True:
        late = time.monotonic() > deadline
        try:
            conn.execute(statement)
            return
        except (errors.InsufficientPrivilege, errors.ObjectInUse) as error:
            # Closed connections of the other role take a moment to end, and the owner can't terminate them.
            if late:
                raise TimeoutError(f"somebody is still connected to {name}") from error
            time.sleep(0.02)


def maintenance(server: Urls) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(make_conninfo(server.owner, dbname="postgres"), autocommit=True)


@pytest.fixture(scope="session")
def drop_database(database_server: Urls) -> Iterator[Callable[[Urls], None]]:
    """Drops a database and its connections."""
    with maintenance(database_server) as conn:

        def drop(urls: Urls) -> None:
            name = conninfo_to_dict(urls.owner)["dbname"]
            _execute_without_connections(
                conn, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(str(name))), str(name)
            )

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
