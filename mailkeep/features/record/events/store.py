"""The SQL of events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.record.events.model import Event, EventFilter, FeedPosition, Reader, RecordedEvent

# The most time between the start of a transaction and its events. The pool ends transactions long before that.
_LONGEST_TRANSACTION = timedelta(minutes=15)
_NUL = re.compile(rb"(\\\\)|\\u0000")  # `\\u0000` is an escaped backslash and text, not an escaped NUL


async def emit(conn: Conn, events: Sequence[tuple[UUID, Event]], at: datetime) -> None:
    """Insert events with their IDs, by the SQL function `emit_events`."""
    rows = [event_row(event_id, event) for event_id, event in events]
    await conn.execute(
        "SELECT emit_events(%(at)s, %(events)s)", {"at": at, "events": Jsonb(rows, dumps=msgspec.json.encode)}
    )


def event_row(event_id: UUID, event: Event) -> dict[str, Any]:
    """An event for the SQL function `emit_events`; a NUL in a text, which jsonb rejects, becomes U+FFFD."""
    data = msgspec.json.encode(event.payload)
    if b"\\u0000" in data:
        data = _NUL.sub(lambda match: match[1] or b"\\ufffd", data)
    return {
        "id": event_id,
        "kind": event.payload.kind,
        "domain_id": event.domain_id,
        "message_id": event.message_id,
        "data": msgspec.Raw(data),
    }


async def find(conn: Conn, event_id: UUID) -> RecordedEvent | None:
    """The event with this ID."""
    cursor = await conn.execute(
        "SELECT id, tx::text AS tx, kind, domain_id, message_id, data, created_at FROM events WHERE id = %(id)s",
        {"id": event_id},
    )
    row = await cursor.fetchone()
    return RecordedEvent(**row) if row else None


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether this domain exists, or existed and has an event."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM events e WHERE e.domain_id = %(id)s) AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def list_events(conn: Conn, filters: EventFilter, after: FeedPosition | None, limit: int) -> list[RecordedEvent]:
    """The next visible events in the order of the feed, after `after`."""
    tx, event_id = after or (None, None)
    since = filters.since
    cursor = await conn.execute(
        SQL(_ALL_EVENTS if filters.domains is None else _BY_DOMAIN).format(
            conditions=SQL(" AND ").join(SQL(text) for text in _conditions(filters, after is not None))
        ),
        {
            "tx": tx,
            "id": event_id,
            "kind": filters.kind,
            "domains": filters.domains,
            "since": since and uuid7_floor(since),
            "before_since": since and uuid7_floor(since - _LONGEST_TRANSACTION),
            "limit": limit,
        },
    )
    return [RecordedEvent(**row) for row in await cursor.fetchall()]


async def find_newest(conn: Conn, domains: Sequence[UUID] | None) -> FeedPosition | None:
    """The position of the newest visible event of these domains (None: of all); None without events."""
    of_all_domains: LiteralString = """
        SELECT e.tx::text AS tx, e.id FROM events e
        WHERE e.tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.tx DESC, e.id DESC LIMIT 1
    """
    of_domains: LiteralString = """
        SELECT e.tx::text AS tx, e.id FROM unnest(%(domains)s::uuid[]) AS d (id) CROSS JOIN LATERAL (
            SELECT e.tx, e.id FROM events e
            WHERE e.domain_id = d.id AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY e.tx DESC, e.id DESC LIMIT 1
        ) e ORDER BY e.tx DESC, e.id DESC LIMIT 1
    """
    cursor = await conn.execute(of_all_domains if domains is None else of_domains, {"domains": domains})
    row = await cursor.fetchone()
    return (row["tx"], row["id"]) if row else None


async def lock_position(conn: Conn, reader: Reader) -> FeedPosition:
    """Up to where a reader has read the feed. Others that read for it wait until the transaction ends."""
    cursor = await conn.execute(
        "SELECT p.tx::text AS tx, p.event_id FROM event_positions p WHERE p.reader = %(reader)s FOR UPDATE",
        {"reader": reader},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["tx"], row["event_id"]


async def has_unread(conn: Conn, reader: Reader) -> bool:
    """Whether there are visible events behind the position of a reader."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (
            SELECT FROM events e, event_positions p
            WHERE p.reader = %(reader)s AND (e.tx, e.id) > (p.tx, p.event_id)
              AND e.tx < pg_snapshot_xmin(pg_current_snapshot())) AS found
        """,
        {"reader": reader},
    )
    row = await cursor.fetchone()
    return bool(row and row["found"])


async def set_position(conn: Conn, reader: Reader, tx: str, event_id: UUID) -> None:
    """Move the position of a reader behind this event."""
    await conn.execute(
        "UPDATE event_positions SET tx = %(tx)s::xid8, event_id = %(id)s WHERE reader = %(reader)s",
        {"reader": reader, "tx": tx, "id": event_id},
    )


async def is_pending(conn: Conn) -> bool:
    """Whether a committed event is still hidden by an older transaction."""
    cursor = await conn.execute(
        "SELECT EXISTS (SELECT FROM events e WHERE e.tx >= pg_snapshot_xmin(pg_current_snapshot())) AS pending"
    )
    row = await cursor.fetchone()
    return bool(row and row["pending"])


_ALL_EVENTS: LiteralString = """
    SELECT e.id, e.tx::text AS tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
    FROM events e WHERE {conditions} ORDER BY e.tx, e.id LIMIT %(limit)s
"""
# One index scan for each domain, so that the events of many domains are not sorted.
_BY_DOMAIN: LiteralString = """
    SELECT e.id, e.tx::text AS tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
    FROM unnest(%(domains)s::uuid[]) AS d (id) CROSS JOIN LATERAL (
        SELECT e.id, e.tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
        FROM events e WHERE e.domain_id = d.id AND {conditions} ORDER BY e.tx, e.id LIMIT %(limit)s
    ) e ORDER BY e.tx, e.id LIMIT %(limit)s
"""


def _conditions(filters: EventFilter, has_position: bool) -> list[LiteralString]:
    conditions: list[LiteralString] = ["e.tx < pg_snapshot_xmin(pg_current_snapshot())"]
    if has_position:
        conditions.append("(e.tx, e.id) > (%(tx)s::xid8, %(id)s)")
    if filters.kind is not None:
        conditions.append("e.kind = %(kind)s")
    if filters.since is not None:
        # The second condition only avoids reading much older events.
        conditions.append("e.id >= %(since)s")
        conditions.append(
            """
            e.tx >= coalesce((SELECT b.tx FROM events b WHERE b.id < %(before_since)s ORDER BY b.id DESC LIMIT 1), '0')
            """
        )
    return conditions
