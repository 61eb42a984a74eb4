"""Migrations against an empty database: order, checksums, failure, two at a time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from mailkeep import __version__
from mailkeep.core.errors import Failure
from mailkeep.db.migrate import Applied, Migration, find_missing, migrate, pending, read_migrations

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def clock() -> datetime:
    return AT


@pytest.fixture
def urls(make_database, drop_database):
    urls = make_database("template1")
    yield urls
    drop_database(urls)


def write(folder: Path, **files: str) -> Path:
    """Migration files: `m0001_first="CREATE …"`."""
    for name, sql in files.items():
        (folder / f"{name[1:]}.sql").write_text(sql)
    return folder


def rows(url: str, question: str):
    with psycopg.connect(url) as conn:
        return conn.execute(question.encode()).fetchall()


def tables(url: str) -> set[str]:
    return {name for (name,) in rows(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


async def test_each_file_is_applied_once_in_order_and_noted(urls, tmp_path):
    write(tmp_path, m0001_first="CREATE TABLE a (n int); INSERT INTO a VALUES (1);")
    assert [migration.file for migration in await migrate(urls.owner, clock, folder=tmp_path)] == ["0001_first.sql"]
    write(tmp_path, m0002_second="CREATE TABLE b AS SELECT n FROM a", m0003_third="DROP TABLE a")
    assert [migration.number for migration in await pending(urls.owner, tmp_path)] == [2, 3]
    assert [migration.number for migration in await migrate(urls.owner, clock, folder=tmp_path)] == [2, 3]
    assert await migrate(urls.owner, clock, folder=tmp_path) == []
    assert tables(urls.owner) == {"b", "schema_migrations"}
    noted = rows(urls.owner, "SELECT number, name, applied_at, program_version FROM schema_migrations ORDER BY 1")
    assert noted == [
        (1, "first", AT, __version__),
        (2, "second", AT, __version__),
        (3, "third", AT, __version__),
    ]


async def test_analyze_follows(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a AS SELECT generate_series(1, 1000) AS n")
    await migrate(urls.owner, clock, folder=tmp_path)
    assert rows(urls.owner, "SELECT reltuples FROM pg_class WHERE relname = 'a'") == [(1000,)]


async def test_a_failing_file_leaves_nothing_and_those_before_it_stay(urls, tmp_path):
    write(tmp_path, m0001_good="CREATE TABLE a (n int)", m0002_bad="CREATE TABLE b (n int);\n\nSELECT nonsense;\n")
    with pytest.raises(Failure, match=r'0002_bad\.sql failed in line 3: column "nonsense" does not') as failed:
        await migrate(urls.owner, clock, folder=tmp_path)
    assert failed.value.permanent
    assert tables(urls.owner) == {"a", "schema_migrations"}
    write(tmp_path, m0002_bad="CREATE TABLE b (n int)")
    assert len(await migrate(urls.owner, clock, folder=tmp_path)) == 1


async def test_a_file_may_not_end_its_own_transaction(urls, tmp_path):
    write(tmp_path, m0001_sly="CREATE TABLE a (n int); COMMIT;")
    with pytest.raises(Failure, match=r"0001_sly\.sql ends its own transaction"):
        await migrate(urls.owner, clock, folder=tmp_path)


async def test_a_dry_run_tries_all_and_changes_nothing(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", m0002_b="CREATE TABLE b AS SELECT n FROM a")
    assert len(await migrate(urls.owner, clock, folder=tmp_path, dry_run=True)) == 2
    assert tables(urls.owner) == set()
    write(tmp_path, m0003_c="SELECT * FROM nowhere")
    with pytest.raises(Failure, match=r"0003_c\.sql"):
        await migrate(urls.owner, clock, folder=tmp_path, dry_run=True)
    assert tables(urls.owner) == set()


async def test_an_applied_file_that_changed_is_refused(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)")
    await migrate(urls.owner, clock, folder=tmp_path)
    write(tmp_path, m0001_a="CREATE TABLE a (n bigint)", m0002_b="CREATE TABLE b (n int)")
    for attempt in (migrate(urls.owner, clock, folder=tmp_path), pending(urls.owner, tmp_path)):
        with pytest.raises(Failure, match=r"0001_a\.sql is not what version .* applied"):
            await attempt
    assert tables(urls.owner) == {"a", "schema_migrations"}


async def test_a_newer_database_is_refused_with_the_way_out(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int)", m0002_b="CREATE TABLE b (n int)")
    await migrate(urls.owner, clock, folder=tmp_path)
    (tmp_path / "0002_b.sql").unlink()
    with pytest.raises(Failure, match=rf"migrated by Mailkeep {__version__} \(migration 0002\).*restore a backup"):
        await migrate(urls.owner, clock, folder=tmp_path)


async def test_of_two_at_once_one_does_it_and_the_other_waits(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int); SELECT pg_sleep(0.5)", m0002_b="INSERT INTO a VALUES (1)")
    done = await asyncio.gather(*(migrate(urls.owner, clock, folder=tmp_path) for _ in range(3)))
    assert sorted(len(applied) for applied in done) == [0, 0, 2]
    assert rows(urls.owner, "SELECT count(*) FROM a") == [(1,)]


async def test_a_runner_that_was_cut_off_leaves_the_schema_as_before_and_the_lock_free(urls, tmp_path):
    write(tmp_path, m0001_a="CREATE TABLE a (n int); SELECT pg_sleep(30)")
    task = asyncio.create_task(migrate(urls.owner, clock, folder=tmp_path))
    question = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    while not (found := rows(urls.owner, question)):
        await asyncio.sleep(0.02)
    rows(urls.owner, f"SELECT pg_terminate_backend({found[0][0]})")
    with pytest.raises(Failure) as failed:
        await task
    assert not failed.value.permanent
    assert tables(urls.owner) == set()
    write(tmp_path, m0001_a="CREATE TABLE a (n int)")
    assert len(await migrate(urls.owner, clock, folder=tmp_path)) == 1


async def test_a_database_that_is_away_is_a_passing_failure(tmp_path):
    with pytest.raises(Failure, match="could not be migrated") as failed:
        await migrate(f"host={tmp_path} dbname=x user=x", clock, folder=tmp_path)
    assert not failed.value.permanent


@pytest.mark.parametrize(
    "names,words",
    [
        (["0002_b"], "0001 is missing"),
        (["0001_a", "0003_c"], "0002 is missing"),
        (["0001_a", "0001_b"], "0002 is missing or there twice"),
        (["1_a"], "no name of a migration"),
        (["0001_A"], "no name of a migration"),
        (["0001"], "no name of a migration"),
        (["０００１_a"], "no name of a migration"),
    ],
)
def test_files_out_of_order_are_refused(tmp_path, names, words):
    for name in names:
        (tmp_path / f"{name}.sql").touch()
    with pytest.raises(Failure, match=words):
        read_migrations(tmp_path)


def applied(*numbers: int) -> list[Applied]:
    return [Applied(number, f"m{number}", f"sum{number}", "0.1.0") for number in numbers]


OURS = [Migration(number, f"m{number}", f"sum{number}", b"") for number in (1, 2, 3)]


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_what_is_missing_is_the_rest(done):
    assert find_missing(OURS, applied(*range(1, done + 1))) == OURS[done:]


@pytest.mark.parametrize(
    "rows_there,words",
    [
        (applied(2), r"0001_m1\.sql was never applied"),
        (applied(1, 3), r"0002_m2\.sql was never applied"),
        (applied(1, 2, 3, 4), "which knows 0003"),
        ([Applied(1, "renamed", "sum1", "0.1.0")], "is not what version"),
    ],
)
def test_a_database_on_another_line_is_refused(rows_there, words):
    with pytest.raises(Failure, match=words):
        find_missing(OURS, rows_there)


def test_the_programs_own_migrations_are_in_order_and_apply_to_an_empty_database(template):
    assert read_migrations()
    assert template
