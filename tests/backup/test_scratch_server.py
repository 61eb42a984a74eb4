"""The server on a copy of the cluster: whatever the copy contains, it changes nothing else and reaches nobody."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from mailkeep.backup.database_copy import copy_database
from mailkeep.backup.scratch_server import CopyUnusable, remove_copies, serve_copy
from mailkeep.core.clock import utc_now
from mailkeep.core.landlock import MIN_VERSION, find_version
from mailkeep.db import migrate, postgres
from mailkeep.db.postgres_cluster import run_as
from tests.support.scratch import new_directory

if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)

# One statement for each line. The function runs as the superuser, for everybody.
_HOSTILE = """\
CREATE FUNCTION try_file(path text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN pg_read_file(path); EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
CREATE FUNCTION try_program(command text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', '(' || command || ') > out 2>&1; true'); RETURN pg_read_file('out'); EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
GRANT USAGE ON SCHEMA public TO PUBLIC;
"""  # noqa: E501


@pytest.fixture
async def instance() -> AsyncIterator[tuple[Path, Path, postgres.PrivateServer]]:
    """A running instance, and a copy of its cluster with hostile functions and configuration."""
    data_dir = new_directory("mailkeep-test-", 0o755, programs=True)
    server = await postgres.start(data_dir)
    try:
        await migrate.migrate(server.urls.owner, utc_now)
        sockets = str(conninfo_to_dict(server.urls.app)["host"])
        psql = [str(server.binaries.bin_dir / "psql"), "-h", sockets, "-U", "postgres", "-d", "mailkeep"]
        done = run_as(server.location.account, [*psql, "-v", "ON_ERROR_STOP=1"], _HOSTILE)
        assert done.returncode == 0, done.stderr
        copy = data_dir / "restored"
        await copy_database(data_dir, copy)
        (copy / "postgresql.auto.conf").write_text(
            "listen_addresses = '*'\nport = 1\nshared_preload_libraries = 'missing'\narchive_mode = on\n"
            "archive_command = 'touch /tmp/archived'\ndefault_transaction_read_only = off\n"
        )
        (copy / "standby.signal").touch()
        yield data_dir, copy, server
    finally:
        await server.stop()
        remove_copies(data_dir)
        shutil.rmtree(data_dir)


async def test_a_hostile_copy_reaches_nothing(instance: tuple[Path, Path, postgres.PrivateServer]):
    data_dir, copy, server = instance
    secret = data_dir / "secret-for-all"
    secret.write_text("secret")
    secret.chmod(0o644)
    open_folder = data_dir / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    live = conninfo_to_dict(server.urls.app)["host"]
    psql = str(server.binaries.bin_dir / "psql")
    async with serve_copy(copy, data_dir) as db, db.autocommit() as conn:

        async def call(function: str, argument: str) -> str:
            cursor = await conn.execute(f"SELECT {function}(%s) AS found".encode(), [argument])
            row = await cursor.fetchone()
            assert row
            return row["found"] or ""

        settings = {"listen_addresses": "", "archive_mode": "off", "default_transaction_read_only": "on"}
        for name, value in settings.items():
            cursor = await conn.execute("SELECT current_setting(%s) AS value", [name])
            assert (await cursor.fetchone()) == {"value": value}
        own = "nobody" if os.geteuid() == 0 else server.location.account.name
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            await conn.execute("DELETE FROM domains")
        assert await call("try_program", "id -un") == f"{own}\n"  # programs do run
        assert await call("try_file", str(secret)) == "42501"
        await call("try_program", f"touch {open_folder}/created /tmp/mailkeep-created {data_dir}/created; true")
        connect = f"{psql} -h {live} -p 5432 -U postgres -d postgres -At -c 'SELECT 1' 2>&1; true"
        answer = await call("try_program", connect)
        assert "Operation not permitted" in answer or "Permission denied" in answer, answer
    assert list(open_folder.iterdir()) == []
    assert not (data_dir / "created").exists()
    assert not Path("/tmp/mailkeep-created").exists()
    assert not Path("/tmp/archived").exists()
    assert not list(data_dir.glob("*.scratch"))
    async with await psycopg.AsyncConnection.connect(server.urls.app) as live_conn:  # which still works
        await live_conn.execute("SELECT count(*) FROM domains")


async def test_a_damaged_copy(instance: tuple[Path, Path, postgres.PrivateServer]):
    data_dir, copy, _ = instance
    (copy / "global" / "pg_control").write_bytes(b"\0" * 8192)
    with pytest.raises(CopyUnusable):
        async with serve_copy(copy, data_dir):
            raise AssertionError
    assert not list(data_dir.glob("*.scratch"))
