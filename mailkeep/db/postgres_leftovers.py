"""Ends what an earlier run may have left: a postmaster that is shutting down, its backends, a stale lock file.

The caller holds the instance's lock, so any server on this cluster is an orphan. Processes are signalled through a
pidfd that is opened before the check, so a reused PID is never hit.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from time import monotonic

from mailkeep.core.errors import Failure

log = logging.getLogger("mailkeep.db")

# Signal (fast, immediate, kill) and the seconds that the process has to end.
_STEPS = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
_BACKEND_SECONDS = 5.0


async def end_leftovers(cluster: Path) -> None:
    """End all processes on the cluster and remove a stale lock file, within 30 seconds."""
    lock = cluster / "postmaster.pid"
    if not lock.exists():
        return
    pid = _read_pid(lock)
    if pid and await _end(pid, cluster, _STEPS):
        log.warning("ended a database server left by an earlier run, process %d", pid)
    await _end_backends(cluster)
    # A remaining lock file is stale. Its PID may be reused, and then PostgreSQL would refuse to start.
    lock.unlink(missing_ok=True)


def is_server_of(pid: int, cluster: Path) -> bool:
    """Whether this process is a server (not a backend) on this cluster, by its command line."""
    try:
        argv = os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
        if Path(argv[0]).name != "postgres" or "-D" not in argv:
            return False
        return cluster.samefile(argv[argv.index("-D") + 1])
    except (OSError, IndexError):
        return False


def processes_on(cluster: Path) -> list[int]:
    """Return all PostgreSQL processes whose working directory is this cluster, backends included."""
    pids: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if (entry / "cwd").samefile(cluster) and (entry / "comm").read_text().strip() == "postgres":
                pids.append(int(entry.name))
        except OSError:  # ended meanwhile, or another account's
            continue
    return pids


async def _end(pid: int, cluster: Path, steps: tuple[tuple[signal.Signals, float], ...]) -> bool:
    """End one process of the cluster. Returns False if no process of the cluster has this PID."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_server_of(pid, cluster) and pid not in processes_on(cluster):
            return False
        for stop_signal, seconds in steps:
            try:
                signal.pidfd_send_signal(handle, stop_signal)
            except ProcessLookupError:
                return True
            if await wait_readable(handle, seconds):
                return True
    finally:
        os.close(handle)
    raise Failure(f"The database server left by an earlier run (process {pid}) did not end after SIGKILL.")


async def _end_backends(cluster: Path) -> None:
    """Wait for the backends, which end soon after a killed postmaster; kill those that do not."""
    deadline = monotonic() + _BACKEND_SECONDS
    while pids := processes_on(cluster):
        if monotonic() > deadline:
            for pid in pids:
                await _end(pid, cluster, _STEPS[1:])
        await asyncio.sleep(0.02)


async def wait_readable(fd: int, timeout: float | None) -> bool:
    """Wait until the descriptor is readable (a pidfd: the process ended); False after `timeout` seconds."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await asyncio.wait_for(ready.wait(), timeout)
    except TimeoutError:
        return False
    else:
        return True
    finally:
        loop.remove_reader(fd)


def _read_pid(lock: Path) -> int | None:
    first = lock.read_text("ascii", "replace").partition("\n")[0].strip()
    # A single-user server writes its PID with a minus sign.
    return abs(int(first)) if first.lstrip("-").isdecimal() and len(first) < 12 else None
