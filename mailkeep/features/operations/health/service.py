"""Run health checks with time limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TypeVar

import structlog

import mailkeep
from mailkeep.app import App
from mailkeep.core.counters import Gauge
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.migrate import list_missing, read_schema
from mailkeep.features.directory.dns_checks import service as dns_checks
from mailkeep.features.operations.backup_alerts import service as backup_alerts
from mailkeep.features.operations.certificates import service as certificates
from mailkeep.features.operations.health import rules, store
from mailkeep.features.operations.health.model import (
    Build,
    Component,
    HealthCheck,
    ServerHealth,
    Status,
    StoredFacts,
)
from mailkeep.features.operations.machine import service as machine
from mailkeep.features.record.job_runs import service as job_runs

log = structlog.get_logger("mailkeep.health")

T = TypeVar("T")

_CHECK_SECONDS = 1.5
_read_schema = cache(read_schema)
_PROCESSES = {
    "mta": ("postfix", "logs", "policy", "milter"),
    "filter": ("rspamd", "redis", "keys", "learner"),
    "mailboxes": ("dovecot", "lmtp", "usage"),
}
_WORKERS = ("worker", "node", "backup", "reinjection")
_MAX_CERTIFICATES = 50
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
    """All components in detail, within a few seconds."""
    at = app.clock()
    database = await _database_component(app)
    facts = await _limit(_read_facts(app), StoredFacts()) if database.status == "ok" else None
    disk, clock, backups = await asyncio.gather(
        _disk_component(app, facts), _clock_component(app, facts), _backups_component(app, facts)
    )
    known = facts or StoredFacts()
    components = [database, *_mail_components(app)]
    if app.settings.is_full_profile:
        report = await asyncio.to_thread(app.node_report) if app.node_report else None
        if report is not None:
            components = [rules.with_report(each, report) for each in components]
        components += rules.node_components(report, app.settings.server.hostname, at, known.ends)
    else:
        components += rules.not_here(("queue", "probe", "antivirus", "dns_lists"))
        components += [await _listener_certificate(app), _checked_dns(app, known)]
    components += [disk, clock, _workers_component(app, facts), _blocklists_component(app, facts), backups]
    components.append(rules.replication())
    return [replace(each, since=_find_since(each, facts, at)) for each in components]


async def record(app: App) -> list[Component]:
    """Store since when each component has its status, and the use of the disk; all components. UNAVAILABLE, OSError."""
    components, at = await details(app), app.clock()
    async with app.db.autocommit() as conn:
        await store.save_states(conn, components, at)
    await machine.record_disk(app)
    return components


async def read_gauges(app: App) -> list[Gauge]:
    """The measured values for `/metrics`; without the database, those that do not need it."""
    gauges = rules.to_gauges(await details(app))
    with suppress(Unavailable):
        async with app.db.autocommit() as conn:
            counts = await store.count_alerts(conn)
        gauges += [(("alerts_open", pair), counts.get(pair, 0)) for pair in rules.ALERT_LABELS]
    return gauges


async def _read_facts(app: App) -> StoredFacts:
    server = await dns_checks.read_server(app)
    async with app.db.autocommit() as conn:
        return StoredFacts(
            jobs=await job_runs.list_all(conn),
            ends=await certificates.list_ends(conn, _MAX_CERTIFICATES),
            dns_problems=dns_checks.list_problems(server),
            blocklists=server.check.blocklists,
            dns_checked_at=server.check.checked_at,
            states=await store.read_states(conn),
        )


def _find_since(component: Component, facts: StoredFacts | None, at: datetime) -> datetime | None:
    if facts is None:
        return None
    status, since = facts.states.get(component.name, (component.status, at))
    return since if status == component.status else at


async def _database_component(app: App) -> Component:
    began = monotonic()
    status = await _limit_time(_check_database(app))
    latency = round((monotonic() - began) * 1000, 1)
    if status == "ok":
        return Component("database", "ok", None, {}, latency, await _limit(_read_version(app), None))
    return Component("database", status, "See log/postgresql.log, or check database.url.", {}, latency)


async def _read_version(app: App) -> str:
    async with app.db.autocommit() as conn:
        return await store.server_version(conn)


async def _backups_component(app: App, facts: StoredFacts | None) -> Component:
    found = await _limit(backup_alerts.read_health(app), None) if facts else None
    return Component("backups", found.status, found.advice, found.details) if found else rules.unknown("backups")


async def _disk_component(app: App, facts: StoredFacts | None) -> Component:
    found = await _limit(machine.forecast_disk(app), None) if facts else None
    return rules.make_component("disk", found or await asyncio.to_thread(machine.judge_disk, app.data_dir))


async def _clock_component(app: App, facts: StoredFacts | None) -> Component:
    found = await _limit(machine.judge_clock(app, asks_database=True), None) if facts else None
    return rules.make_component("clock", found or await machine.judge_clock(app, asks_database=False))


def _workers_component(app: App, facts: StoredFacts | None) -> Component:
    running: Mapping[str, bool] = {}
    if app.settings.is_full_profile:
        states: Mapping[str, bool] = app.running_services() if app.running_services else {}
        running = {name: states.get(name, False) for name in _WORKERS}
    return rules.workers(facts.jobs, app.clock(), running) if facts else rules.unknown("workers")


def _blocklists_component(app: App, facts: StoredFacts | None) -> Component:
    is_wanted = bool(app.settings.server.hostname and app.settings.dns.blocklists)
    if facts is None:
        return rules.unknown("blocklists")
    return rules.blocklists(facts.blocklists, facts.dns_checked_at, wanted=is_wanted)


def _checked_dns(app: App, facts: StoredFacts) -> Component:
    return rules.checked_dns(app.settings.server.hostname, facts.dns_problems, facts.dns_checked_at)


async def _listener_certificate(app: App) -> Component:
    """The certificate of the embedded profile's SMTP listener."""
    try:
        found = await asyncio.to_thread(app.served_certificate) if app.served_certificate else None
    except (OSError, Failure) as error:
        return Component("certificates", "degraded", f"The certificate can't be read: {error}")
    if found is None:
        return Component("certificates", "disabled", "This process serves no mail.")
    return rules.certificates(found, app.clock())


async def _limit(work: Awaitable[T], default: T) -> T:
    """The result of reading the database, or `default` if it does not answer in time."""
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            return await work
    except (TimeoutError, Unavailable):
        return default


def _mail_components(app: App) -> list[Component]:
    """MTA, filter and mailboxes."""
    if app.settings.is_full_profile:
        running: Mapping[str, bool] = app.running_services() if app.running_services else {}
        return [rules.processes(name, running, needed) for name, needed in _PROCESSES.items()]
    mode = app.settings.mta.mode
    mta = Component("mta", "disabled" if mode == "none" else "ok", None, {"mode": mode})
    return [mta, *rules.not_here(["filter"]), Component("mailboxes", "ok", version=mailkeep.__version__)]


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
    return (await asyncio.to_thread(machine.judge_disk, app.data_dir)).status


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
