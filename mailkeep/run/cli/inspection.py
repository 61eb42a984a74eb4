"""Inspects a running instance from outside: its memory, database and health."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from mailkeep.db import postgres
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest
from mailkeep.settings import load_settings

_TIMEOUT = 3
_MAX_HEALTH = 100_000
_ALL_NETWORKS = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
_PROC = Path("/proc")
_PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """The status of one component in the health report."""

    component: str
    status: str


@dataclass(frozen=True, slots=True)
class HealthSummary:
    """The answer to GET /health: `status` is ok, degraded or down, or `unreachable` without a valid answer."""

    status: str
    checks: tuple[ComponentStatus, ...] = ()


def tree_memory_bytes(pid: int) -> int | None:
    """Memory of a process and its descendants (PSS: shared memory counts once); None without the right to read it."""
    total = 0
    for process in [pid, *_descendants(pid)]:
        try:
            total += process_memory_bytes(process)
        except PermissionError:
            return None
    return total or None


def process_memory_bytes(pid: int) -> int:
    """Memory of this process alone (PSS); 0 if it has exited."""
    try:
        rollup = (_PROC / str(pid) / "smaps_rollup").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    match = _PSS.search(rollup)
    return int(match[1]) * 1024 if match else 0


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        try:
            # The process name is in parentheses and may contain spaces and parentheses; state and parent follow it.
            parent = int(path.read_bytes().rpartition(b")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    descendants: list[int] = []
    unvisited = [pid]
    while unvisited:
        child_pids = children.get(unvisited.pop(), [])
        descendants += child_pids
        unvisited += child_pids
    return descendants


async def find_database_problem(data_dir: Path) -> str | None:
    """Why the instance's database does not answer within three seconds; None if it does."""
    url = load_settings(data_dir).settings.database.url
    urls = None if url else postgres.running_urls(data_dir)
    if not url and urls is None:
        return "Mailkeep has stopped."
    try:
        async with await psycopg.AsyncConnection.connect(
            url or (urls.app if urls else ""), connect_timeout=_TIMEOUT, options=f"-c statement_timeout={_TIMEOUT}s"
        ) as conn:
            await conn.execute("SELECT 1")
    except psycopg.Error as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return None


async def fetch_health(url: str) -> HealthSummary:
    """The health report of the instance at `url` (http://host:port), within three seconds."""
    outbound = OutboundClient()
    request = OutboundRequest(
        method="GET",
        url=f"{url}/health",
        allowed_networks=_ALL_NETWORKS,
        timeout=_TIMEOUT,
        max_answer=_MAX_HEALTH,
        allow_http=True,
    )
    try:
        body: Any = msgspec.json.decode((await outbound.send(request)).body)
        report = body["data"] or body["error"]["details"]
        checks = (ComponentStatus(str(check["component"]), str(check["status"])) for check in report["checks"])
        return HealthSummary(str(report["status"]), tuple(checks))
    except (OutboundError, ValueError, KeyError, TypeError):
        return HealthSummary("unreachable")
    finally:
        await outbound.close()
