"""Emits events, and reads the feed and the stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, InvalidPagination, NotFound, Unavailable, invalid_field
from mailkeep.core.ids import uuid7, uuid7_time
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.events import store
from mailkeep.features.record.events.model import (
    BEGINNING,
    Event,
    EventFilter,
    FeedPosition,
    FeedStart,
    RecordedEvent,
    StreamStart,
)
from mailkeep.web.streams import Stream

lock_position = store.lock_position
has_unread = store.has_unread
set_position = store.set_position

_NO_DOMAIN = UUID(int=0)
_STREAM_PAGE = 50
_HEARTBEAT_SECONDS = 5.0


async def emit(conn: Conn, at: datetime, event: Event) -> None:
    """Emit an event in the transaction of the change."""
    await emit_all(conn, at, [event])


async def emit_all(conn: Conn, at: datetime, events: Sequence[Event]) -> None:
    """Emit events in the transaction of the change, in one statement."""
    await store.emit(conn, [(uuid7(at), event) for event in events], at)


def event_row(at: datetime, event: Event) -> dict[str, Any]:
    """An event for the SQL function `emit_events`, for a statement that also makes the change."""
    return store.event_row(uuid7(at), event)


async def get(conn: Conn, who: Principal, event_id: UUID) -> RecordedEvent:
    """The event with this ID; one without a domain is visible to callers that see all domains. NOT_FOUND, FORBIDDEN."""
    event = await store.find(conn, event_id)
    if event is None:
        raise NotFound
    allow_on(who, "event.read", event.domain_id or _NO_DOMAIN)
    return event


async def read_feed(
    conn: Conn, who: Principal, filters: EventFilter, page_request: PageRequest, start: FeedStart
) -> tuple[Page[RecordedEvent], bool]:
    """A page of the feed, oldest first, and whether it is truncated: it begins with the oldest event, as `start.after`
    has been deleted.
    """
    if page_request.order != "asc":
        raise InvalidPagination("order must be asc: events are listed in the order of their commit.", field="order")
    if page_request.after is not None:
        position, truncated = (page_request.after[0], page_request.after[1]), False
    else:
        position, truncated = await _find_position(conn, start)
    rows = await store.list_events(
        conn, await _restrict_to_domain(conn, who, filters), position, page_request.limit + 1
    )
    if len(rows) <= page_request.limit:
        return Page(rows, None), truncated
    rows = rows[: page_request.limit]
    return Page(rows, (rows[-1].tx, rows[-1].id)), truncated


async def start_stream(conn: Conn, who: Principal, filters: EventFilter, start: FeedStart) -> StreamStart:
    """Where a stream begins: after `start.after`, else with the next new event."""
    filters = await _restrict_to_domain(conn, who, filters)
    if start.after is None:
        position, truncated = await store.find_newest(conn, filters.domains), False
    else:
        position, truncated = await _find_position(conn, start)
    return StreamStart(position, position[1] if position else BEGINNING, truncated)


@dataclass(frozen=True, slots=True)
class StreamReader:
    """The reader of a stream.

    `authenticate` returns the caller with its current permissions, or raises as for a new call. `seconds` is the
    duration; 0 ends the stream after the existing events.
    """

    stream: Stream
    authenticate: Callable[[], Awaitable[Principal]]
    filters: EventFilter
    seconds: float


async def follow(app: App, reader: StreamReader, position: FeedPosition | None) -> AsyncIterator[list[RecordedEvent]]:
    """Batches of events after `position` as they become visible; an empty batch after a few seconds without events.

    The caller is authenticated before and after each read, so that it gets no event that happened after its permission
    was revoked. Ends with the error that a new call would get, `Unavailable` if the process shuts down. An unavailable
    database does not end the stream.
    """
    clock = asyncio.get_running_loop().time
    ends_at = clock() + reader.seconds
    while True:
        rows = await _next_events(app, reader, position)
        if rows:
            position = (rows[-1].tx, rows[-1].id)
            yield rows
        if reader.stream.streams.closing:
            raise Unavailable("The server is shutting down: reconnect.")
        remaining = ends_at - clock()
        if len(rows) == _STREAM_PAGE and (remaining > 0 or not reader.seconds):
            continue
        if remaining <= 0:
            return
        if not await reader.stream.wait(min(remaining, _HEARTBEAT_SECONDS)):
            yield []


async def _next_events(app: App, reader: StreamReader, position: FeedPosition | None) -> list[RecordedEvent]:
    try:
        domains = await _visible_domains(reader)
        while True:
            async with app.db.autocommit() as conn:
                rows = await store.list_events(conn, replace(reader.filters, domains=domains), position, _STREAM_PAGE)
            if not rows or (current := await _visible_domains(reader)) == domains:
                return rows
            domains = current
    except Unavailable:
        return []


async def _visible_domains(reader: StreamReader) -> list[UUID] | None:
    """The domains whose events the caller may see now, or None for all."""
    who, domain_id = await reader.authenticate(), reader.filters.domain_id
    if domain_id is None:
        return who.domains()
    allow_on(who, "event.list", domain_id)
    return [domain_id]


async def _restrict_to_domain(conn: Conn, who: Principal, filters: EventFilter) -> EventFilter:
    """The filter, with its `domain_id` as the only domain. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if filters.domain_id is None:
        return filters
    if not await store.knows_domain(conn, filters.domain_id):
        raise DomainNotFound
    allow_on(who, "event.list", filters.domain_id)
    return replace(filters, domains=[filters.domain_id])


async def _find_position(conn: Conn, start: FeedStart) -> tuple[FeedPosition | None, bool]:
    """The position to continue from, and whether that is the beginning because the event `start.after` was deleted.

    INVALID_FIELD for an unknown event that is too recent to have been deleted.
    """
    if start.after is None or start.after == BEGINNING:
        return None, False
    event = await store.find(conn, start.after)
    if event is not None:
        return (event.tx, event.id), False
    if uuid7_time(start.after) >= start.kept_since:
        raise invalid_field("after", f"must be the ID of an event (got {start.after})")
    return None, True
