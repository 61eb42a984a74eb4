"""JSON of events."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.errors import Refusal
from mailkeep.features.record.events.model import Kind, RecordedEvent, StreamStart
from mailkeep.web.fields import Query, Timestamp


class EventResponse(Struct, frozen=True):
    """An event; `message_id` is the ID of a message under /messages, `data` depends on the kind."""

    id: UUID
    kind: str
    created_at: Timestamp
    domain_id: UUID | None
    message_id: UUID | None
    data: dict[str, Any]


class EventQuery(Query, frozen=True):
    """Filters of the feed; `after` is the ID of the last event seen."""

    after: UUID | None = None
    kind: Kind | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


class StreamQuery(Query, frozen=True):
    """Filters of the stream. It ends after `duration` seconds; 0: after the existing events; without it: never."""

    after: UUID | None = None
    kind: Kind | None = None
    domain_id: UUID | None = None
    duration: Annotated[int, Meta(ge=0, le=86_400)] | None = None


HEARTBEAT = b": still here\n\n"


def encode_opening(start: StreamStart) -> bytes:
    """The start of a stream: the client's delay before it reconnects (2 s), and the ID to send then if it received no
    event.
    """
    block = b"retry: 2000\nid: %b\n\n" % str(start.event_id).encode()
    return block + (_block(b"stream.truncated", {"reason": "truncated"}) if start.truncated else b"")


def encode_events(events: Iterable[RecordedEvent]) -> bytes:
    """Events as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    return b"".join(b"id: %b\n" % str(row.id).encode() + _block(row.kind.encode(), to_event(row)) for row in events)


def encode_end(refusal: Refusal) -> bytes:
    """The last block of a stream that ends with an error: its code and message."""
    return _block(b"stream.end", {"code": refusal.code, "message": refusal.message})


def _block(name: bytes, data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name, msgspec.json.encode(data))


def to_event(event: RecordedEvent) -> EventResponse:
    """The JSON of an event."""
    return EventResponse(
        id=event.id,
        kind=event.kind,
        created_at=iso(event.created_at),
        domain_id=event.domain_id,
        message_id=event.message_id,
        data=dict(event.data),
    )
