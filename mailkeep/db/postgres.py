"""The private PostgreSQL server: a child process on a Unix socket that starts and ends with its parent.

`start` creates the cluster if there is none, removes what a killed run left, and returns when the server accepts
connections. `supervise` restarts it if it ends unexpectedly. When the main thread of this process ends, for any reason,
the kernel signals the server to shut down (fast, so that the next start needs no recovery).
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
# Loaded here, because nothing may be imported between fork and exec.
_prctl = ctypes.CDLL(None, use_errno=True).prctl


@dataclass(frozen=True, slots=True)
class Urls:
    """libpq conninfo of three roles: the schema's owner (for migrations), the application, and the role that seals and
    prunes the audit log.
    """

    owner: str
    app: str
    audit: str


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of `start`, for tests and for systems with other paths.

    `accounts`: by role, the operating system accounts (besides ours) that may connect as it.
    """

    fallback_dir: Path = FALLBACK_DIR
    debian: Path = DEBIAN
    settings: Mapping[str, str] | None = None
    accounts: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


def socket_urls(run: Path) -> Urls:
    """Return the connection strings of the server with its sockets in this run folder."""

    def url(user: str) -> str:
        return make_conninfo(host=str(run / "pg"), port=5432, dbname=DATABASE, user=user)

    return Urls(owner=url(OWNER), app=url(APP), audit=url(AUDIT))


def running_urls(data_dir: Path) -> Urls | None:
    """Return the connection strings of a running instance's server, None if none runs. For commands beside `up`."""
    return socket_urls(run_folder(data_dir.resolve())) if lock_holder(data_dir) else None


async def start(data_dir: Path, options: ServerOptions | None = None) -> PrivateServer:
    """Start the data directory's server from the main thread, and return it when it accepts connections.

    The caller holds `acquire_lock(data_dir)`. Fails, with instructions, if there are no binaries of the cluster's
    version, if the cluster or run folder belongs to another account, or if the server ends before it is ready.
    """
    options = options or ServerOptions()
    data_dir = data_dir.resolve()
    run = run_folder(data_dir)
    lock_fd = _lock_run_folder(run, data_dir)
    try:
        location = choose_location(data_dir, instance_id(data_dir), options.fallback_dir)
        binaries = find_binaries(cluster_major(location.cluster), options.debian)
        binaries = make_reachable(binaries, location.account, options.fallback_dir)
        if not location.cluster.exists():
            create_cluster(binaries, location)
    except BaseException:
        _remove_run_files(run)
        os.close(lock_fd)
        raise
    server = PrivateServer(data_dir, run, location, binaries, options)
    server.lock_fd = lock_fd
    try:
        await server.launch()
    except BaseException:
        await server.stop()
        raise
    return server


