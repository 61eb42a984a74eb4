"""The database schema: numbered migrations, and the functions that every change of the schema replaces.

`migrations/NNNN_name.sql` hold tables, indexes and data moves. They count up from 0001 without a gap, and each is
applied once. `functions/*.sql` hold the current text of every function, trigger and grant, one topic per file. They are
applied in full when one of them or a migration is new; functions and triggers that are no longer in them are dropped.
`grants.sql` comes last.

A run is one transaction: everything is applied, or nothing. The tables `schema_migrations` and `schema_functions`
record what was applied, when, by which version of the program and with which content. A migration that has changed
since it was applied is refused. So is a database that a newer program has migrated, unless this one works with its
further migrations (`additive`): then it applies its own functions again, as after an upgrade that failed. An advisory
lock lets one process migrate at a time.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from mailkeep import __version__
from mailkeep.core.clock import Clock
from mailkeep.core.errors import Failure
from mailkeep.db.additive import find_oldest_program, works_with
from mailkeep.db.pool import Conn, is_transient

log = logging.getLogger("mailkeep.db")

FOLDER = Path(__file__).parent
_NAME = re.compile(r"([0-9]{4})_([a-z0-9_]+)\.sql")
_GRANTS = "grants.sql"
_LOCK = 0x6D61696C  # "mail", the key of the advisory lock

_TABLES = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer CONSTRAINT schema_migrations_pkey PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL,
    program_version text NOT NULL,
    oldest_program text
);
CREATE TABLE IF NOT EXISTS schema_functions (
    only_row boolean CONSTRAINT schema_functions_pkey PRIMARY KEY DEFAULT true
             CONSTRAINT schema_functions_one_row CHECK (only_row),
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL,
    program_version text NOT NULL
);
"""

# Functions and triggers that this transaction has not written: they are no longer in the files.
_STALE = """
SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass) AS statement
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal AND t.tgparentid = 0
   AND t.xmin <> pg_current_xact_id()::xid
UNION ALL
SELECT format('DROP FUNCTION %s', p.oid::regprocedure)
  FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.xmin <> pg_current_xact_id()::xid
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
 ORDER BY 1 DESC
"""


@dataclass(frozen=True, slots=True)
class File:
    """One SQL file: its path below the schema's folder, and its content."""

    file: str
    sql: bytes


@dataclass(frozen=True, slots=True)
class Migration(File):
    """One migration; `checksum` is the SHA-256 of its bytes, in hex."""

    number: int
    name: str
    checksum: str


@dataclass(frozen=True, slots=True)
class Functions:
    """All function files in the order of their names, `grants.sql` apart; `checksum` covers names and bytes."""

    definitions: tuple[File, ...]
    grants: File | None
    checksum: str
    file: str = "functions/*.sql"


Step = Migration | Functions


@dataclass(frozen=True, slots=True)
class Schema:
    """The migrations and functions of the program."""

    migrations: tuple[Migration, ...]
    functions: Functions


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """A row of `schema_migrations`, with the columns that are compared."""

    number: int
    name: str
    checksum: str
    program_version: str
    oldest_program: str | None


@dataclass(frozen=True, slots=True)
class AppliedSchema:
    """What the database has; `functions`: the checksum of the applied function files, None before the first run."""

    migrations: tuple[AppliedMigration, ...] = ()
    functions: str | None = None


async def migrate(owner_url: str, clock: Clock, *, folder: Path = FOLDER, dry_run: bool = False) -> list[Step]:
    """Apply what is missing in one transaction, then ANALYZE; return what was applied.

    A dry run applies everything and rolls back. Fails with the file and PostgreSQL's message (permanently, unless the
    database was only unreachable); then nothing is applied.
    """
    schema = read_schema(folder)
    async with _session(owner_url) as conn:
        await conn.execute("SELECT pg_advisory_lock(%(key)s)", {"key": _LOCK})
        # From here on only our DDL waits for locks, and every later statement on the table queues behind it.
        await conn.execute("SET lock_timeout = '15s'")
        missing = find_missing(schema, await _read_applied(conn))
        if not missing:
            return []
        async with conn.transaction(force_rollback=dry_run):
            await conn.execute(_TABLES)
            for step in missing:
                if isinstance(step, Migration):
                    await _apply_migration(conn, step, clock)
                else:
                    await _apply_functions(conn, step, clock)
        if not dry_run:
            log.info("applied %s", ", ".join(step.file for step in missing))
            await conn.execute("ANALYZE")
        return missing


async def find_pending(url: str, folder: Path = FOLDER) -> list[Step]:
    """Return what `migrate` would apply, without changing anything. Fails like `migrate` if the database does not fit
    the program.
    """
    async with _session(url) as conn:
        return await list_missing(conn, read_schema(folder))


async def list_missing(conn: Conn, schema: Schema) -> list[Step]:
    """Return what a connection's database lacks. Fails if the database does not fit the program."""
    return find_missing(schema, await _read_applied(conn))


def read_schema(folder: Path = FOLDER) -> Schema:
    """Read the program's migrations and functions. Fails on a wrong file name, a gap and a repeated number."""
    migrations: list[Migration] = []
    for file in _read_files(folder, "migrations"):
        name = file.file.removeprefix("migrations/")
        match = _NAME.fullmatch(name)
        if not match:
            raise Failure(f"{name} is not a valid name for a migration (NNNN_name.sql).", permanent=True)
        migrations.append(Migration(name, file.sql, int(match[1]), match[2], hashlib.sha256(file.sql).hexdigest()))
    for expected, migration in enumerate(migrations, start=1):
        if migration.number != expected:
            raise Failure(f"Migration {expected:04d} is missing, or its number is used twice.", permanent=True)
    files = _read_files(folder, "functions")
    grants = next((file for file in files if file.file == f"functions/{_GRANTS}"), None)
    checksum = hashlib.sha256(b"".join(file.file.encode() + b"\0" + file.sql + b"\0" for file in files)).hexdigest()
    definitions = tuple(file for file in files if file is not grants)
    return Schema(tuple(migrations), Functions(definitions, grants, checksum))


