"""A read-only PostgreSQL on a restored copy of the cluster, for verification and partial restores. Only the migrations
that the copy lacks change it.

Whoever can write to the repository chooses what is in the copy, also functions that its superuser owns and libraries
that it loads. So nothing of its configuration counts: ours is given as arguments, with no TCP, no archiving and no
preloads. As root the server runs as `nobody`, which no other database knows. It is confined: it sees only the system's
files and its own, writes only to its own, and can't connect to anything.
"""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from time import monotonic

import psycopg

from mailkeep.backup.restored_tree import remove_tree
from mailkeep.core import confinement
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db import postgres_cluster
from mailkeep.db.instance import ensure_own_folder, instance_id, run_folder
from mailkeep.db.migrate import migrate
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import socket_urls
from mailkeep.db.postgres_binaries import Binaries, cluster_major, find_binaries
from mailkeep.db.postgres_cluster import ClusterLocation, ServerAccount, can_reach, clean_environment, make_reachable

VERIFY_PROGRAM = "pg_verifybackup"
SCRATCH_SUFFIX = ".scratch"
"""What the folder of the copy is called, beside the live cluster (as root)."""

_READY_WITHIN = 120.0
_STOP_WITHIN = 5.0
_RECOVERED_WITHIN = 3600.0
_OUTPUT_BYTES = 4096
_READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev/null", "/dev/urandom")
_REMOVED = ("recovery.signal", "standby.signal", "postmaster.pid", "postmaster.opts", "archive_status")
# As arguments: they override the cluster's own postgresql.auto.conf.
_SETTINGS = {
    "listen_addresses": "",
    "archive_mode": "off",
    "restore_command": "",
    "recovery_target_timeline": "latest",
    "shared_preload_libraries": "",
    "session_preload_libraries": "",
    "local_preload_libraries": "",
    "default_transaction_read_only": "on",
    "autovacuum": "off",
    "fsync": "off",
    "ssl": "off",
    "max_wal_senders": "0",
    "max_connections": "20",
    "max_logical_replication_workers": "0",
    "dynamic_shared_memory_type": "mmap",  # in the cluster's folder
    "logging_collector": "off",
    "log_destination": "stderr",
}

# There is nothing to fetch: all WAL is in pg_wal. Without hot standby nobody can connect before the end.
_RECOVERY = {
    "restore_command": "/bin/false",
    "recovery_target_timeline": "current",
    "recovery_target_action": "promote",
    "hot_standby": "off",
}

# -I ignores the environment and the working directory, -S the installed packages.
_LAUNCH_FAILED = 125
_LAUNCHER = f"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
try:
    from mailkeep.core.confinement import confine_server, end_with_parent
    from mailkeep.core.landlock import restrict_files
    plan = json.loads(sys.argv[2])
    restrict_files(plan["readable"], plan["writable"])
    confine_server(tuple(plan["account"]))
    end_with_parent(plan["parent"])
    os.execve(sys.argv[3], sys.argv[3:], plan["environment"])
except BaseException as error:
    os.write(2, ("it can't be confined: " + repr(error)).encode())
    os._exit({_LAUNCH_FAILED})
