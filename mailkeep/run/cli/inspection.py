"""A running instance seen from outside: memory, database, health as it tells of itself."""

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

_SECONDS = 3
_MAX_HEALTH = 100_000
_EVERYWHERE = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
_PROC = Path("/proc")
_PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """One part of the instance and how it is."""

    component: str
    status: str


@dataclass(frozen=True, slots=True)
class HealthSummary:
    """What GET /health says: `status` ok, degraded or down; `unreachable` where there was no such answer."""

    status: str
    checks: tuple[ComponentStatus, ...] = ()


def tree_memory_bytes(pid: int) -> int | None:
    """Memory of a process and all that it started (PSS: what is shared counts once); None where the kernel keeps
    it from us.
    """
    total = 0
    for one in [pid, *_descendants(pid)]:
        try:
            total += process_memory_bytes(one)
        except PermissionError:
            return None
    return total or None


def process_memory_bytes(pid: int) -> int:
    """Memory of this process alone (PSS); 0 where it is gone."""
    try:
        rollup = (_PROC / str(pid) / "smaps_rollup").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = _PSS.search(rollup)
    return int(found[1]) * 1024 if found else 0


def _descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold spaces and parentheses; state and parent follow it.
            parent = int(path.read_bytes().rpartition(b")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError, IndexError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


async def find_database_problem(data_dir: Path) -> str | None:
    """None where the instance's database answers within three seconds, else what is wrong."""
    url = load_settings(data_dir).settings.database.url
    urls = None if url else postgres.running_urls(data_dir)
    if not url and urls is None:
        return "Mailkeep has ended."
    try:
        async with await psycopg.AsyncConnection.connect(
            url or (urls.app if urls else ""), connect_timeout=_SECONDS, options=f"-c statement_timeout={_SECONDS}s"
        ) as conn:
            await conn.execute("SELECT 1")
    except psycopg.Error as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return None


async def fetch_health(url: str) -> HealthSummary:
    """What the instance at `url` (http://host:port) says of itself, within three seconds."""
    outbound = OutboundClient()
    request = OutboundRequest(
        method="GET",
        url=f"{url}/health",
        allowed_networks=_EVERYWHERE,
        timeout=_SECONDS,
        max_answer=_MAX_HEALTH,
        allow_http=True,
    )
    try:
        body: Any = msgspec.json.decode((await outbound.send(request)).body)
        told = body["data"] or body["error"]["details"]
        checks = (ComponentStatus(str(each["component"]), str(each["status"])) for each in told["checks"])
        return HealthSummary(str(told["status"]), tuple(checks))
    except (OutboundError, ValueError, KeyError, TypeError):
        return HealthSummary("unreachable")
    finally:
        await outbound.close()
