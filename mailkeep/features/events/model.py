"""An event: about a message, or the system itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

MailKind = Literal[
    "mail.sent",
    "mail.delivered",
    "mail.bounced",
    "mail.failed",
    "mail.received",
    "mail.received.full",
    "mail.spam",
]
SystemKind = Literal["system.suspension", "system.alert", "system.webhook_disabled"]
"""What tells of the system itself; a subscription to `*` does not mean these."""
Kind = Literal[MailKind, SystemKind]


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is one of the published kinds (`mail.sent`, …); `message_id` the id of the message row."""

    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """An event on record; `tx` is the transaction that told it, by which the feed is ordered before the id."""

    id: UUID
    tx: str
    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events the feed shows; `domains` are those that the caller sees, None for all."""

    domains: list[UUID] | None
    kind: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader goes on: beyond the event `after`; one from before `kept_since` may be gone."""

    after: UUID | None
    kept_since: datetime


Position = tuple[str, UUID]
"""A place in the order of the feed: (transaction, id) of the last event seen."""

BEGINNING = UUID(int=0)
"""Stands for the id of an event before the first one."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a stream begins: beyond `position`, that of `event_id`; `truncated`: what was asked for is gone."""

    position: Position | None
    event_id: UUID
    truncated: bool
