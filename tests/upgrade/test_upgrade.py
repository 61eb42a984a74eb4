"""Who upgrades keeps what there was: every schema that a release brought, with data, is migrated to the newest.

`NNNN.sql` is a database as the program left it whose newest migration was NNNN (`make.py` writes them).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.migrate import FOLDER, migrate, missing_in, pending, read_migrations
from mailkeep.db.postgres import Urls
from mailkeep.run.runtime import context
from tests.plugins.api import UNHURRIED, running_on
from tests.plugins.post import letter, with_mail
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, email_of, insert_cast

DUMPS = sorted(Path(__file__).parent.glob("[0-9]*.sql"))
NEWEST = read_migrations()[-1].number
_MONTH = re.compile(r"_[0-9]{4}_[0-9]{2}(?![0-9])")

# What stands in the catalogue of a database, one line each.
_SCHEMA = """
SELECT format('column %s %s %s %s %s %s %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod),
              a.attnotnull, a.attstorage, pg_get_expr(d.adbin, d.adrelid), a.attcollation::regcollation)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S') AND a.attnum > 0
   AND NOT a.attisdropped
UNION ALL
SELECT format('relation %s %s %s %s %s', c.oid::regclass, c.relkind, c.relpersistence, c.reloptions,
              pg_get_expr(c.relpartbound, c.oid))
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT format('constraint %s %s %s', o.conrelid::regclass, o.conname, pg_get_constraintdef(o.oid))
  FROM pg_constraint o WHERE o.connamespace = 'public'::regnamespace
