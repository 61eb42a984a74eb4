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
from mailkeep.db.migrate import list_missing, read_schema
from mailkeep.features.operations.backup_alerts import service as backup_alerts
from mailkeep.features.operations.health import rules, store
from mailkeep.features.operations.health.model import Build, Component, HealthCheck, ServerHealth, State, Status

log = structlog.get_logger("mailkeep.health")

_CHECK_SECONDS = 1.5
_read_schema = cache(read_schema)
_PROCESSES = {
    "mta": ("postfix", "logs", "policy", "milter"),
    "filter": ("rspamd", "redis", "keys", "learner"),
    "mailboxes": ("dovecot", "lmtp", "usage"),
}
_since: dict[tuple[Path, str], tuple[State, datetime]] = {}  # of each component: its status, and since when
_cancelled: set[asyncio.Task[Status]] = set()  # checks over the time limit; asyncio itself keeps no reference


async def health(app: App) -> ServerHealth:
    """The status of all services, within 2 seconds."""
    functions: dict[str, Callable[[App], Awaitable[Status]]] = {"database": _check_database, "disk": _check_disk}
    if app.mta is not None and app.settings.mta.mode == "sandbox":
        functions["mta"] = _check_sandbox  # another mail server is not contacted for each request
    statuses = await asyncio.gather(*(_limit_time(check(app)) for check in functions.values()))
    checks = [HealthCheck(name, status) for name, status in zip(functions, statuses, strict=True)]
    if app.running_services is not None:
        checks += rules.service_checks(app.running_services())
        checks += await _node_checks(app)
    return rules.overall_health(checks)


async def details(app: App) -> list[Component]:
    """All components in detail, within 2 seconds each; `since`: when this process first saw the status."""
    at = app.clock()
    components = [await _database_component(app), *_mail_components(app), await _disk_component(app)]
    if app.settings.is_full_profile:
        report = await asyncio.to_thread(app.node_report) if app.node_report else None
        components = [rules.with_filter_problem(each, report) for each in components]
        components += rules.node_components(report, app.settings.server.hostname, at)
    else:
        advice = "Available in the full profile only."
        components += [Component("queue", "disabled", advice), Component("certificates", "disabled", advice)]
        components.append(Component("dns", "disabled", advice, {"hostname": app.settings.server.hostname or None}))
        components += [Component(name, "disabled", advice) for name in ("probe", "antivirus", "dns_lists")]
    components.append(await _backups_component(app))
    return [replace(each, since=_update_since(app, each, at)) for each in components]


def _update_since(app: App, component: Component, at: datetime) -> datetime:
    key = app.data_dir, component.name
    status, since = _since.get(key, (None, at))
    if status != component.status:
        since = at
    _since[key] = component.status, since
    return since


async def _database_component(app: App) -> Component:
    began = monotonic()
    status = await _limit_time(_check_database(app))
    latency = round((monotonic() - began) * 1000, 1)
    if status == "ok":
        async with app.db.autocommit() as conn:
            return Component("database", "ok", None, {}, latency, await store.server_version(conn))
    return Component("database", status, "See log/postgresql.log, or check database.url.", {}, latency)


async def _backups_component(app: App) -> Component:
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            found = await backup_alerts.read_health(app)
    except (TimeoutError, Unavailable):
        return Component("backups", "degraded", "Unknown, because the database does not answer.")
    return Component("backups", found.status, found.advice, found.details)


def _mail_components(app: App) -> list[Component]:
    """MTA, filter and mailboxes."""
    if app.settings.is_full_profile:
        running: Mapping[str, bool] = app.running_services() if app.running_services else {}
        return [rules.processes(name, running, needed) for name, needed in _PROCESSES.items()]
    mode = app.settings.mta.mode
    mta = Component("mta", "disabled" if mode == "none" else "ok", None, {"mode": mode})
    return [mta, Component("filter", "disabled", "Available in the full profile only."), Component("mailboxes", "ok")]


async def _disk_component(app: App) -> Component:
    try:
        disk = await asyncio.to_thread(os.statvfs, app.data_dir)
    except OSError as error:
        return Component("disk", "down", f"The data directory {app.data_dir} can't be read: {error.strerror}.")
    free, total = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    return rules.disk_component(free, total, disk.f_favail, disk.f_files)


async def ready(app: App) -> bool:
    """Whether requests can be served: the database answers and has the schema of this version. Within 2 seconds."""
    return await _limit_time(_check_database(app)) == "ok"


async def _node_checks(app: App) -> list[HealthCheck]:
    """Queue, certificates and the probe. DNS is only in the details."""
    report = await asyncio.to_thread(app.node_report) if app.node_report else None
    components = rules.node_components(report, "", app.clock()) if report else []
    # The API works with an expired certificate, so the server as a whole is not down.
    return [
        HealthCheck(each.name, "ok" if each.status == "ok" else "degraded")
        for each in components
        if each.name != "dns" and each.status != "disabled"
    ]


async def _limit_time(check: Awaitable[Status]) -> Status:
    """The result of a check, or `down` after the time limit. A check that hangs is cancelled, not awaited."""
    task = asyncio.ensure_future(check)
    done, _ = await asyncio.wait({task}, timeout=_CHECK_SECONDS)
    if done:
        return task.result()
    _cancelled.add(task)
    task.add_done_callback(_cancelled.discard)
    task.cancel()
    return "down"


async def _check_database(app: App) -> Status:
    try:
        async with app.db.autocommit() as conn:
            return "down" if await list_missing(conn, _read_schema()) else "ok"
    except Unavailable:
        return "down"
    except Failure as error:
        log.error("the database does not have the schema of this version", reason=str(error))
        return "down"


async def _check_disk(app: App) -> Status:
    try:
        usage = await asyncio.to_thread(shutil.disk_usage, app.data_dir)
    except OSError:
        return "down"
    return rules.disk(usage.free, usage.total)


async def _check_sandbox(app: App) -> Status:
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
