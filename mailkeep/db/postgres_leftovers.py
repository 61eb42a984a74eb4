"""What an earlier run may have left: a postmaster still shutting down, its backends, a stale lock file.

The caller holds the instance's lock, so any server on this cluster is an orphan. A process is touched only
by a handle (pidfd) taken before it was recognised: a number that was given to another is never hit.
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

# Signal (fast, immediate, kill) and the seconds that the process has to follow it.
_STEPS = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
_STRAGGLERS_END = 5.0


async def end_leftovers(cluster: Path) -> None:
    """Leaves the cluster without any process on it and without a misleading lock file; bounded (30 s)."""
    lock = cluster / "postmaster.pid"
    if not lock.exists():
        return
    pid = _read_pid(lock)
    if pid and await _end(pid, cluster, _STEPS):
        log.warning("ended a database server left by an earlier run, process %d", pid)
    await _end_stragglers(cluster)
    # What remains is stale. Its number may be anybody's by now, and PostgreSQL would then refuse to start.
    lock.unlink(missing_ok=True)


def is_server_of(pid: int, cluster: Path) -> bool:
    """Whether this process is a server (not one of its backends) on this cluster, by its command line."""
    try:
        argv = os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
        if Path(argv[0]).name != "postgres" or "-D" not in argv:
            return False
        return cluster.samefile(argv[argv.index("-D") + 1])
    except (OSError, IndexError):
        return False


def processes_on(cluster: Path) -> list[int]:
    """All PostgreSQL processes whose working folder is this cluster, backends too."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if (entry / "cwd").samefile(cluster) and (entry / "comm").read_text().strip() == "postgres":
                found.append(int(entry.name))
        except OSError:  # ended meanwhile, or another account's
            continue
    return found


async def _end(pid: int, cluster: Path, steps: tuple[tuple[signal.Signals, float], ...]) -> bool:
    """Ends one process that belongs to the cluster. False when there is none of this number."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_server_of(pid, cluster) and pid not in processes_on(cluster):
            return False
        for number, patience in steps:
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return True
            if await wait_readable(handle, patience):
                return True
    finally:
        os.close(handle)
    raise Failure(f"The database server left by an earlier run (process {pid}) does not end.")


async def _end_stragglers(cluster: Path) -> None:
    """Backends notice a killed postmaster by themselves, within moments; who doesn't is killed."""
    deadline = monotonic() + _STRAGGLERS_END
    while left := processes_on(cluster):
        if monotonic() > deadline:
            for pid in left:
                await _end(pid, cluster, _STEPS[1:])
        await asyncio.sleep(0.02)


async def wait_readable(fd: int, timeout: float | None) -> bool:
    """Waits until the descriptor is readable (a pidfd: the process ended); False after `timeout` seconds."""
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
    # A single-user server writes its number with a minus sign.
    return abs(int(first)) if first.lstrip("-").isdecimal() and len(first) < 12 else None