class PrivateServer:
    """A running server. `urls`: how to connect; `notice`: a line for the operator, or None."""

    def __init__(
        self, data_dir: Path, run: Path, location: ClusterLocation, binaries: Binaries, options: ServerOptions
    ) -> None:
        self.urls = socket_urls(run)
        self.notice = location.notice
        self.location = location
        self.binaries = binaries
        self.log_path = data_dir / "log" / "postgresql.log"
        self.lock_fd: int | None = None
        self._run = run
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The PID of the server, None before the first launch."""
        return self._process.pid if self._process else None

    async def launch(self) -> None:
        """Remove leftovers, start the process and wait until it answers, up to five minutes for recovery."""
        await end_leftovers(self.location.cluster)
        sockets = self._run / "pg"
        sockets.mkdir(mode=0o700, exist_ok=True)
        sockets.chmod(0o711 if self._options.accounts else 0o700)
        os.chown(sockets, self.location.account.uid, self.location.account.gid, follow_symlinks=False)
        # This process has locked the folder, and no server is left, so the files are stale. A lock file with the PID of
        # a live process (or of a zombie) would stop PostgreSQL from starting.
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
        """Restart the server if it ends unexpectedly, with growing pauses if it ends within seconds.

        Returns after `stop`. Run it as a task of the main thread's loop.
        """
        pause = _INITIAL_BACKOFF
        while not self._stopping and self._process:
            started_at = monotonic()
            status = await _wait_for_exit(self._process, None)
            if self._stopping:
                return
            pause = _INITIAL_BACKOFF if monotonic() - started_at > _STEADY_AFTER else min(pause * 2, _MAX_BACKOFF)
            log.error("the database server ended unexpectedly (status %s); restarting it", status)
            await asyncio.sleep(pause)
            try:
                await self.launch()
            except (Failure, OSError) as failure:
                log.error("the database server could not be restarted: %s", failure)

    async def stop(self) -> None:
        """Stop the server: open transactions are rolled back and all data is written. It is killed after 6 seconds."""
        self._stopping = True
        process = self._process
        steps = ((signal.SIGINT, 6.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 1.0))
        for stop_signal, seconds in steps if process else ():
            assert process
            process.send_signal(stop_signal)
            if await _wait_for_exit(process, seconds) is not None:
                break
            log.warning("the database server did not end within %.0f s of %s", seconds, stop_signal.name)
        if self.lock_fd is not None:
            _remove_run_files(self._run)
            os.close(self.lock_fd)
            self.lock_fd = None

    def _spawn(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        if threading.current_thread() is not threading.main_thread():
            # The kernel watches the thread that forked, not the process: the server would end with a worker thread.
            raise RuntimeError("The database server must be started from the main thread.")
        parent = os.getpid()
        account = self.location.account

        def end_with_parent() -> None:
            # Set after the change of user ID, which clears it. SIGINT: fast shutdown, no recovery needed afterwards.
            _prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != parent:  # the parent has already ended
                os._exit(1)

        return LoggedProcess(
            [str(self.binaries.bin_dir / "postgres"), "-D", str(self.location.cluster), *arguments],
            self.log_path,
            cwd="/",
            env=clean_environment(),
            user=None if account.is_us else account.uid,
            group=None if account.is_us else account.gid,
            extra_groups=None if account.is_us else [],
            start_new_session=True,  # the terminal's Ctrl-C reaches only us, and we stop the server in order
            preexec_fn=end_with_parent,  # one system call, loaded beforehand
        )

    async def _wait_until_ready(self, process: subprocess.Popen[bytes], log_start: int) -> None:
        deadline = monotonic() + _READY_WITHIN
        pause = 0.005
        while True:
            try:
                conn = await psycopg.AsyncConnection.connect(self.urls.app, connect_timeout=5)
            except psycopg.OperationalError as error:
                reason = str(error)
            else:
                await conn.close()
                return
            if process.poll() is not None:
                reason = self._find_reason(log_start)
                raise Failure(f"PostgreSQL did not start: {reason} (see {self.log_path})")
            if monotonic() > deadline:
                raise Failure(f"PostgreSQL does not answer after {_READY_WITHIN:.0f} s: {reason} (see {self.log_path})")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.1)

    def _log_size(self) -> int:
        """Return where the new server's lines will begin."""
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
        # The reason is often in the line before ("invalid value for parameter ...").
        last = lines[max(0, ends[-1] - 1) : ends[-1] + 1] if ends else lines[-1:]
        return " / ".join(line.partition("] ")[2] or line for line in last) or "no output"


async def _wait_for_exit(process: subprocess.Popen[bytes], timeout: float | None) -> int | None:
    """Wait for a process and return its exit status; None if it still runs after `timeout` seconds."""
    if process.poll() is None:
        handle = os.pidfd_open(process.pid)
        try:
            await wait_readable(handle, timeout)
        finally:
            os.close(handle)
    return process.poll()


def _lock_run_folder(run: Path, data_dir: Path) -> int:
    """Lock the run folder: a copied data directory has the same ID and must not use our server."""
    fd = os.open(run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise Failure(
            f"{data_dir} is a copy of a data directory that is in use: both have the ID {run.name}. "
            "To move data to a second instance, use backup and restore.",
            permanent=True,
        ) from None
    return fd


def _remove_run_files(run: Path) -> None:
    """Remove the server's files from the run folder, and the folder if it is empty."""
    for name in ("postgresql.conf", "pg_hba.conf", "pg_ident.conf", *(f"pg/{name}" for name in _SOCKET)):
        (run / name).unlink(missing_ok=True)
    for folder in (run / "pg", run):
        with suppress(OSError):  # missing, or not empty
            folder.rmdir()
