"""JSON of events."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.events.model import Told
from mailkeep.web.fields import Query, Timestamp

Kind = Literal[
    "mail.sent",
    "mail.delivered",
    "mail.bounced",
    "mail.failed",
    "mail.received",
    "mail.received.full",
    "mail.spam",
]


class Event(Struct, frozen=True):
    """Something that happened; `message_id` is the id under /messages, `data` is that of the kind."""

    id: UUID
    kind: str
    created_at: Timestamp
    domain_id: UUID | None
    message_id: UUID | None
    data: dict[str, Any]


class EventQuery(Query, frozen=True):
    """Filters of the feed; `after` is the id of the last event seen."""

    after: UUID | None = None
    kind: Kind | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


def event(found: Told) -> Event:
    """An event as it is answered."""
    return Event(
        id=found.id,
        kind=found.kind,
        created_at=iso(found.created_at),
        domain_id=found.domain_id,
        message_id=found.message_id,
        data=dict(found.data),
    )
