"""The parts of a running full instance: told from outside (process, version, memory), and by the supervisor in a file.

The file says which parts run, for the API's `/health`, which may look at nobody's processes.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from mailkeep import __version__
from mailkeep.core.clock import utc_now
from mailkeep.db.instance import write_atomically
from mailkeep.run.cli import inspection
from mailkeep.run.runtime import child
from mailkeep.run.runtime.child import ENVIRONMENT

_SECONDS = 10
_FILE = "parts.json"
_LOOK_SECONDS, _TELL_SECONDS, _STALE_SECONDS = 0.5, 5.0, 20.0
_VERSIONS = {
    "postfix": (["postconf", "-d", "-h", "mail_version"], r"(\S+)"),
    "dovecot": (["dovecot", "--version"], r"(\S+)"),
    "rspamd": (["rspamd", "--version"], r"version (\S+)"),
    "redis": (["redis-server", "--version"], r"v=(\S+)"),
}


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """One part: its process (None: it does not run now), version, and memory with all that it started (PSS)."""

    name: str
    pid: int | None
    version: str
    processes: int
    memory_bytes: int


def list_services(run: Path) -> list[ServiceStatus]:
    """All parts of the instance with this run folder, by name."""
    return [_status(path) for path in sorted((run / "pids").glob("*.pid"))]


def _status(pid_file: Path) -> ServiceStatus:
    name, pid = pid_file.stem, int(pid_file.read_text("ascii").split()[0])
    session = child.list_session(pid)
    memory = sum(inspection.process_memory_bytes(each) for each in session)
    return ServiceStatus(name, pid if pid in session else None, version(name), len(session), memory)


@cache
def version(name: str) -> str:
    """The version of a daemon, as it tells itself; our own for our processes."""
    if name not in _VERSIONS:
        return __version__
    argv, pattern = _VERSIONS[name]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", check=False, timeout=_SECONDS, env=ENVIRONMENT
        )
    except FileNotFoundError:
        return "absent"
    found = re.search(pattern, done.stdout)
    return found[1] if found else "unknown"


async def keep_publishing(run: Path, state: Callable[[], Mapping[str, bool]]) -> None:
    """Write down which parts run, when that changes and every five seconds, until cancelled."""
    told: Mapping[str, bool] = {}
    told_at = 0.0
    while True:
        now = asyncio.get_running_loop().time()
        if told != (found := state()) or now - told_at >= _TELL_SECONDS:
            told, told_at = found, now
            with suppress(OSError):  # a full disk is told by others
                write_atomically(run / _FILE, msgspec.json.encode(found).decode())
        await asyncio.sleep(_LOOK_SECONDS)


def read_running(run: Path) -> dict[str, bool]:
    """Which parts run, as the supervisor says, and whether that itself does: `supervisor`."""
    path = run / _FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, bool])
        return {**found, "supervisor": utc_now().timestamp() - path.stat().st_mtime < _STALE_SECONDS}
    except (OSError, msgspec.MsgspecError):
        return {"supervisor": False}


def remove(run: Path) -> None:
    """Nobody tells any more."""
    (run / _FILE).unlink(missing_ok=True)
