"""Child processes: each has its own session, is stopped when the supervisor dies, and is found again by its pid file.

A pid file has process ID and start time (in kernel ticks since boot), so that a reused process ID is never hit.
Descendants of a child stay in its session, by which they are found when the child is gone.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Protocol

from mailkeep.db.instance import write_atomically
from mailkeep.db.logged_process import LoggedProcess

_PR_SET_PDEATHSIG = 1
_PROC = Path("/proc")
# Loaded here and not in the child: between fork and exec nothing may be imported.
_prctl = ctypes.CDLL(None, use_errno=True).prctl

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
"""The environment of a Debian daemon: without Mailkeep's variables."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: arguments, environment, inherited descriptors, and the file for its output."""

    argv: Sequence[str]
    log: Path
    environ: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)
    descriptors: Sequence[int] = ()


class Child(Protocol):
    """A child process, spawned or forked."""

    @property
    def pid(self) -> int:
        """The process ID, which is also the session ID."""
        ...

    def poll(self) -> int | None:
        """The exit status, None while the process is running."""
        ...

    def wait(self) -> int:
        """Wait until the process has exited; returns its exit status."""
        ...


def spawn(command: Command) -> subprocess.Popen[bytes]:
    """Start a command. Call it from the main thread: PR_SET_PDEATHSIG depends on the thread that forked."""
    parent = os.getpid()

    def end_with_parent() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # the parent has already exited
            os._exit(1)

    return LoggedProcess(
        command.argv,
        command.log,
        cwd="/",
        env=dict(command.environ),
        pass_fds=tuple(command.descriptors),
        start_new_session=True,  # Ctrl-C in a terminal reaches only the supervisor, which stops its children in order
        preexec_fn=end_with_parent,  # one system call; its library is already loaded
    )


def write_pid(pid_file: Path, pid: int) -> None:
    """Write the pid file of a running child."""
    write_atomically(pid_file, f"{pid} {started_at(pid)}\n", 0o600)


async def end(pid: int, seconds: float) -> None:
    """Stop the session that this process leads: SIGTERM, then SIGKILL for processes still running after `seconds`."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = monotonic() + seconds
    while remaining := list_session(pid):
        if monotonic() > deadline:
            for remaining_pid in remaining:
                with suppress(ProcessLookupError):
                    os.kill(remaining_pid, signal.SIGKILL)
        elif pid not in remaining:
            # The leader has exited: send SIGTERM to the others too.
            for remaining_pid in remaining:
                with suppress(ProcessLookupError):
                    os.kill(remaining_pid, signal.SIGTERM)
        await asyncio.sleep(0.05)


async def end_leftover(pid_file: Path, seconds: float) -> int | None:
    """Stop what an earlier run left of a child; returns its process ID, None if nothing was left."""
    try:
        pid, started = (int(word) for word in pid_file.read_text("ascii").split())
    except (FileNotFoundError, ValueError):
        return None
    session = list_session(pid)
    # A reused process ID has a later start; if the leader is gone, so has its session.
    if not session or (pid in session and started_at(pid) != started) or min(map(started_at, session)) < started:
        return None
    await end(pid, seconds)
    return pid


def list_session(leader: int) -> list[int]:
    """The running processes of a session, without zombies."""
    pids: list[int] = []
    for stat_file in _PROC.glob("[0-9]*/stat"):
        fields = _read_stat(stat_file)
        if fields and fields[3] == str(leader) and fields[0] not in ("Z", "X"):
            pids.append(int(stat_file.parent.name))
    return pids


def started_at(pid: int) -> int:
    """When a process started, in ticks since boot; 0 if it has exited."""
    fields = _read_stat(_PROC / str(pid) / "stat")
    return int(fields[19]) if fields else 0


def _read_stat(stat_file: Path) -> list[str]:
    """The fields of /proc/PID/stat from the third (state) on; empty if the process has exited."""
    try:
        return stat_file.read_bytes().rpartition(b")")[2].decode("ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return []