"""


class CopyUnusable(Failure):
    """PostgreSQL refuses the copy of the cluster."""


@asynccontextmanager
async def serve_copy(database: Path, data_dir: Path) -> AsyncGenerator[DatabasePool]:
    """Verify a restored copy of the cluster (pg_verifybackup), in which `check_tree` found nothing wrong, serve it,
    bring it to the schema of this version, and connect to it as the application's role. The folder may be moved.
    CopyUnusable if it is damaged; Failure, also if it has a newer schema.

    Call it from the main thread: the server ends with it.
    """
    data_dir = data_dir.resolve()
    run = run_folder(data_dir) / "scratch"
    try:
        location, binaries = await asyncio.to_thread(_prepare, database, data_dir)
        await _verify(location, binaries)
        ensure_own_folder(run, 0o711)
        process = _start(location, binaries, run)
        try:
            await _wait_until_ready(process, run)
            await _migrate(socket_urls(run).owner)
            pool = DatabasePool(socket_urls(run).app, min_size=1, max_size=4, application_name="mailkeep verification")
            await pool.open()
            try:
                yield pool
            finally:
                await pool.close()
        finally:
            await _stop(process)
    finally:
        shutil.rmtree(run, ignore_errors=True)
        await asyncio.to_thread(remove_copies, data_dir)


async def recover(data_dir: Path, to: datetime) -> None:
    """Bring the restored cluster of an instance that was not started yet to a time, with the WAL in its folder
    `pg_wal`, and end the recovery: it goes on in a new timeline. CopyUnusable if the WAL does not reach the time;
    Failure.
    """
    data_dir = data_dir.resolve()
    run = run_folder(data_dir) / "scratch"
    location = postgres_cluster.choose_location(data_dir, instance_id(data_dir))
    binaries = make_reachable(find_binaries(cluster_major(location.cluster)), location.account)
    _remove_configuration(location.cluster)
    for path in (location.cluster / "recovery.signal", *(location.cluster / "pg_wal").iterdir()):
        path.touch()
        os.chown(path, location.account.uid, location.account.gid, follow_symlinks=False)
    ensure_own_folder(run, 0o711)
    try:
        process = _start(location, binaries, run, _RECOVERY | {"recovery_target_time": to.isoformat()})
        try:
            await _wait_until_ready(process, run, _RECOVERED_WITHIN)
            process.send_signal(signal.SIGINT)  # the data is to be complete on disk
            await asyncio.to_thread(process.wait, _RECOVERED_WITHIN)
        finally:
            await _stop(process)
    finally:
        shutil.rmtree(run, ignore_errors=True)
    if process.returncode:
        raise Failure(f"PostgreSQL did not end as it should after the recovery (status {process.returncode}).")


def remove_copies(data_dir: Path) -> None:
    """Remove what a killed process left of a copy. Blocks."""
    if os.geteuid() == 0:
        for folder in _places(data_dir.resolve()):
            remove_tree(folder)


def _places(data_dir: Path) -> list[Path]:
    """Where root puts a copy: an account without privileges can't enter the folder of backups."""
    instance = instance_id(data_dir)
    live = postgres_cluster.choose_location(data_dir, instance).cluster
    names = [live.with_name(live.name + SCRATCH_SUFFIX), postgres_cluster.FALLBACK_DIR / (instance + SCRATCH_SUFFIX)]
    return list(dict.fromkeys(names))


def _prepare(database: Path, data_dir: Path) -> tuple[ClusterLocation, Binaries]:
    """Put the copy where the server can read it, without its own configuration."""
    account = _account()
    if not account.is_us:
        places = [place for place in _places(data_dir) if can_reach(account, place.parent)]
        if not places:
            raise Failure(f"The account {account.name} can't enter {postgres_cluster.FALLBACK_DIR}: chmod o+x it.")
        remove_tree(places[0])
        shutil.move(database, places[0])
        database = places[0]
    _remove_configuration(database)  # while it is ours: later another process of the account could have a link there
    for folder, folders, files in os.walk(database):
        for path in (folder, *(os.path.join(folder, name) for name in (*folders, *files))):  # noqa: PTH118 - many
            if not account.is_us:
                os.chown(path, account.uid, account.gid, follow_symlinks=False)
    database.chmod(0o700)
    binaries = make_reachable(find_binaries(cluster_major(database)), account)
    return ClusterLocation(database, account), binaries


