"""Telling what happened, and showing what was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mailkeep.core.errors import DomainNotFound, InvalidPagination, NotFound, invalid_field
from mailkeep.core.ids import uuid7, uuid7_time
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.events import store
from mailkeep.features.events.model import Event, Filter, Place, Told

_NO_DOMAIN = UUID(int=0)


async def emit(conn: Conn, at: datetime, event: Event) -> None:
    """Write an event in the transaction of what it tells."""
    await emit_all(conn, at, [event])


async def emit_all(conn: Conn, at: datetime, events: Sequence[Event]) -> None:
    """Write events in the transaction of what they tell, in one statement."""
    await store.emit(conn, [(uuid7(at), event) for event in events], at)


async def get(conn: Conn, who: Principal, event_id: UUID) -> Told:
    """The event with this id; what belongs to no domain is for those who see all domains."""
    found = await store.find(conn, event_id)
    if found is None:
        raise NotFound
    allow_on(who, "event.read", found.domain_id or _NO_DOMAIN)
    return found


async def feed(conn: Conn, who: Principal, wanted: Filter, asked: PageRequest, place: Place) -> tuple[Page[Told], bool]:
    """A page of the feed, oldest first, and whether it is truncated: begins anew since `place.after` is no more."""
    if asked.order != "asc":
        raise InvalidPagination("Events are read in the order of their commit: order must be asc.", field="order")
    if wanted.domain_id is not None:
        if not await store.knows_domain(conn, wanted.domain_id):
            raise DomainNotFound
        allow_on(who, "event.list", wanted.domain_id)
        wanted = replace(wanted, domains=[wanted.domain_id])
    after, truncated = await _start(conn, asked, place)
    rows = await store.feed(conn, wanted, after, asked.limit + 1)
    if len(rows) <= asked.limit:
        return Page(rows, None), truncated
    rows = rows[: asked.limit]
    return Page(rows, (rows[-1].tx, rows[-1].id)), truncated


async def _start(conn: Conn, asked: PageRequest, place: Place) -> tuple[tuple[str, UUID] | None, bool]:
    """The (transaction, id) to go on from, and whether that is the beginning only because the event asked for is gone.

    An unknown event that is too young to be gone never was.
    """
    if asked.after is not None:
        tx, event_id = asked.after
        return (tx, event_id), False
    if place.after is None:
        return None, False
    last = await store.find(conn, place.after)
    if last is not None:
        return (last.tx, last.id), False
    if uuid7_time(place.after) >= place.kept_since:
        raise invalid_field("after", "names no event")
    return None, True