def find_missing(schema: Schema, applied: AppliedSchema) -> list[Step]:
    """Return the steps that the database lacks: migrations in order, then the functions.

    Fails if the program does not work with a migration that it does not know, if one has other content, or is missing.
    """
    unknown = applied.migrations[len(schema.migrations) :]
    if not all(works_with(row.oldest_program, __version__) for row in unknown):
        last = unknown[-1]
        raise Failure(
            f"The database was migrated by Mailkeep {last.program_version} (migration {last.number:04d}), but this is "
            f"Mailkeep {__version__}, which knows {len(schema.migrations):04d}. Start that version or a newer "
            "one, or restore a backup from before the upgrade.",
            permanent=True,
        )
    for migration, row in zip(schema.migrations, applied.migrations, strict=False):
        if row.number != migration.number:
            raise Failure(
                f"Migration {migration.file} was never applied, but later ones were. Restore a backup.", permanent=True
            )
        if row.checksum != migration.checksum or row.name != migration.name:
            raise Failure(
                f"Migration {migration.file} is not what version {row.program_version} applied: an applied file "
                "must not change. Install the release again, or put the change into a new migration.",
                permanent=True,
            )
    missing: list[Step] = list(schema.migrations[len(applied.migrations) :])
    if missing or applied.functions != schema.functions.checksum:
        missing.append(schema.functions)
    return missing


def _read_files(folder: Path, kind: LiteralString) -> list[File]:
    return [File(f"{kind}/{path.name}", path.read_bytes()) for path in sorted((folder / kind).glob("*.sql"))]


@asynccontextmanager
async def _session(url: str) -> AsyncGenerator[Conn]:
    """Open a connection without a statement timeout; driver errors become failures."""
    try:
        async with await psycopg.AsyncConnection[dict[str, Any]].connect(
            url,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=10,
            application_name="mailkeep migrate",
            options="-c statement_timeout=0 -c client_min_messages=warning -c timezone=UTC"
            " -c default_transaction_read_only=off",  # which the copy of a backup has
        ) as conn:
            yield conn
    except psycopg.Error as error:
        raise Failure(f"The database could not be migrated: {error}", permanent=not is_transient(error)) from error


async def _read_applied(conn: Conn) -> AppliedSchema:
    cursor = await conn.execute("SELECT to_regclass('schema_functions') IS NOT NULL AS present")
    row = await cursor.fetchone()
    if not row or not row["present"]:
        return AppliedSchema()
    cursor = await conn.execute(
        "SELECT number, name, checksum, program_version, oldest_program FROM schema_migrations ORDER BY number"
    )
    migrations = tuple(AppliedMigration(**row) for row in await cursor.fetchall())
    cursor = await conn.execute("SELECT checksum FROM schema_functions")
    row = await cursor.fetchone()
    return AppliedSchema(migrations, row["checksum"] if row else None)


async def _apply_migration(conn: Conn, migration: Migration, clock: Clock) -> None:
    await _execute(conn, migration)
    await conn.execute(
        """
        INSERT INTO schema_migrations (number, name, checksum, applied_at, program_version, oldest_program)
        VALUES (%(number)s, %(name)s, %(checksum)s, %(applied_at)s, %(program_version)s, %(oldest_program)s)
        """,
        {
            "number": migration.number,
            "name": migration.name,
            "checksum": migration.checksum,
            "applied_at": clock(),
            "program_version": __version__,
            "oldest_program": find_oldest_program(migration.sql.decode()),
        },
    )


async def _apply_functions(conn: Conn, functions: Functions, clock: Clock) -> None:
    # Functions call each other across files: the first pass creates them all, the second checks their bodies.
    for check in ("off", "on"):
        await conn.execute("SELECT set_config('check_function_bodies', %(check)s, true)", {"check": check})
        for file in functions.definitions:
            await _execute(conn, file)
    cursor = await conn.execute(_STALE)
    for row in await cursor.fetchall():
        await conn.execute(row["statement"].encode())
    if functions.grants:
        await _execute(conn, functions.grants)
    await conn.execute(
        """
        INSERT INTO schema_functions (checksum, applied_at, program_version)
        VALUES (%(checksum)s, %(applied_at)s, %(program_version)s)
        ON CONFLICT (only_row) DO UPDATE SET checksum = excluded.checksum, applied_at = excluded.applied_at,
                                             program_version = excluded.program_version
        """,
        {"checksum": functions.checksum, "applied_at": clock(), "program_version": __version__},
    )


async def _execute(conn: Conn, file: File) -> None:
    try:
        await conn.execute(file.sql)
    except psycopg.Error as error:
        message = error.diag.message_primary or str(error)
        raise Failure(
            f"{file.file} failed{_line_of(error, file.sql)}: {message}. Nothing was applied.",
            permanent=not is_transient(error),
        ) from error
    if conn.info.transaction_status != TransactionStatus.INTRANS:
        raise Failure(f"{file.file} ends its own transaction: remove COMMIT or ROLLBACK.", permanent=True)


def _line_of(error: psycopg.Error, sql: bytes) -> str:
    position = error.diag.statement_position
    if not position:
        return ""
    return f" in line {sql.decode()[: int(position) - 1].count(chr(10)) + 1}"
