"""Migrations and functions against an empty database: order, checksums, failure, concurrent runs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from mailkeep import __version__
from mailkeep.core.errors import Failure
from mailkeep.db.migrate import (
    AppliedMigration,
    AppliedSchema,
    Functions,
    Migration,
    Schema,
    Step,
    find_missing,
    find_pending,
    migrate,
    read_schema,
)

FUNCTIONS = "functions/*.sql"
ONE = "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT {}';"
SCHEMA_TABLES = ("schema_migrations", "schema_functions")
AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def clock() -> datetime:
    return AT


@pytest.fixture
def urls(make_database, drop_database):
    urls = make_database("template1")
    yield urls
    drop_database(urls)


def write(folder: Path, **files: str) -> Path:
    """Migrations by `m0001_first="CREATE …"`, function files by `f_topic="CREATE OR REPLACE …"`."""
    for kind in ("migrations", "functions"):
        (folder / kind).mkdir(exist_ok=True)
    for name, sql in files.items():
        path = f"migrations/{name[1:]}.sql" if name[0] == "m" else f"functions/{name[2:]}.sql"
        (folder / path).write_text(sql)
    return folder


def rows(url: str, question: str):
    with psycopg.connect(url) as conn:
        return conn.execute(question.encode()).fetchall()


def tables(url: str) -> set[str]:
    return {name for (name,) in rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def names(steps: list[Step]) -> list[str]:
    return [step.file for step in steps]


async def test_each_migration_is_applied_once_in_order_and_recorded(urls, tmp_path):
    write(tmp_path, m0001_first="CREATE TABLE a (n int); INSERT INTO a VALUES (1);")
    assert names(await migrate(urls.owner, clock, folder=tmp_path)) == ["0001_first.sql", FUNCTIONS]
    write(tmp_path, m0002_second="CREATE TABLE b AS SELECT n FROM a", m0003_third="DROP TABLE a")
    missing = ["0002_second.sql", "0003_third.sql", FUNCTIONS]
    assert names(await find_pending(urls.owner, tmp_path)) == missing
    assert names(await migrate(urls.owner, clock, folder=tmp_path)) == missing
    assert await migrate(urls.owner, clock, folder=tmp_path) == []
    assert tables(urls.owner) == {"b", *SCHEMA_TABLES}
    recorded = rows(urls.owner, "SELECT number, name, applied_at, program_version FROM schema_migrations ORDER BY 1")
    assert recorded == [
        (1, "first", AT, __version__),
        (2, "second", AT, __version__),
        (3, "third", AT, __version__),
    ]


async def test_analyze_follows(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a AS SELECT generate_series(1, 1000) AS n")
    await migrate(urls.owner, clock, folder=tmp_path)
    assert rows(urls.owner, "SELECT reltuples FROM pg_class WHERE relname = 'a'") == [(1000,)]


@pytest.mark.parametrize("bad", [
    {"m0003_bad": "CREATE TABLE b (n int);\n\nSELECT nonsense;\n"},
    {"f_topic": "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2';\n\nSELECT nonsense"},
    {"f_grants": "SELECT 1;\n\nSELECT nonsense"},
])  # fmt: skip
async def test_a_failing_file_rolls_back_the_whole_run(urls, tmp_path, bad):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", f_topic=ONE.format(1))
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, m0002_good="CREATE TABLE good (n int)", **bad)
    with pytest.raises(Failure, match=r'failed in line 3: column "nonsense" does not exist. Nothing was') as failed:
        await migrate(urls.owner, clock, folder=tmp_path)
    assert failed.value.permanent
    assert tables(urls.owner) == {"a", *SCHEMA_TABLES}
    assert rows(urls.owner, "SELECT f()") == [(1,)]


async def test_a_changed_function_text_reaches_an_existing_database(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", f_topic=ONE.format(1))
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, f_topic=ONE.format(2))
    assert names(await find_pending(urls.owner, tmp_path)) == [FUNCTIONS]
    assert names(await migrate(urls.owner, clock, folder=tmp_path)) == [FUNCTIONS]
    assert rows(urls.owner, "SELECT f()") == [(2,)]
    assert await migrate(urls.owner, clock, folder=tmp_path) == []


async def test_functions_are_replaced_after_every_migration(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", f_topic=ONE.format(1))
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, m0002_b="DROP FUNCTION f")
    assert names(await migrate(urls.owner, clock, folder=tmp_path)) == ["0002_b.sql", FUNCTIONS]
    assert rows(urls.owner, "SELECT f()") == [(1,)]


async def test_functions_and_triggers_no_longer_in_the_files_are_dropped(urls, tmp_path):
    trigger = (
        "CREATE OR REPLACE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE OR REPLACE TRIGGER gone AFTER INSERT ON a FOR EACH STATEMENT EXECUTE FUNCTION t();"
        "CREATE OR REPLACE TRIGGER gone AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION t();"
    )
    table = (
        "CREATE TABLE a (n int); CREATE TABLE p (n int) PARTITION BY RANGE (n); CREATE TABLE d PARTITION OF p DEFAULT;"
    )
    write(tmp_path, m0001_a=table + "CREATE EXTENSION pg_trgm", f_topic=ONE.format(1) + trigger)
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, f_topic=ONE.format(2) + trigger)
    await migrate(urls.owner, clock, folder=tmp_path)
    question = "SELECT count(*) FROM pg_trigger WHERE tgname = 'gone'"
    assert rows(urls.owner, question) == [(3,)]
    write(tmp_path, f_topic="CREATE OR REPLACE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    await migrate(urls.owner, clock, folder=tmp_path)
    assert rows(urls.owner, question) == [(0,)]
    own = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner = current_user::regrole"
    assert rows(urls.owner, own) == [("g",)]
    assert rows(urls.owner, "SELECT similarity('a', 'a')") == [(1,)]


async def test_functions_call_each_other_whatever_file_they_are_in(urls, tmp_path):
    write(tmp_path, f_a="CREATE OR REPLACE FUNCTION a() RETURNS int LANGUAGE sql AS 'SELECT b()'")
    write(tmp_path, f_b="CREATE OR REPLACE FUNCTION b() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, f_b="CREATE OR REPLACE FUNCTION b() RETURNS int LANGUAGE sql AS 'SELECT nowhere()'")
    with pytest.raises(Failure, match=r"functions/b\.sql failed.*function nowhere\(\) does not exist"):
        await migrate(urls.owner, clock, folder=tmp_path)


async def test_a_file_may_not_end_its_own_transaction(urls, tmp_path):
    write(tmp_path, m0001_sly="CREATE TABLE a (n int); COMMIT;")
    with pytest.raises(Failure, match=r"0001_sly\.sql ends its own transaction"):
        await migrate(urls.owner, clock, folder=tmp_path)


async def test_a_dry_run_tries_everything_and_changes_nothing(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", m0002_b="CREATE TABLE b AS SELECT n FROM a")
    assert len(await migrate(urls.owner, clock, folder=tmp_path, dry_run=True)) == 3
    assert tables(urls.owner) == set()
    write(tmp_path, m0003_c="SELECT * FROM nowhere")
    with pytest.raises(Failure, match=r"0003_c\.sql"):
        await migrate(urls.owner, clock, folder=tmp_path, dry_run=True)
    assert tables(urls.owner) == set()


async def test_an_applied_file_that_changed_is_refused(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)")
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, m0001_a="CREATE TABLE a (n bigint)", m0002_b="CREATE TABLE b (n int)")
    for attempt in (migrate(urls.owner, clock, folder=tmp_path), find_pending(urls.owner, tmp_path)):
        with pytest.raises(Failure, match=r"0001_a\.sql is not what version .* applied"):
            await attempt
    assert tables(urls.owner) == {"a", *SCHEMA_TABLES}


async def test_a_newer_database_is_refused_with_advice(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", m0002_b="ALTER TABLE a RENAME TO b")
    await migrate(urls.owner, clock, folder=tmp_path)
    (tmp_path / "migrations/0002_b.sql").unlink()
    with pytest.raises(Failure, match=rf"migrated by Mailkeep {__version__} \(migration 0002\).*restore a backup"):
        await migrate(urls.owner, clock, folder=tmp_path)


async def test_a_concurrent_run_waits_for_the_first(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int); SELECT pg_sleep(0.5)", m0002_b="INSERT INTO a VALUES (1)")
    done = await asyncio.gather(*(migrate(urls.owner, clock, folder=tmp_path) for _ in range(3)))
    assert sorted(len(steps) for steps in done) == [0, 0, 3]
    assert rows(urls.owner, "SELECT count(*) FROM a") == [(1,)]


async def test_an_interrupted_run_changes_nothing_and_frees_the_lock(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", f_topic=ONE.format(1) + "SELECT pg_sleep(30)")
    task = asyncio.create_task(migrate(urls.owner, clock, folder=tmp_path))
    question = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while not (found := rows(urls.owner, question)):
        await asyncio.sleep(0.02)
    rows(urls.owner, f"SELECT pg_terminate_backend({found[0][0]})")
    with pytest.raises(Failure) as failed:
        await task
    assert not failed.value.permanent
    assert tables(urls.owner) == set()
    write(tmp_path, f_topic=ONE.format(1))
    assert names(await migrate(urls.owner, clock, folder=tmp_path)) == ["0001_a.sql", FUNCTIONS]


async def test_an_unreachable_database_is_a_transient_failure(tmp_path):
    with pytest.raises(Failure, match="could not be migrated") as failed:
        await migrate(f"host={tmp_path} dbname=x user=x", clock, folder=tmp_path)
    assert not failed.value.permanent


@pytest.mark.parametrize(
    "files,words",
    [
        (["0002_b"], "0001 is missing"),
        (["0001_a", "0003_c"], "0002 is missing"),
        (["0001_a", "0001_b"], "0002 is missing, or its number is used twice"),
        (["1_a"], "is not a valid name for a migration"),
        (["0001_A"], "is not a valid name for a migration"),
        (["0001"], "is not a valid name for a migration"),
        (["０００１_a"], "is not a valid name for a migration"),
    ],
)
def test_files_out_of_order_are_refused(tmp_path, files, words):
    for name in files:
        (write(tmp_path) / f"migrations/{name}.sql").touch()
    with pytest.raises(Failure, match=words):
        read_schema(tmp_path)


def applied(*numbers: int, functions: str = "text", oldest: str | None = None) -> AppliedSchema:
    rows = (AppliedMigration(number, f"m{number}", f"sum{number}", "0.1.0", oldest) for number in numbers)
    return AppliedSchema(tuple(rows), functions)


OURS = tuple(Migration(f"000{number}_m{number}.sql", b"", number, f"m{number}", f"sum{number}") for number in (1, 2, 3))
SCHEMA = Schema(OURS, Functions((), None, "text"))


@pytest.mark.parametrize("done", [0, 1, 2])
def test_later_migrations_and_the_functions_are_missing(done):
    assert find_missing(SCHEMA, applied(*range(1, done + 1))) == [*OURS[done:], SCHEMA.functions]


def test_functions_alone_are_missing_only_if_they_changed():
    assert find_missing(SCHEMA, applied(1, 2, 3)) == []
    assert find_missing(SCHEMA, applied(1, 2, 3, functions="older")) == [SCHEMA.functions]


def test_later_migrations_that_this_program_works_with_are_accepted():
    assert find_missing(SCHEMA, applied(1, 2, 3, 4, 5, oldest="0")) == []
    assert find_missing(SCHEMA, applied(1, 2, 3, 4, functions="newer", oldest=__version__)) == [SCHEMA.functions]


@pytest.mark.parametrize(
    "present,words",
    [
        (applied(2), r"0001_m1\.sql was never applied"),
        (applied(1, 3), r"0002_m2\.sql was never applied"),
        (applied(1, 2, 3, 4), "which knows 0003"),
        (applied(1, 2, 3, 4, oldest="99.0.0"), "which knows 0003"),
        (AppliedSchema((AppliedMigration(1, "renamed", "sum1", "0.1.0", None),)), "is not what version"),
    ],
)
def test_a_database_with_other_migrations_is_refused(present, words):
    with pytest.raises(Failure, match=words):
        find_missing(SCHEMA, present)


def test_the_programs_own_schema_applies_to_an_empty_database(template):
    assert read_schema().migrations
    assert template
