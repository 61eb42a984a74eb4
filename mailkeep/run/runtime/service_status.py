"""The services of a running full instance: process, version and memory, and the supervisor's file of their states.

The file is for `GET /health`: the API process can't see the processes of other accounts.
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

_TIMEOUT = 10
_STATES_FILE = "services.json"
_CHECK_SECONDS, _WRITE_SECONDS, _STALE_SECONDS = 0.5, 5.0, 20.0
_VERSIONS = {
    "postfix": (["postconf", "-d", "-h", "mail_version"], r"(\S+)"),
    "dovecot": (["dovecot", "--version"], r"(\S+)"),
    "rspamd": (["rspamd", "--version"], r"version (\S+)"),
    "nginx": (["nginx", "-v"], r"nginx/(\S+)"),
    "unbound": (["unbound", "-V"], r"Version (\S+)"),
    "clamd": (["clamd", "--version"], r"ClamAV ([^/\s]+)"),
    "freshclam": (["freshclam", "--version"], r"ClamAV ([^/\s]+)"),
    "php-fpm": (["dpkg-query", "-W", "-f", "${Version}", "roundcube-core"], r"([^-+\s]+)"),
    "redis": (["redis-server", "--version"], r"v=(\S+)"),
}


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """A service: its process (None: not running), version, number of processes, and their memory (PSS)."""

    name: str
    pid: int | None
    version: str
    processes: int
    memory_bytes: int


def list_services(run: Path) -> list[ServiceStatus]:
    """All services of the instance with this run folder, by name."""
    found = [_read_status(path) for path in sorted((run / "pids").glob("*.pid"))]
    return [each for each in found if each is not None]


def _read_status(pid_file: Path) -> ServiceStatus | None:
    """None if the service is stopped meanwhile, which removes its file."""
    try:
        name, pid = pid_file.stem, int(pid_file.read_text("ascii").split()[0])
    except FileNotFoundError:
        return None
    session = child.list_session(pid)
    memory = sum(inspection.process_memory_bytes(each) for each in session)
    return ServiceStatus(name, pid if pid in session else None, find_version(name), len(session), memory)


@cache
def find_version(name: str) -> str:
    """The version that a daemon reports, `absent` or `unknown`; Mailkeep's version for its own processes."""
    if name not in _VERSIONS:
        return __version__
    argv, pattern = _VERSIONS[name]
    try:
        result = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT, env=ENVIRONMENT
        )
    except FileNotFoundError:
        return "absent"
    match = re.search(pattern, result.stdout + result.stderr)
    return match[1] if match else "unknown"


async def keep_publishing(run: Path, get_states: Callable[[], Mapping[str, bool | None]]) -> None:
    """Write the states of the services when they change, and every five seconds; never ends."""
    written: Mapping[str, bool | None] = {}
    written_at = 0.0
    while True:
        now = asyncio.get_running_loop().time()
        if written != (current := get_states()) or now - written_at >= _WRITE_SECONDS:
            written, written_at = current, now
            with suppress(OSError):  # a full disk: the health checks report it
                write_atomically(run / _STATES_FILE, msgspec.json.encode(current).decode())
        await asyncio.sleep(_CHECK_SECONDS)


def read_running(run: Path) -> dict[str, bool]:
    """Whether each service runs, as the supervisor wrote it; `supervisor`: whether that was within 20 seconds."""
    path = run / _STATES_FILE
    try:
        states = {name: bool(runs) for name, runs in _read_states(run).items()}
        return {**states, "supervisor": utc_now().timestamp() - path.stat().st_mtime < _STALE_SECONDS}
    except (OSError, msgspec.MsgspecError):
        return {"supervisor": False}


def is_stopped(run: Path, name: str) -> bool:
    """Whether an administrator stopped a service, as the supervisor wrote it within the last half second."""
    try:
        return _read_states(run).get(name, False) is None
    except (OSError, msgspec.MsgspecError):
        return False


def _read_states(run: Path) -> dict[str, bool | None]:
    return msgspec.json.decode((run / _STATES_FILE).read_bytes(), type=dict[str, bool | None])


def remove(run: Path) -> None:
    """Remove the file; call it when the supervisor stops."""
    (run / _STATES_FILE).unlink(missing_ok=True)
