"""The life cycle of an alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.errors import Conflict
from mailkeep.features.record.alerts.model import Alert, AlertProblem, AlertStep, Area, Change

REMIND_AFTER = timedelta(days=1)
RESOLVE_AFTER = timedelta(hours=1)


def open_alert(alert_id: UUID, area: Area, problem: AlertProblem, at: datetime) -> AlertStep:
    """The alert of a problem that has none."""
    alert = Alert(
        id=alert_id,
        area=area,
        kind=problem.kind,
        subject=problem.subject,
        domain_id=problem.domain_id,
        severity=problem.severity,
        reason=problem.reason,
        observed=problem.observed,
        baseline=problem.baseline,
        state="open",
        created_at=at,
        seen_at=at,
        reported_at=at,
        in_order_since=None,
        resolved_at=None,
        note=None,
        changed_at=at,
    )
    return AlertStep(alert, "opened")


def see_again(alert: Alert, problem: AlertProblem, at: datetime) -> AlertStep:
    """The alert of a problem that lasts, or has come back. It never becomes less severe: that would alternate.

    Nobody is reminded of what is acknowledged; if it becomes critical, it is open again.
    """
    is_worse = problem.severity == "critical" and alert.severity == "warning"
    is_due = alert.state == "open" and at - alert.reported_at >= REMIND_AFTER
    change: Change | None = "worse" if is_worse else "reminder" if is_due else None
    seen = replace(
        alert,
        severity="critical" if is_worse else alert.severity,
        state="open" if is_worse else alert.state,
        reason=problem.reason,
        observed=problem.observed,
        baseline=problem.baseline,
        seen_at=at,
        in_order_since=None,
        reported_at=at if change else alert.reported_at,
        changed_at=at if is_worse else alert.changed_at,
    )
    return AlertStep(seen, change)


def miss(alert: Alert, at: datetime) -> AlertStep:
    """The alert of a problem that is not seen now."""
    since = alert.in_order_since or at
    if at - since < RESOLVE_AFTER:
        return AlertStep(replace(alert, in_order_since=since), None)
    ended = replace(
        alert,
        state="resolved",
        in_order_since=since,
        resolved_at=at,
        reported_at=at,
        changed_at=at,
    )
    return AlertStep(ended, "resolved")


def acknowledge(alert: Alert, note: str | None, at: datetime) -> Alert:
    """The alert that somebody looks after: nobody is reminded, until it becomes critical or is in order. CONFLICT."""
    _refuse_resolved(alert)
    return replace(alert, state="acknowledged", note=note or alert.note, changed_at=at)


def resolve(alert: Alert, note: str | None, at: datetime) -> Alert:
    """The alert that an administrator has ended. CONFLICT."""
    _refuse_resolved(alert)
    return replace(alert, state="resolved", note=note or alert.note, resolved_at=at, reported_at=at, changed_at=at)


def _refuse_resolved(alert: Alert) -> None:
    if alert.state == "resolved":
        raise Conflict("The alert is resolved.", reason="resolved")


def most_severe(problems: Sequence[AlertProblem]) -> dict[tuple[str, str], AlertProblem]:
    """The problems by kind and subject; of two with the same, the more severe one."""
    ordered = sorted(problems, key=lambda each: each.severity == "critical")
    return {(each.kind, each.subject): each for each in ordered}
