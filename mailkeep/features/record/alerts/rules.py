"""The life cycle of an alert, and its mail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from mailkeep.core.errors import Conflict
from mailkeep.features.record.alerts.model import (
    Alert,
    AlertMailPolicy,
    AlertProblem,
    AlertRecipient,
    AlertStep,
    Area,
    Change,
)

MAX_MAILED = 50
_URGENT_KINDS: Sequence[tuple[Area, Literal["alert_critical", "health_critical"]]] = (
    ("health", "health_critical"),
    ("abuse", "alert_critical"),
)
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
        unmailed="opened",
        mailed_at=None,
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
        reported_at=at if change else min(alert.reported_at, at),  # the clock may have been set back
        changed_at=at if is_worse else alert.changed_at,
        unmailed=change or alert.unmailed,
    )
    return AlertStep(seen, change)


def miss(alert: Alert, at: datetime) -> AlertStep:
    """The alert of a problem that is not seen now."""
    since = min(alert.in_order_since or at, at)  # the clock may have been set back
    if at - since < RESOLVE_AFTER:
        return AlertStep(replace(alert, in_order_since=since), None)
    ended = replace(
        alert,
        state="resolved",
        in_order_since=since,
        resolved_at=at,
        reported_at=at,
        changed_at=at,
        unmailed="resolved",
    )
    return AlertStep(ended, "resolved")


def acknowledge(alert: Alert, note: str | None, at: datetime) -> Alert:
    """The alert that somebody looks after: nobody is reminded, until it becomes critical or is in order. CONFLICT."""
    _refuse_resolved(alert)
    return replace(alert, state="acknowledged", note=note or alert.note, changed_at=at, unmailed=None)


def resolve(alert: Alert, note: str | None, at: datetime) -> Alert:
    """The alert that an administrator has ended; no mail says so. CONFLICT."""
    _refuse_resolved(alert)
    return replace(
        alert, state="resolved", note=note or alert.note, resolved_at=at, reported_at=at, changed_at=at, unmailed=None
    )


def _refuse_resolved(alert: Alert) -> None:
    if alert.state == "resolved":
        raise Conflict("The alert is resolved.", reason="resolved")


def most_severe(problems: Sequence[AlertProblem]) -> dict[tuple[str, str], AlertProblem]:
    """The problems by kind and subject; of two with the same, the more severe one."""
    ordered = sorted(problems, key=lambda each: each.severity == "critical")
    return {(each.kind, each.subject): each for each in ordered}


# Mail


def decide(alert: Alert, policy: AlertMailPolicy, at: datetime) -> Literal["mail", "wait", "drop"]:
    """What to do with the change of an alert that is not mailed yet. A problem that is not seen now is not mailed until
    it is seen again.
    """
    is_wanted = policy.wanted == "all" or (policy.wanted == "critical" and alert.severity == "critical")
    if not is_wanted or (alert.state == "resolved" and alert.mailed_at is None):
        return "drop"
    if alert.in_order_since is not None and alert.state != "resolved":
        return "wait"
    if is_urgent(alert):
        return "mail"
    if policy.digest:
        return "mail" if alert.reported_at <= last_time(policy.digest, policy.zone, at) else "wait"
    return "wait" if policy.quiet_hours and is_quiet(policy.quiet_hours, policy.zone, at) else "mail"


def is_urgent(alert: Alert) -> bool:
    """Whether it is mailed at once, whatever the time."""
    return alert.severity == "critical" and alert.state != "resolved"


def last_time(text: str, zone: ZoneInfo, at: datetime) -> datetime:
    """The last time before `at` when it was this time of day, such as 08:00. What a change to summer time leaves out is
    an hour later; of what comes twice it is the first.
    """
    day = at.astimezone(zone).date()
    today = datetime.combine(day, time.fromisoformat(text), zone).astimezone(UTC)
    if today <= at:
        return today
    return datetime.combine(day - timedelta(days=1), time.fromisoformat(text), zone).astimezone(UTC)


def is_quiet(text: str, zone: ZoneInfo, at: datetime) -> bool:
    """Whether the clock shows a time within the hours, such as 22:00-07:00, which may include midnight."""
    begin, end = (time.fromisoformat(each) for each in text.split("-"))
    now = at.astimezone(zone).time()
    return begin <= now < end if begin < end else now >= begin or now < end


def list_mails(
    alerts: Sequence[Alert], recipients: Sequence[AlertRecipient], zone: ZoneInfo
) -> Iterable[tuple[Literal["alert", "alert_critical", "health_critical"], str, dict[str, Any]]]:
    """The mails about alerts: kind, recipient and item. What is urgent has a mail of its own, about the health another
    one: many mails of a kind are collected, and senders, who cause the others, must not delay it.
    """
    for recipient in sorted(recipients, key=lambda each: each.address):
        visible = [
            each
            for each in alerts
            if recipient.domains is None or (each.area == "abuse" and each.domain_id in recipient.domains)
        ]
        other = [each for each in visible if not is_urgent(each)]
        for area, kind in _URGENT_KINDS:
            if urgent := [each for each in visible if is_urgent(each) and each.area == area]:
                yield kind, recipient.address, _to_item(urgent, zone)
        if other:
            yield "alert", recipient.address, _to_item(other, zone)


def _to_item(alerts: Sequence[Alert], zone: ZoneInfo) -> dict[str, Any]:
    shown = [
        {
            "change": each.unmailed if each.mailed_at or each.state == "resolved" else "opened",
            "severity": each.severity,
            "kind": each.kind,
            "subject": each.subject,
            "reason": each.reason,
            "since": _show(each.created_at.astimezone(zone)),
        }
        for each in alerts[:MAX_MAILED]
    ]
    return {"alerts": shown, "more": len(alerts) - len(shown)}


def _show(local: datetime) -> str:
    return f"{local.day} {local:%B %Y, %H:%M %Z}"