async def _verify(location: ClusterLocation, binaries: Binaries) -> None:
    """Compare the files with their checksums in the manifest of pg_basebackup. The server itself reads the WAL."""
    program = binaries.bin_dir / VERIFY_PROGRAM
    if not os.access(program, os.X_OK):
        raise Failure(f"{program} is missing: `apt install postgresql-{binaries.major}`.", permanent=True)
    arguments = [str(program), "--quiet", "--exit-on-error", "--no-parse-wal", str(location.cluster)]
    process = await asyncio.create_subprocess_exec(
        *_confine(location, binaries, (), arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd="/",
        env={},
    )
    try:
        _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise _to_failure("The copy of the database is damaged", process.returncode, errors)


def _remove_configuration(cluster: Path) -> None:
    for name in _REMOVED:
        (cluster / name).unlink(missing_ok=True)
    (cluster / "postgresql.auto.conf").write_bytes(b"")


def _account() -> ServerAccount:
    uid = confinement.NOBODY if os.geteuid() == 0 else os.geteuid()
    entry = pwd.getpwuid(uid)
    return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _start(
    location: ClusterLocation, binaries: Binaries, run: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    account, sockets = location.account, run / "pg"
    shutil.rmtree(sockets, ignore_errors=True)
    sockets.mkdir(mode=0o700)
    os.chown(sockets, account.uid, account.gid)
    arguments = postgres_cluster.write_configuration(run, location, binaries)
    for name, value in {**_SETTINGS, **(more or {}), "unix_socket_directories": str(sockets)}.items():
        arguments += ["-c", f"{name}={value}"]
    program = [str(binaries.bin_dir / "postgres"), "-D", str(location.cluster)]
    with (run / "log").open("wb") as log:
        return subprocess.Popen(
            _confine(location, binaries, (run, sockets), [*program, *arguments]),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env={},
            start_new_session=True,
        )


def _confine(
    location: ClusterLocation, binaries: Binaries, folders: Sequence[Path], command: Sequence[str]
) -> list[str]:
    """A command that can change only the copy, and the last of `folders`, which it sees."""
    account = location.account
    plan = {
        "readable": [*_READABLE, str(binaries.bin_dir.parents[2]), str(location.cluster), *map(str, folders)],
        "writable": ["/dev/null", str(location.cluster), *map(str, folders[-1:])],
        "account": [account.uid, account.gid],
        "parent": os.getpid(),
        "environment": clean_environment(),
    }
    package = str(Path(confinement.__file__).parents[2])
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, package, json.dumps(plan), *command]


async def _wait_until_ready(process: subprocess.Popen[bytes], run: Path, seconds: float = _READY_WITHIN) -> None:
    deadline = monotonic() + seconds
    while True:
        try:
            conn = await psycopg.AsyncConnection.connect(socket_urls(run).app, connect_timeout=5)
        except psycopg.OperationalError as error:
            reason = str(error)
        else:
            await conn.close()
            return
        if process.poll() is not None:
            raise _to_failure("PostgreSQL did not start on the copy", process.returncode, (run / "log").read_bytes())
        if monotonic() > deadline:
            raise Failure(f"PostgreSQL does not answer on the copy after {seconds:.0f} s: {reason}")
        await asyncio.sleep(0.05)


async def _migrate(owner_url: str) -> None:
    """Apply the migrations that the copy of an older version lacks. Failure."""
    try:
        await migrate(owner_url, utc_now)
    except Failure as failure:
        raise Failure(
            f"The backup's database can't be read: {failure} The whole backup can be restored into an empty folder by "
            "the version that made it (`mailkeep restore`).",
            permanent=True,
        ) from failure


def _to_failure(what: str, status: int, output: bytes) -> Failure:
    """CopyUnusable, unless the program could not be started or somebody ended it."""
    text = " ".join(output[-_OUTPUT_BYTES:].decode("utf-8", "replace").splitlines()[-3:])
    if status == _LAUNCH_FAILED or -status in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        return Failure(f"A program of PostgreSQL was ended (status {status}): {text or 'no message'}")
    return CopyUnusable(f"{what}: {text or f'status {status}'}", permanent=True)


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, whose data nobody needs."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGQUIT)
    try:
        await asyncio.to_thread(process.wait, _STOP_WITHIN)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.to_thread(process.wait)
