"""An upgrade that fails changes nothing, and program and schema of different versions refuse each other.

Upgrades of databases with data are tested from the first release on: `CONTRIBUTING.md`, "Change the schema".
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.migrate import FOLDER, find_pending, list_missing, migrate, read_schema
from mailkeep.db.postgres import Urls
from mailkeep.db.schema_dump import dump_schema
from mailkeep.run.runtime import context
from mailkeep.run.runtime.upgrade import rehearse
from mailkeep.run.runtime.upgrade_wheel import Wheel
from tests.plugins.api import NO_RATE_LIMITS, running_on
from tests.support.client import DOMAIN_IDS, EXAMPLE, insert_test_users
from tests.support.scratch import new_directory

NEWEST = read_schema().migrations[-1].number


def rows(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as conn:
        return conn.execute(question.encode()).fetchall()


def counts(url: str) -> dict[str, int]:
    """How many rows each table has, with all its partitions."""
    tables = rows(url, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                       " AND relkind IN ('r', 'p') AND NOT relispartition")  # fmt: skip
    return {name: rows(url, f"SELECT count(*) FROM {name}")[0][0] for (name,) in tables}


async def test_the_old_version_keeps_running_when_a_migration_fails(database_urls: Urls, tmp_path: Path) -> None:
    owner, folder = database_urls.owner, tmp_path / "next"
    shutil.copytree(FOLDER, folder)
    broken = "ALTER TABLE aliases ADD COLUMN colour text NOT NULL DEFAULT 'red'; DROP TABLE events; SELECT nonsense;"
    (folder / f"migrations/{NEWEST + 1:04d}_broken.sql").write_text(broken)
    async with await psycopg.AsyncConnection.connect(database_urls.app) as conn:
        await insert_test_users(conn)
    async with running_on(database_urls, NO_RATE_LIMITS, tmp_path) as api:
        await api.alias(f"sales@{EXAMPLE}", ["partner@elsewhere.test"])
        before = dump_schema(owner), counts(owner)
        for dry_run in (True, False):
            with pytest.raises(Failure, match=f"{NEWEST + 1:04d}_broken.sql failed.*Nothing was applied"):
                await migrate(owner, utc_now, folder=folder, dry_run=dry_run)
        assert (dump_schema(owner), counts(owner)) == before
        assert await find_pending(owner) == []
        assert len((await api.sue.get("/aliases")).data) == 1
        made = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": "info", "destination": "x@elsewhere.test"}
        assert (await api.sue.post("/aliases", made)).status == 201


async def test_an_old_program_refuses_a_new_schema_and_a_new_one_reports_it(
    database_urls: Urls, tmp_path: Path
) -> None:
    folder = tmp_path / "next"
    shutil.copytree(FOLDER, folder)
    (folder / f"migrations/{NEWEST + 1:04d}_next.sql").write_text("ALTER TABLE totp_secrets RENAME TO totp_seeds")
    missing = await find_pending(database_urls.app, folder)
    assert [step.file for step in missing] == [f"{NEWEST + 1:04d}_next.sql", "functions/*.sql"]
    await migrate(database_urls.owner, utc_now, folder=folder)
    for refused in (migrate(database_urls.owner, utc_now), find_pending(database_urls.app)):
        with pytest.raises(Failure, match=f"migration {NEWEST + 1:04d}.*which knows {NEWEST:04d}") as wrong:
            await refused
        assert wrong.value.permanent


async def test_the_old_program_works_again_after_migrations_that_only_add(database_urls: Urls, tmp_path: Path) -> None:
    folder, before = tmp_path / "next", dump_schema(database_urls.owner)
    shutil.copytree(FOLDER, folder)
    (folder / f"migrations/{NEWEST + 1:04d}_next.sql").write_text("ALTER TABLE domains ADD COLUMN colour text")
    (folder / "functions/colours.sql").write_text(
        "CREATE OR REPLACE FUNCTION colour() RETURNS text LANGUAGE sql RETURN (SELECT max(colour) FROM domains);"
    )
    await migrate(database_urls.owner, utc_now, folder=folder)
    assert [step.file for step in await migrate(database_urls.owner, utc_now)] == ["functions/*.sql"]
    assert await find_pending(database_urls.app) == []
    after = dump_schema(database_urls.owner)
    assert "colour text" in after
    assert after.replace("    colour text\n", "") == before
    assert [step.file for step in await migrate(database_urls.owner, utc_now, folder=folder)] == ["functions/*.sql"]


async def test_migrations_are_tried_on_an_empty_database_first(tmp_path: Path) -> None:
    """With this version's functions after them: some changes only add, and can't be left again."""
    folders = {
        name: {path.name: path.read_text() for path in (FOLDER / name).glob("*.sql")}
        for name in ("migrations", "functions")
    }
    migrations, functions = folders["migrations"], folders["functions"]
    wheel = Wheel(tmp_path, "", "9.9.0", (3, 11), migrations, functions, 0, 0)
    data = new_directory("mailkeep-rehearsal-", 0o755)
    added = {f"{NEWEST + 1:04d}_next.sql": "ALTER TABLE domains ADD COLUMN colour text"}
    try:
        await rehearse(replace(wheel, migrations=migrations | added), data)
        broken = {f"{NEWEST + 1:04d}_next.sql": "CREATE TABLE colours AS SELECT colour"}
        with pytest.raises(Failure, match=r"_next\.sql failed in line 1"):
            await rehearse(replace(wheel, migrations=migrations | broken), data)
        name, text = next((name, text) for name, text in functions.items() if "RETURNS trigger" in text)
        function = re.search(r"FUNCTION (\w+)\(\)\s+RETURNS trigger", text)
        assert function
        other = f"CREATE OR REPLACE FUNCTION {function[1]}() RETURNS int LANGUAGE sql RETURN 1;"
        added = {f"{NEWEST + 1:04d}_next.sql": f"DROP FUNCTION {function[1]} CASCADE"}
        changed = replace(wheel, migrations=migrations | added, functions=functions | {name: other})
        with pytest.raises(Failure, match="can't be applied and left again"):
            await rehearse(changed, data)
        assert list(data.iterdir()) == []
    finally:
        shutil.rmtree(data)


async def test_a_command_works_with_its_own_schema_only(
    database_urls: Urls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is, beside an instance of another version. Without an instance the command migrates first."""
    monkeypatch.setenv("MAILKEEP_DATABASE__URL", f"postgresql://?{urlencode(conninfo_to_dict(database_urls.app))}")
    async with context.open_app(tmp_path) as app, app.db.autocommit() as conn:
        assert await list_missing(conn, read_schema()) == []
    for change, words in (
        ("UPDATE schema_functions SET checksum = 'other'", r"schema is older than this program \(functions/"),
        ("DELETE FROM schema_migrations WHERE number = %s", r"schema is older than this program \(0"),
        (
            "INSERT INTO schema_migrations SELECT n, 'x', 'x', now(), '9.9', NULL FROM generate_series(%s, %s + 1) n",
            "9.9",
        ),
    ):
        with psycopg.connect(database_urls.owner) as owner:
            owner.execute(change.encode(), [NEWEST] * change.count("%s"))
        with pytest.raises(Failure, match=words):
            await context.open_app(tmp_path).__aenter__()
