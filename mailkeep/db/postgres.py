"""The private PostgreSQL server: a child of ours, on a Unix socket, that starts, lives and ends with us.

`start` makes the cluster where there is none, clears what a killed run left, and returns when the server
answers. `supervise` starts it again whenever it ends unasked. The kernel tells it to shut down (fast, so
that the next start has nothing to recover) the moment our main thread is gone, however we died.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import psycopg
from psycopg.conninfo import make_conninfo

from mailkeep.core.errors import Failure
from mailkeep.db.instance import instance_id, lock_holder, run_folder
from mailkeep.db.logged_process import LoggedProcess
from mailkeep.db.postgres_binaries import DEBIAN, Binaries, cluster_major, find_binaries
from mailkeep.db.postgres_cluster import (
    APP,
    AUDIT,
    DATABASE,
    FALLBACK_DIR,
    OWNER,
    ClusterLocation,
    choose_location,
    clean_environment,
    create_cluster,
    make_reachable,
    write_configuration,
)
from mailkeep.db.postgres_leftovers import end_leftovers, wait_readable

log = logging.getLogger("mailkeep.db")

_PR_SET_PDEATHSIG = 1
_SOCKET = (".s.PGSQL.5432", ".s.PGSQL.5432.lock")
_READY_WITHIN = 300.0
_INITIAL_BACKOFF, _MAX_BACKOFF, _STEADY_AFTER = 0.1, 3.0, 3.0
# Loaded here and not in the child: between fork and exec nothing may be imported.
_prctl = ctypes.CDLL(None, use_errno=True).prctl


@dataclass(frozen=True, slots=True)
class Urls:
    """How to connect, as libpq's conninfo: as the schema's owner (for migrations), as the application, and as the role
    that seals and prunes the audit log.
    """

    owner: str
    app: str
    audit: str


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What start can be told otherwise: for tests, and for systems that keep things elsewhere.

    `accounts`: by role, the operating system's accounts (besides ours) that may connect as it.
    """

    fallback_dir: Path = FALLBACK_DIR
    debian: Path = DEBIAN
    settings: Mapping[str, str] | None = None
    accounts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


def socket_urls(run: Path) -> Urls:
    """The addresses of the server whose sockets lie in this run folder."""

    def url(user: str) -> str:
        return make_conninfo(host=str(run / "pg"), port=5432, dbname=DATABASE, user=user)

    return Urls(owner=url(OWNER), app=url(APP), audit=url(AUDIT))


def running_urls(data_dir: Path) -> Urls | None:
    """The addresses of a running instance's server, None when none runs. For commands beside `up`."""
    return socket_urls(run_folder(data_dir.resolve())) if lock_holder(data_dir) else None


async def start(data_dir: Path, options: ServerOptions | None = None) -> PrivateServer:
    """Starts the data directory's server, from the main thread, and returns it when it takes connections.

    The caller holds `acquire_lock(data_dir)`. Fails, naming the way out, without binaries of the cluster's
    version, on a cluster or run folder of somebody else, or when the server ends before it is ready.
    """
    options = options or ServerOptions()
    data_dir = data_dir.resolve()
    run = run_folder(data_dir)
    hold = _lock_run_folder(run, data_dir)
    try:
        location = choose_location(data_dir, instance_id(data_dir), options.fallback_dir)
        binaries = find_binaries(cluster_major(location.cluster), options.debian)
        binaries = make_reachable(binaries, location.account, options.fallback_dir)
        if not location.cluster.exists():
            create_cluster(binaries, location)
    except BaseException:
        _remove_run_files(run)
        os.close(hold)
        raise
    server = PrivateServer(data_dir, run, location, binaries, options)
    server.hold = hold
    try:
        await server.launch()
    except BaseException:
        await server.stop()
        raise
    return server


