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


class StreamQuery(Query, frozen=True):
    """Filters of the stream; `duration`: it ends after so many seconds, with 0 when all is told; else it goes on."""

    after: UUID | None = None
    kind: Kind | None = None
    domain_id: UUID | None = None
    duration: Annotated[int, Meta(ge=0, le=86_400)] | None = None


HEARTBEAT = b": still here\n\n"


def opening(start: StreamStart) -> bytes:
    """The begin of a stream: how soon to come back, and the id to come back with before there was an event."""
    told = b"retry: 2000\nid: %b\n\n" % str(start.event_id).encode()
    return told + (_block(b"stream.truncated", {"reason": "truncated"}) if start.truncated else b"")


def stream(found: Iterable[RecordedEvent]) -> bytes:
    """Events of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    return b"".join(b"id: %b\n" % str(each.id).encode() + _block(each.kind.encode(), event(each)) for each in found)


def stream_end(wrong: Refusal) -> bytes:
    """Why a stream ends, before its time."""
    return _block(b"stream.end", {"code": wrong.code, "message": wrong.message})


def _block(name: bytes, data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name, msgspec.json.encode(data))


def event(found: RecordedEvent) -> EventResponse:
    """An event as it is answered."""
    return EventResponse(
        id=found.id,
        kind=found.kind,
        created_at=iso(found.created_at),
        domain_id=found.domain_id,
        message_id=found.message_id,
        data=dict(found.data),
    )
