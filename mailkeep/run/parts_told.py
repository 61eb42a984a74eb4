"""The parts of a running full instance, told from outside: process, version, memory."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mailkeep import __version__
from mailkeep.run import child, inspection
from mailkeep.run.child import ENVIRONMENT

_SECONDS = 10
_VERSIONS = {
    "postfix": (["postconf", "-d", "-h", "mail_version"], r"(\S+)"),
    "dovecot": (["dovecot", "--version"], r"(\S+)"),
    "rspamd": (["rspamd", "--version"], r"version (\S+)"),
    "redis": (["redis-server", "--version"], r"v=(\S+)"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """One part: its process (None: it does not run now), version, and memory with all that it started (PSS)."""

    name: str
    pid: int | None
    version: str
    processes: int
    memory_bytes: int


def parts_of(run: Path) -> list[Told]:
    """All parts of the instance with this run folder, by name."""
    return [_told(path) for path in sorted((run / "pids").glob("*.pid"))]


def _told(pid_file: Path) -> Told:
    name, pid = pid_file.stem, int(pid_file.read_text("ascii").split()[0])
    session = child.session_of(pid)
    memory = sum(inspection.own_memory_bytes(each) for each in session)
    return Told(name, pid if pid in session else None, version(name), len(session), memory)


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