UNION ALL
SELECT 'index ' || pg_get_indexdef(i.indexrelid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE NOT t.tgisinternal
UNION ALL
SELECT 'function ' || pg_get_functiondef(p.oid)
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f'
UNION ALL
SELECT format('privilege %s %s %s', c.oid::regclass, x.grantee::regrole, x.privilege_type)
  FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
UNION ALL
SELECT format('privilege %s %s %s %s', a.attrelid::regclass, a.attname, x.grantee::regrole, x.privilege_type)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, aclexplode(a.attacl) x
 WHERE c.relnamespace = 'public'::regnamespace
UNION ALL
SELECT format('privilege %s %s %s', p.oid::regprocedure, x.grantee::regrole, x.privilege_type)
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x
 WHERE p.pronamespace = 'public'::regnamespace
UNION ALL
SELECT format('default %s %s %s', d.defaclobjtype, x.grantee::regrole, x.privilege_type)
  FROM pg_default_acl d, aclexplode(d.defaclacl) x
UNION ALL
SELECT format('extension %s', e.extname) FROM pg_extension e
"""


def rows(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as conn:
        return conn.execute(question.encode()).fetchall()


def schema(url: str) -> set[str]:
    """The schema but for the months, which each database has its own of."""
    return {line for (line,) in rows(url, _SCHEMA) if line.startswith("function") or not _MONTH.search(line)}


def months(url: str) -> dict[str, set[tuple[str, str]]]:
    """The tables of single months, with the columns of each."""
    question = """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relkind = 'r' AND c.relispartition AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
    """
    found: dict[str, set[tuple[str, str]]] = {}
    for table, column, kind in rows(url, question):
        found.setdefault(table, set()).add((column, kind))
    return found


def counts(url: str) -> dict[str, int]:
    """How many rows each table has, those of its months among them."""
    tables = rows(url, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
                       " AND relkind IN ('r', 'p') AND NOT relispartition")  # fmt: skip
    return {name: rows(url, f"SELECT count(*) FROM {name}")[0][0] for (name,) in tables}


_LISTS = ("/mailboxes", "/aliases", "/messages", "/events", "/audit", "/api-keys", "/abuse/suspensions", "/admins")


@dataclass(frozen=True)
class Restored:
    """A dump in a database of its own, not migrated yet."""

    urls: Urls
    number: int


@pytest.fixture(params=DUMPS, ids=lambda path: path.stem)
def restored(
    request: pytest.FixtureRequest,
    template: str,
    make_database: Callable[[str], Urls],
    drop_database: Callable[[Urls], None],
) -> Iterator[Restored]:
    urls = make_database("template1")
    with psycopg.connect(urls.owner, autocommit=True) as conn:
        conn.execute(request.param.read_bytes())
    yield Restored(urls, int(request.param.stem))
    drop_database(urls)


def test_there_is_a_dump_to_upgrade_from() -> None:
    assert DUMPS
    assert all(int(path.stem) <= NEWEST for path in DUMPS)


async def test_what_there_was_is_kept_and_the_schema_is_the_newest(restored: Restored, database_urls: Urls) -> None:
    before = counts(restored.urls.owner)
    assert all(before.values()), before
    applied = await migrate(restored.urls.owner, utc_now)
    assert [migration.number for migration in applied] == list(range(restored.number + 1, NEWEST + 1))
    after = counts(restored.urls.owner)
    # What counts the calls of the last minute begins anew.
    passing = ("schema_migrations", "api_key_rates")
    kept = {table: rows for table, rows in before.items() if table not in passing}
    assert {table: after.get(table) for table in kept} == kept
    assert after["schema_migrations"] == NEWEST
    assert schema(restored.urls.owner) == schema(database_urls.owner)
    columns = months(restored.urls.owner)
    rows(database_urls.app, "SELECT ensure_partitions('2026-03-01')")
    assert columns == {name: months(database_urls.owner)[name] for name in columns}
    assert await migrate(restored.urls.owner, utc_now) == []


async def test_the_application_goes_on_with_it(restored: Restored, tmp_path: Path) -> None:
    await migrate(restored.urls.owner, utc_now)
    async with running_on(restored.urls, UNHURRIED, tmp_path) as api:
        api.clock.advance(seconds=1)  # after all that the dump has
        await _reads(api)
        async with with_mail(api) as post:
            assert (await post.send()).status == 200
            await post.run_queue(60)
            assert (await post.deliver(f"sales@{EXAMPLE}")).code == 250
            assert (await post.messages(direction="outbound"))[0]["status"] == "delivered"
            assert len(await post.messages(direction="inbound")) >= 2
            again = await api.unscoped(
                "POST", "/send", letter(tags=["order"], metadata={"n": "1"}), headers={"idempotency-key": "first"}
            )
            assert again.headers["idempotent-replayed"] == "true"
        # The months of a later day, beside those that the dump has.
        api.clock.advance(days=90)
        async with api.app.db.tx() as conn:
            await conn.execute("SELECT ensure_partitions(%(at)s)", {"at": api.clock()})


async def _reads(api: Api) -> None:
    """As somebody who logs in and looks around."""
    client = await api.log_in(email_of("sue"))
    assert {row["name"] for row in (await client.get("/domains")).data} == {EXAMPLE, OTHER}
    for path in _LISTS:
        answer = await client.get(path)
        assert answer.status == 200, (path, answer.body)
        assert answer.data, path
    told = (await client.get("/routing/explain", address=f"STRASSE+x@{EXAMPLE}")).data
    assert told["decision"] == "deliver"
    assert (await client.get("/messages", subject="order")).data


async def test_the_old_version_runs_on_where_a_migration_fails(database_urls: Urls, tmp_path: Path) -> None:
    owner, folder = database_urls.owner, tmp_path / "next"
    shutil.copytree(FOLDER, folder)
    broken = "ALTER TABLE aliases ADD COLUMN colour text NOT NULL DEFAULT 'red'; DROP TABLE events; SELECT nonsense;"
    (folder / f"{NEWEST + 1:04d}_broken.sql").write_text(broken)
    async with await psycopg.AsyncConnection.connect(database_urls.app) as conn:
        await insert_cast(conn)
    async with running_on(database_urls, UNHURRIED, tmp_path) as api:
        await api.alias(f"sales@{EXAMPLE}", ["partner@elsewhere.test"])
        before = schema(owner), counts(owner)
        for dry_run in (True, False):
            with pytest.raises(Failure, match=f"{NEWEST + 1:04d}_broken.sql failed.*Nothing of it was applied"):
                await migrate(owner, utc_now, folder=folder, dry_run=dry_run)
        assert (schema(owner), counts(owner)) == before
        assert await pending(owner) == []
        assert len((await api.sue.get("/aliases")).data) == 1
        made = {"domain_id": str(DOMAIN_IDS[EXAMPLE]), "source_local_part": "info", "destination": "x@elsewhere.test"}
        assert (await api.sue.post("/aliases", made)).status == 201


async def test_an_old_program_refuses_a_new_schema_and_a_new_one_asks_for_it(
    database_urls: Urls, tmp_path: Path
) -> None:
    folder = tmp_path / "next"
    shutil.copytree(FOLDER, folder)
    (folder / f"{NEWEST + 1:04d}_next.sql").write_text("CREATE TABLE colours (name text)")
    # Expanded, not contracted: the old program's statements go on working until it is replaced.
    assert [migration.number for migration in await pending(database_urls.app, folder)] == [NEWEST + 1]
    await migrate(database_urls.owner, utc_now, folder=folder)
    for refused in (migrate(database_urls.owner, utc_now), pending(database_urls.app)):
        with pytest.raises(Failure, match=f"migration {NEWEST + 1:04d}.*which knows {NEWEST:04d}") as wrong:
            await refused
        assert wrong.value.permanent


async def test_a_command_works_with_its_own_schema_only(
    database_urls: Urls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside an instance of another version, that is; without one the command brings the schema up to date."""
    monkeypatch.setenv("MAILKEEP_DATABASE__URL", f"postgresql://?{urlencode(conninfo_to_dict(database_urls.app))}")
    async with context.opened(tmp_path) as app, app.db.autocommit() as conn:
        assert await missing_in(conn) == []
    for change, words in (
        ("DELETE FROM schema_migrations WHERE number = %s", "schema is older than this program"),
        ("INSERT INTO schema_migrations SELECT n, 'x', 'x', now(), '9.9' FROM generate_series(%s, %s + 1) n", "9.9"),
    ):
        with psycopg.connect(database_urls.owner) as owner:
            owner.execute(change.encode(), [NEWEST] * change.count("%s"))
        with pytest.raises(Failure, match=words):
            await context.opened(tmp_path).__aenter__()
