"""Alerts, and the problems that open them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from mailkeep.core.entity_tag import ANY_VERSION, IfMatch

Area = Literal["health", "abuse"]
Severity = Literal["warning", "critical"]
AlertState = Literal["open", "acknowledged", "resolved"]
Change = Literal["opened", "worse", "reminder", "resolved"]
"""Why an alert is reported: `worse` has become critical."""


@dataclass(frozen=True, slots=True)
class AlertProblem:
    """Something that is not in order now. `kind` and `subject` (an address, a domain, a component) identify it.

    `observed` and `baseline` are the value and what it was compared with, where there are such; `reason` says in words
    what is wrong, and what to do.
    """

    kind: str
    subject: str
    domain_id: UUID | None
    severity: Severity
    reason: str
    observed: float | None = None
    baseline: float | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. `in_order_since`: when the problem was not seen for the first time since it was last seen.

    `changed_at`: when state, severity or note changed. `unmailed`: the change that is to be mailed; `mailed_at`: when
    it was last mailed.
    """

    id: UUID
    area: Area
    kind: str
    subject: str
    domain_id: UUID | None
    severity: Severity
    reason: str
    observed: float | None
    baseline: float | None
    state: AlertState
    created_at: datetime
    seen_at: datetime
    reported_at: datetime
    in_order_since: datetime | None
    resolved_at: datetime | None
    note: str | None
    changed_at: datetime
    unmailed: Change | None
    mailed_at: datetime | None


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Filters of the list; `domains` are those that the caller sees, None for all."""

    area: Area
    domains: list[UUID] | None
    state: AlertState | Literal["unresolved"] | None = None
    kind: str | None = None
    domain_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class AlertChange:
    """What an administrator does with an alert; `note` None keeps the earlier one."""

    area: Area
    alert_id: UUID
    note: str | None = None
    if_match: IfMatch = ANY_VERSION


@dataclass(frozen=True, slots=True)
class AlertRecipient:
    """An administrator who gets mail about alerts: all of them, or about abuse in these domains."""

    address: str
    domains: frozenset[UUID] | None


@dataclass(frozen=True, slots=True)
class AlertMailPolicy:
    """When mail about alerts is sent, and about which: the settings `alerts.*`."""

    wanted: Literal["off", "critical", "all"]
    digest: str
    quiet_hours: str
    zone: ZoneInfo


@dataclass(frozen=True, slots=True)
class AlertStep:
    """An alert as it is from now on, and the change to report, if any."""

    alert: Alert
    change: Change | None


Current = Mapping[tuple[str, str], Alert]
"""The alerts of an area that have not ended, by kind and subject."""
