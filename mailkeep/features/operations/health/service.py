"""Run health checks with time limits."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from time import monotonic

import structlog

import mailkeep
from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.migrate import missing_in, read_schema
from mailkeep.features.operations.health import rules, store
from mailkeep.features.operations.health.model import Build, Component, HealthCheck, ServerHealth, State, Status

log = structlog.get_logger("mailkeep.health")

_SECONDS = 1.5
_read_schema = cache(read_schema)
_PROCESSES = {
    "mta": ("postfix", "logs", "policy"),
    "filter": ("rspamd", "redis", "keys"),
    "mailboxes": ("dovecot", "lmtp", "usage"),
}
_seen: dict[tuple[Path, str], tuple[State, datetime]] = {}
_late: set[asyncio.Task[Status]] = set()


async def health(app: App) -> ServerHealth:
    """The status of all services, within 2 seconds."""
    parts: dict[str, Callable[[App], Awaitable[Status]]] = {"database": _database, "disk": _disk}
    if app.mta is not None and app.settings.mta.mode == "sandbox":
        parts["mta"] = _sandbox  # ours; a foreign mail server is not contacted for each request
    found = await asyncio.gather(*(_in_time(part(app)) for part in parts.values()))
    checks = [HealthCheck(name, status) for name, status in zip(parts, found, strict=True)]
    if app.running_services is not None:
        checks += rules.service_checks(app.running_services())
        checks += await _node_checks(app)
    return rules.overall_health(checks)


async def details(app: App) -> list[Component]:
    """All components in detail, within 2 seconds each; `since`: when this process first saw the status."""
    at = app.clock()
    found = [await _database_component(app), *_mail(app), await _disk_component(app)]
    if app.settings.is_full_profile:
        report = await asyncio.to_thread(app.node_report) if app.node_report else None
        found += rules.node_components(report, app.settings.server.hostname, at)
    else:
        advice = "Available in the full profile only."
        found += [Component("queue", "disabled", advice), Component("certificates", "disabled", advice)]
        found.append(Component("dns", "disabled", advice, {"hostname": app.settings.server.hostname or None}))
    return [replace(each, since=_since(app, each, at)) for each in found]


def _since(app: App, found: Component, at: datetime) -> datetime:
    key = app.data_dir, found.name
    status, since = _seen.get(key, (None, at))
    if status != found.status:
        since = at
    _seen[key] = found.status, since
    return since


async def _database_component(app: App) -> Component:
    began = monotonic()
    status = await _in_time(_database(app))
    latency = round((monotonic() - began) * 1000, 1)
    if status == "ok":
        async with app.db.autocommit() as conn:
            return Component("database", "ok", None, {}, latency, await store.server_version(conn))
    return Component("database", status, "See log/postgresql.log, or check database.url.", {}, latency)


def _mail(app: App) -> list[Component]:
    """MTA, filter and mailboxes."""
    if app.settings.is_full_profile:
        running: Mapping[str, bool] = app.running_services() if app.running_services else {}
        return [rules.processes(name, running, needed) for name, needed in _PROCESSES.items()]
    mode = app.settings.mta.mode
    mta = Component("mta", "disabled" if mode == "none" else "ok", None, {"mode": mode})
    return [mta, Component("filter", "disabled", "Available in the full profile only."), Component("mailboxes", "ok")]


async def _disk_component(app: App) -> Component:
    try:
        found = await asyncio.to_thread(os.statvfs, app.data_dir)
    except OSError as error:
        return Component("disk", "down", f"{app.data_dir}: {error.strerror}.")
    free, total = found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
    return rules.disk_component(free, total, found.f_favail, found.f_files)


async def ready(app: App) -> bool:
    """Whether requests can be served: the database answers and has the schema of this version. Within 2 seconds."""
    return await _in_time(_database(app)) == "ok"


async def _node_checks(app: App) -> list[HealthCheck]:
    """Queue and certificates. The DNS of the host is only in the details."""
    report = await asyncio.to_thread(app.node_report) if app.node_report else None
    found = rules.node_components(report, "", app.clock()) if report else []
    # The API works with an expired certificate, so the server as a whole is not down.
    return [HealthCheck(each.name, "ok" if each.status == "ok" else "degraded") for each in found if each.name != "dns"]


async def _in_time(work: Awaitable[Status]) -> Status:
    """The result of a check, or `down` after the time limit. A check that hangs is cancelled, not awaited."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=_SECONDS)
    if done:
        return task.result()
    _late.add(task)
    task.add_done_callback(_late.discard)
    task.cancel()
    return "down"


async def _database(app: App) -> Status:
    try:
        async with app.db.autocommit() as conn:
            return "down" if await missing_in(conn, _read_schema()) else "ok"
    except Unavailable:
        return "down"
    except Failure as error:
        log.error("the schema is not this version's", reason=str(error))
        return "down"


async def _disk(app: App) -> Status:
    try:
        usage = await asyncio.to_thread(shutil.disk_usage, app.data_dir)
    except OSError:
        return "down"
    return rules.disk(usage.free, usage.total)


async def _sandbox(app: App) -> Status:
    assert app.mta is not None
    try:
        _, writer = await asyncio.open_connection(app.mta.relay.host, app.mta.relay.port)
    except OSError:
        return "degraded"
    writer.close()
    return "ok"


@cache
def build() -> Build:
    """Version and commit, read once."""
    return Build(mailkeep.__version__, commit_of(Path(mailkeep.__file__).parent.parent))


def commit_of(root: Path) -> str | None:
    """The commit that is checked out in `root`, None if it is not a git repository."""
    try:
        git = root / ".git"
        if git.is_file():  # a linked work tree: "gitdir: …"
            git = (root / git.read_text("utf-8").partition(":")[2].strip()).resolve()
        head = (git / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head
        ref, common = head[5:], git
        if (git / "commondir").is_file():
            common = (git / (git / "commondir").read_text("utf-8").strip()).resolve()
        if (common / ref).is_file():
            return (common / ref).read_text("utf-8").strip()
        packed = (common / "packed-refs").read_text("utf-8").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {ref}")), None)
    except (OSError, ValueError):
        return None