class PrivateServer:
    """One running server. `urls` tell how to connect, `notice` what the operator should know (or None)."""

    def __init__(
        self, data_dir: Path, run: Path, location: ClusterLocation, binaries: Binaries, options: ServerOptions
    ) -> None:
        self.urls = socket_urls(run)
        self.notice = location.notice
        self.location = location
        self.binaries = binaries
        self.log_path = data_dir / "log" / "postgresql.log"
        self.hold: int | None = None
        self._run = run
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The process id of the server, None before the first launch."""
        return self._process.pid if self._process else None

    async def launch(self) -> None:
        """Clears leftovers, starts the process and waits until it answers: five minutes, for recovery."""
        await end_leftovers(self.location.cluster)
        sockets = self._run / "pg"
        sockets.mkdir(mode=0o700, exist_ok=True)
        sockets.chmod(0o711 if self._options.accounts else 0o700)
        os.chown(sockets, self.location.account.uid, self.location.account.gid, follow_symlinks=False)
        # The folder is held by us and no server is left: what lies here is stale, and its lock file may name
        # a process that lives (a killed one that nobody has reaped is enough), which would stop PostgreSQL.
        for name in _SOCKET:
            (sockets / name).unlink(missing_ok=True)
        options = self._options
        arguments = write_configuration(self._run, self.location, self.binaries, options.settings, options.accounts)
        if self._stopping:
            return
        log_start = self._log_size()
        self._process = self._spawn([*arguments, "-c", f"unix_socket_directories={sockets}"])
        await self._wait_until_ready(self._process, log_start)

    async def supervise(self) -> None:
        """Starts the server again whenever it ends unasked, with growing pauses where it ends within seconds.

        Returns after `stop`. Run it as a task of the main thread's loop.
        """
        pause = _INITIAL_BACKOFF
        while not self._stopping and self._process:
            since = monotonic()
            status = await _wait_for_exit(self._process, None)
            if self._stopping:
                return
            pause = _INITIAL_BACKOFF if monotonic() - since > _STEADY_AFTER else min(pause * 2, _MAX_BACKOFF)
            log.error("the database server ended unasked (status %s); it is started again", status)
            await asyncio.sleep(pause)
            try:
                await self.launch()
            except (Failure, OSError) as failure:
                log.error("the database server could not be started again: %s", failure)

    async def stop(self) -> None:
        """Ends the server, rolling back what is open and writing all; after 6 seconds by force."""
        self._stopping = True
        process = self._process
        steps = ((signal.SIGINT, 6.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 1.0))
        for number, patience in steps if process else ():
            assert process
            process.send_signal(number)
            if await _wait_for_exit(process, patience) is not None:
                break
            log.warning("the database server did not follow %s within %.0f s", number.name, patience)
        if self.hold is not None:
            _remove_run_files(self._run)
            os.close(self.hold)
            self.hold = None

    def _spawn(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        if threading.current_thread() is not threading.main_thread():
            # The kernel watches the thread that forked, not the process: with a worker the server would end.
            raise RuntimeError("The database server must be started from the main thread.")
        parent = os.getpid()
        account = self.location.account

        def end_with_parent() -> None:
            # Here, because a change of user id clears it. SIGINT: fast, with nothing to recover afterwards.
            _prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != parent:  # it died before we asked
                os._exit(1)

        return LoggedProcess(
            [str(self.binaries.bin_dir / "postgres"), "-D", str(self.location.cluster), *arguments],
            self.log_path,
            cwd="/",
            env=clean_environment(),
            user=None if account.is_us else account.uid,
            group=None if account.is_us else account.gid,
            extra_groups=None if account.is_us else [],
            start_new_session=True,  # the terminal's Ctrl-C is for us, who then stop it in order
            preexec_fn=end_with_parent,  # one system call, its function loaded beforehand
        )

    async def _wait_until_ready(self, process: subprocess.Popen[bytes], log_start: int) -> None:
        deadline = monotonic() + _READY_WITHIN
        pause = 0.005
        while True:
            try:
                conn = await psycopg.AsyncConnection.connect(self.urls.app, connect_timeout=5)
            except psycopg.OperationalError as error:
                refusal = str(error)
            else:
                await conn.close()
                return
            if process.poll() is not None:
                said = self._find_reason(log_start)
                raise Failure(f"PostgreSQL did not start: {said} (see {self.log_path})")
            if monotonic() > deadline:
                raise Failure(f"PostgreSQL does not answer after {_READY_WITHIN:.0f} s: {refusal}")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    def _log_size(self) -> int:
        """Where the new server's lines will begin."""
        self.log_path.parent.mkdir(mode=0o750, exist_ok=True)
        try:
            return self.log_path.stat().st_size
        except FileNotFoundError:
            return 0

    def _find_reason(self, log_start: int) -> str:
        if self._log_size() < log_start:  # rotated meanwhile
            log_start = 0
        with self.log_path.open("rb") as file:
            file.seek(log_start)
            lines = file.read(100_000).decode("utf-8", "replace").splitlines()
        ends = [number for number, line in enumerate(lines) if "FATAL:" in line or "PANIC:" in line]
        # The reason often stands in the line before ("invalid value for parameter ...").
        told = lines[max(0, ends[-1] - 1) : ends[-1] + 1] if ends else lines[-1:]
        return " / ".join(line.partition("] ")[2] or line for line in told) or "it said nothing"


async def _wait_for_exit(process: subprocess.Popen[bytes], timeout: float | None) -> int | None:
    """The process's exit status when it has ended, None when it still runs after `timeout` seconds."""
    if process.poll() is None:
        handle = os.pidfd_open(process.pid)
        try:
            await wait_readable(handle, timeout)
        finally:
            os.close(handle)
    return process.poll()


def _lock_run_folder(run: Path, data_dir: Path) -> int:
    """Takes the run folder: a copied data directory has the same id and must not meet our server."""
    fd = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise Failure(
            f"{data_dir} is a copy of a data directory that is in use: both have the id {run.name}. "
            "To move data to a second instance, use backup and restore.",
            permanent=True,
        ) from None
    return fd


def _remove_run_files(run: Path) -> None:
    """Removes what the server had in the run folder, and the folder when nobody else has anything there."""
    for name in ("postgresql.conf", "pg_hba.conf", "pg_ident.conf", *(f"pg/{name}" for name in _SOCKET)):
        (run / name).unlink(missing_ok=True)
    for folder in (run / "pg", run):
        with suppress(OSError):  # never made, or not empty
            folder.rmdir()
