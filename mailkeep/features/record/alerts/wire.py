"""JSON of alerts."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.record.alerts.model import Alert
from mailkeep.web.fields import MULTILINE, Body, Query, Text, Timestamp

Note = Annotated[str, Meta(max_length=1000, extra=MULTILINE)]


class AlertResponse(Struct, frozen=True):
    """An alert. `observed` and `baseline`: the value, and what it was compared with, if there are such; `reason`: what
    is wrong, and what to do. `seen_at`: when the problem was last seen; `note`: of the administrator who acknowledged
    or resolved it. The entity tag changes with state, severity and note.
    """

    id: UUID
    kind: str
    domain_id: UUID | None
    subject: str
    severity: Literal["warning", "critical"]
    state: Literal["open", "acknowledged", "resolved"]
    reason: str
    observed: float | None
    baseline: float | None
    note: str | None
    created_at: Timestamp
    seen_at: Timestamp
    resolved_at: Timestamp | None


State = Literal["open", "acknowledged", "resolved", "unresolved"]


class AlertQuery(Query, frozen=True):
    """Filters of the list; `state` `unresolved`: open or acknowledged."""

    state: State | None = None
    kind: Text | None = None
    domain_id: UUID | None = None


class HealthAlertQuery(Query, frozen=True):
    """Filters of the list; `state` `unresolved`: open or acknowledged."""

    state: State | None = None
    kind: Text | None = None


class AlertNote(Body, frozen=True):
    """What others should know."""

    note: Note | None = None


def to_response(alert: Alert) -> AlertResponse:
    """The JSON of an alert."""
    return AlertResponse(
        id=alert.id,
        kind=alert.kind,
        domain_id=alert.domain_id,
        subject=alert.subject,
        severity=alert.severity,
        state=alert.state,
        reason=alert.reason,
        observed=alert.observed,
        baseline=alert.baseline,
        note=alert.note,
        created_at=iso(alert.created_at),
        seen_at=iso(alert.seen_at),
        resolved_at=iso_or_none(alert.resolved_at),
    )
