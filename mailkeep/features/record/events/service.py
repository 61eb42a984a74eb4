"""Telling what happened, and showing what was told."""

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
from mailkeep.web.streams import Stream as StreamPlace

_NO_DOMAIN = UUID(int=0)
_STREAM_PAGE = 50
_HEARTBEAT_SECONDS = 5.0


async def emit(conn: Conn, at: datetime, event: Event) -> None:
    """Write an event in the transaction of what it tells."""
    await emit_all(conn, at, [event])


async def emit_all(conn: Conn, at: datetime, events: Sequence[Event]) -> None:
    """Write events in the transaction of what they tell, in one statement."""
    await store.emit(conn, [(uuid7(at), event) for event in events], at)


def event_row(at: datetime, event: Event) -> dict[str, Any]:
    """An event as the database's `emit_events` takes it, for a statement that makes the change too."""
    return store.event_row(uuid7(at), event)


async def get(conn: Conn, who: Principal, event_id: UUID) -> RecordedEvent:
    """The event with this id; what belongs to no domain is for those who see all domains."""
    found = await store.find(conn, event_id)
    if found is None:
        raise NotFound
    allow_on(who, "event.read", found.domain_id or _NO_DOMAIN)
    return found


async def read_feed(
    conn: Conn, who: Principal, wanted: EventFilter, asked: PageRequest, place: FeedStart
) -> tuple[Page[RecordedEvent], bool]:
    """A page of the feed, oldest first, and whether it is truncated: begins anew since `place.after` is no more."""
    if asked.order != "asc":
        raise InvalidPagination("Events are read in the order of their commit: order must be asc.", field="order")
    if asked.after is not None:
        position, truncated = (asked.after[0], asked.after[1]), False
    else:
        position, truncated = await _find_position(conn, place)
    rows = await store.feed(conn, await _restrict_to_domain(conn, who, wanted), position, asked.limit + 1)
    if len(rows) <= asked.limit:
        return Page(rows, None), truncated
    rows = rows[: asked.limit]
    return Page(rows, (rows[-1].tx, rows[-1].id)), truncated


async def start_stream(conn: Conn, who: Principal, wanted: EventFilter, place: FeedStart) -> StreamStart:
    """Where a stream begins: beyond `place.after`, else with what is told from now on."""
    wanted = await _restrict_to_domain(conn, who, wanted)
    if place.after is None:
        position, truncated = await store.newest(conn, wanted.domains), False
    else:
        position, truncated = await _find_position(conn, place)
    return StreamStart(position, position[1] if position else BEGINNING, truncated)


@dataclass(frozen=True, slots=True)
class StreamReader:
    """Who follows the events, at a place among the streams.

    `again` tells who that is now, or refuses; `seconds` is how long: with 0, until everything told so far is seen.
    """

    place: StreamPlace
    again: Callable[[], Awaitable[Principal]]
    wanted: EventFilter
    seconds: float


async def follow(app: App, follower: StreamReader, position: FeedPosition | None) -> AsyncIterator[list[RecordedEvent]]:
    """Events beyond `position` as they are settled, some at a time; none of them every few seconds of silence.

    The follower is asked for again before each look and after what it finds, so that nothing is shown that happened
    when it was no more to be. Ends with the refusal that a new call would get, `Unavailable` where the process ends. A
    database that is away is waited for.
    """
    clock = asyncio.get_running_loop().time
    ends = clock() + follower.seconds
    while True:
        rows = await _next_events(app, follower, position)
        if rows:
            position = (rows[-1].tx, rows[-1].id)
            yield rows
        if follower.place.streams.closing:
            raise Unavailable("The server is ending.")
        left = ends - clock()
        if len(rows) == _STREAM_PAGE and (left > 0 or not follower.seconds):
            continue
        if left <= 0:
            return
        if not await follower.place.wait(min(left, _HEARTBEAT_SECONDS)):
            yield []


async def _next_events(app: App, follower: StreamReader, position: FeedPosition | None) -> list[RecordedEvent]:
    try:
        sees = await _visible_domains(follower)
        while True:
            async with app.db.autocommit() as conn:
                rows = await store.feed(conn, replace(follower.wanted, domains=sees), position, _STREAM_PAGE)
            if not rows or (now := await _visible_domains(follower)) == sees:
                return rows
            sees = now
    except Unavailable:
        return []


async def _visible_domains(follower: StreamReader) -> list[UUID] | None:
    """The domains whose events the follower may see now, or None for all."""
    who, wanted = await follower.again(), follower.wanted.domain_id
    if wanted is None:
        return who.domains()
    allow_on(who, "event.list", wanted)
    return [wanted]


async def _restrict_to_domain(conn: Conn, who: Principal, wanted: EventFilter) -> EventFilter:
    """The filter, held to the one domain that it names: DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if wanted.domain_id is None:
        return wanted
    if not await store.knows_domain(conn, wanted.domain_id):
        raise DomainNotFound
    allow_on(who, "event.list", wanted.domain_id)
    return replace(wanted, domains=[wanted.domain_id])


async def _find_position(conn: Conn, place: FeedStart) -> tuple[FeedPosition | None, bool]:
    """The position to go on from, and whether that is the beginning only because the event asked for is gone.

    An unknown event that is too young to be gone never was.
    """
    if place.after is None or place.after == BEGINNING:
        return None, False
    last = await store.find(conn, place.after)
    if last is not None:
        return (last.tx, last.id), False
    if uuid7_time(place.after) >= place.kept_since:
        raise invalid_field("after", "names no event")
    return None, True
