"""Report problems; list, acknowledge, resolve and mail alerts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.alerts import rules, store, wire
from mailkeep.features.record.alerts.model import (
    Alert,
    AlertChange,
    AlertFilter,
    AlertMailPolicy,
    AlertProblem,
    Area,
    Change,
    Severity,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.features.record.system_mail import service as system_mail

# For `mailflow/incidents`, which resolves alerts about abuse.
AlertNote = wire.AlertNote
AlertResponse, to_response = wire.AlertResponse, wire.to_response

_RETENTION = timedelta(days=90)
_NO_DOMAIN = UUID(int=0)  # nobody is assigned to it: only those who see all domains pass


async def report(
    conn: Conn,
    at: datetime,
    area: Area,
    problems: Sequence[AlertProblem],
    *,
    kinds: Collection[str],
    subjects: Collection[str] | None = None,
) -> None:
    """Compare the problems seen now with the alerts that have not ended, and report what has changed.

    `kinds` and `subjects` (None: all) say what was looked at: an alert about these without a problem is in order. Run
    it in a transaction, as the last thing: it lets others that report in this area wait.
    """
    await store.lock(conn, area)
    seen = rules.most_severe(problems)
    current = {(each.kind, each.subject): each for each in await store.list_unresolved(conn, area, kinds, subjects)}
    for key in sorted(seen.keys() | current.keys()):
        alert, problem = current.get(key), seen.get(key)
        if alert is None:
            assert problem is not None
            step = rules.open_alert(uuid7(at), area, problem, at)
        elif problem is None:
            step = rules.miss(alert, at)
        else:
            step = rules.see_again(alert, problem, at)
        await store.save(conn, step.alert)
        if step.change:
            await _tell(conn, at, step.alert, step.change)


async def list_subjects(
    conn: Conn, area: Area, kinds: Collection[str], *, severity: Severity | None = None
) -> set[str]:
    """The subjects of the alerts of these kinds (and of this severity) that have not ended."""
    found = await store.list_unresolved(conn, area, kinds, None)
    return {each.subject for each in found if severity in (None, each.severity)}


async def page(conn: Conn, who: Principal, filters: AlertFilter, page_request: PageRequest) -> Page[Alert]:
    """A page of the alerts of an area that the caller may see. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if filters.domain_id is not None:
        if await store.find_domain(conn, filters.domain_id) is None:
            raise DomainNotFound
        allow_on(who, "alert.list", filters.domain_id)
    return await store.page(conn, filters, page_request)


async def get(conn: Conn, who: Principal, area: Area, alert_id: UUID) -> Alert:
    """The alert; one about no domain is for callers that see all domains.

    NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    return await _get(conn, who, "alert.read", area, alert_id)


async def find_area(conn: Conn, alert_id: UUID) -> Area | None:
    """The area of an alert; None if there is none with this ID."""
    for area in get_args(Area):
        if await store.find(conn, area, alert_id):
            return area
    return None


async def acknowledge(conn: Conn, who: Principal, at: datetime, change: AlertChange) -> Alert:
    """Record that somebody looks after an alert. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED,
    CONFLICT `resolved`.
    """
    alert = await _lock(conn, who, change)
    changed = rules.acknowledge(alert, change.note, at)
    await store.save(conn, changed)
    await _audit(conn, who, at, "alert.acknowledge", alert, changed)
    return changed


async def resolve(conn: Conn, who: Principal, at: datetime, change: AlertChange) -> Alert:
    """End an alert; a problem that is seen again opens another one. Errors as `acknowledge`.

    Run it in a transaction, as the last thing: it lets others that report in this area wait.
    """
    alert = await _lock(conn, who, change)
    changed = rules.resolve(alert, change.note, at)
    await store.save(conn, changed)
    await _audit(conn, who, at, "alert.resolve", alert, changed)
    await _emit(conn, at, changed, f"{changed.kind}_resolved", changed.note or "An administrator has resolved it.")
    return changed


async def mail(app: App) -> None:
    """Queue mail about what has changed and is due by the settings `alerts.*`. Call it every few seconds; each change
    is mailed once, also with several workers.
    """
    async with app.db.autocommit() as conn:
        if not await store.has_unmailed(conn):
            return
    at, settings = app.clock(), app.settings.alerts
    zone = ZoneInfo(settings.time_zone)
    policy = AlertMailPolicy(settings.email, settings.digest, settings.quiet_hours, zone)
    async with app.db.tx() as conn:
        for area in ("abuse", "health"):
            await store.lock(conn, area)
        outcomes = [(each, rules.decide(each, policy, at)) for each in await store.list_unmailed(conn)]
        due = [each for each, outcome in outcomes if outcome == "mail"]
        if due:
            for kind, recipient, item in rules.list_mails(due, await store.list_recipients(conn), zone):
                await system_mail.notify(conn, at, kind, [recipient], item)
        settled = [each.id for each, outcome in outcomes if outcome != "wait"]
        if settled:
            await store.save_mailed(conn, at, settled, [each.id for each in due])


async def prune(conn: Conn, at: datetime) -> None:
    """Delete the alerts that were resolved more than 90 days ago."""
    await store.delete_resolved(conn, at - _RETENTION)


async def _get(conn: Conn, who: Principal, action: str, area: Area, alert_id: UUID) -> Alert:
    alert = await store.find(conn, area, alert_id)
    if alert is None:
        raise NotFound
    allow_on(who, action, alert.domain_id or _NO_DOMAIN)
    return alert


async def _lock(conn: Conn, who: Principal, change: AlertChange) -> Alert:
    await store.lock(conn, change.area)
    alert = await _get(conn, who, "alert.write", change.area, change.alert_id)
    change.if_match.check(alert.changed_at)
    return alert


async def _audit(conn: Conn, who: Principal, at: datetime, action: str, before: Alert, after: Alert) -> None:
    domain = await store.find_domain(conn, after.domain_id) if after.domain_id else None
    target = AuditTarget("alert", after.id, after.domain_id, domain)
    details = {"kind": after.kind, "subject": after.subject}
    await audit.record(conn, who, at, AuditAction(action, target, _audit_fields(before), _audit_fields(after), details))


def _audit_fields(alert: Alert) -> dict[str, object]:
    return {"state": alert.state, "note": alert.note}


async def _tell(conn: Conn, at: datetime, alert: Alert, change: Change) -> None:
    name = f"{alert.kind}_recovered" if change == "resolved" else alert.kind
    await _emit(conn, at, alert, name, alert.reason)


async def _emit(conn: Conn, at: datetime, alert: Alert, name: str, reason: str) -> None:
    payload = SystemAlert(alert=name, alert_id=str(alert.id), about=alert.subject, reason=reason)
    await events.emit(conn, at, Event(alert.domain_id, None, payload))
