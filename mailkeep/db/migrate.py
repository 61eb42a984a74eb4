"""Migrations: numbered SQL files, each applied once, in order, whole or not at all.

`migrations/NNNN_name.sql` count up from 0001 without a gap. The table `schema_migrations` says what was
applied, when, by which version of the program, and with which content: a file that changed afterwards is
refused, and so is a database that a newer program has migrated. One runner works at a time, under an
advisory lock; another waits and then finds nothing to do.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from mailkeep import __version__
from mailkeep.core.clock import Clock
from mailkeep.core.errors import Failure
from mailkeep.db.pool import Conn, is_passing

log = logging.getLogger("mailkeep.db")

FOLDER = Path(__file__).parent / "migrations"
_NAME = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql")
_LOCK = 0x6D61696C  # "mail", as the key of the advisory lock

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer CONSTRAINT schema_migrations_pkey PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL,
    program_version text NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file; `checksum` is the SHA-256 of its bytes, in hex."""

    number: int
    name: str
    checksum: str
    sql: bytes

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.number:04d}_{self.name}.sql"


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of `schema_migrations`, as far as it is compared."""

    number: int
    name: str
    checksum: str
    program_version: str


async def migrate(owner_url: str, clock: Clock, *, folder: Path = FOLDER, dry_run: bool = False) -> list[Migration]:
    """Applies what is missing, each file in a transaction of its own, then ANALYZE; what was applied.

    A dry run applies all of it in one transaction and rolls it back. Fails (permanently unless the database
    was merely away) with the file and PostgreSQL's words; the failing file leaves nothing behind.
    """
    available = read_migrations(folder)
    async with _session(owner_url) as conn:
        await conn.execute("SELECT pg_advisory_lock(%(key)s)", {"key": _LOCK})
        # From here on only our DDL waits for locks, and as long as it waits everybody queues behind it.
        await conn.execute("SET lock_timeout = '15s'")
        missing = find_missing(available, await _applied(conn))
        if dry_run:
            async with conn.transaction(force_rollback=True):
                for migration in missing:
                    await _apply(conn, migration, clock)
            return missing
        for migration in missing:
            async with conn.transaction():
                await _apply(conn, migration, clock)
            log.info("applied migration %s", migration.file)
        if missing:
            await conn.execute("ANALYZE")
        return missing


async def pending(url: str, folder: Path = FOLDER) -> list[Migration]:
    """What `migrate` would apply; it only reads. Fails like `migrate` where the database doesn't fit."""
    async with _session(url) as conn:
        return await missing_in(conn, folder)


async def missing_in(conn: Conn, folder: Path = FOLDER) -> list[Migration]:
    """What a connection's database lacks; fails where it doesn't fit this program."""
    return find_missing(read_migrations(folder), await _applied(conn))


def read_migrations(folder: Path = FOLDER) -> list[Migration]:
    """The program's migrations in order. Fails on a wrong file name, a gap and a double number."""
    found: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if not match:
            raise Failure(f"{path.name} is no name of a migration (NNNN_name.sql).", permanent=True)
        sql = path.read_bytes()
        found.append(Migration(int(match[1]), match[2], hashlib.sha256(sql).hexdigest(), sql))
    for expected, migration in enumerate(found, start=1):
        if migration.number != expected:
            raise Failure(f"Migration {expected:04d} is missing or there twice.", permanent=True)
    return found


def find_missing(available: Sequence[Migration], applied: Sequence[Applied]) -> list[Migration]:
    """What of the program's migrations the database lacks.

    Fails when the database is newer than the program, was migrated with other content, or has a gap.
    """
    if len(applied) > len(available):
        last = applied[-1]
        raise Failure(
            f"The database was migrated by Mailkeep {last.program_version} (migration {last.number:04d}), "
            f"and this is {__version__}, which knows {len(available):04d}. Start that version or a newer "
            "one, or restore a backup from before the upgrade.",
            permanent=True,
        )
    for ours, row in zip(available, applied, strict=False):
        if row.number != ours.number:
            raise Failure(f"Migration {ours.file} was never applied, but later ones were.", permanent=True)
        if row.checksum != ours.checksum or row.name != ours.name:
            raise Failure(
                f"Migration {ours.file} is not what version {row.program_version} applied: an applied file "
                "must not change. Install the release again, or put the change into a new migration.",
                permanent=True,
            )
    return list(available[len(applied) :])


@asynccontextmanager
async def _session(url: str) -> AsyncGenerator[Conn]:
    """A connection of its own, without a limit on statements; the driver's errors leave as failures."""
    try:
        async with await psycopg.AsyncConnection[dict[str, Any]].connect(
            url,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=10,
            application_name="mailkeep migrate",
            options="-c statement_timeout=0 -c client_min_messages=warning -c timezone=UTC",
        ) as conn:
            yield conn
    except psycopg.Error as error:
        raise Failure(f"The database could not be migrated: {error}", permanent=not is_passing(error)) from error


async def _applied(conn: Conn) -> list[Applied]:
    cursor = await conn.execute("SELECT to_regclass('schema_migrations') IS NOT NULL AS present")
    row = await cursor.fetchone()
    if not row or not row["present"]:
        return []
    cursor = await conn.execute("SELECT number, name, checksum, program_version FROM schema_migrations ORDER BY number")
    return [Applied(**row) for row in await cursor.fetchall()]


async def _apply(conn: Conn, migration: Migration, clock: Clock) -> None:
    await conn.execute(_TABLE)
    try:
        await conn.execute(migration.sql)
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error)
        raise Failure(
            f"Migration {migration.file} failed{_line_of(error, migration.sql)}: {said}. Nothing of it was applied.",
            permanent=not is_passing(error),
        ) from error
    if conn.info.transaction_status != TransactionStatus.INTRANS:
        raise Failure(f"Migration {migration.file} ends its own transaction.", permanent=True)
    await conn.execute(
        """
        INSERT INTO schema_migrations (number, name, checksum, applied_at, program_version)
        VALUES (%(number)s, %(name)s, %(checksum)s, %(applied_at)s, %(program_version)s)
        """,
        {
            "number": migration.number,
            "name": migration.name,
            "checksum": migration.checksum,
            "applied_at": clock(),
            "program_version": __version__,
        },
    )


def _line_of(error: psycopg.Error, sql: bytes) -> str:
    position = error.diag.statement_position
    if not position:
        return ""
    return f" in line {sql.decode()[: int(position) - 1].count(chr(10)) + 1}"
