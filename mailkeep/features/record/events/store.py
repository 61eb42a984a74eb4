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
from mailkeep.features.record.events.model import Event, EventFilter, FeedPosition, RecordedEvent

# How long before an event is told its transaction may have got its number; the pool ends longer ones by far.
_LONGEST_TRANSACTION = timedelta(minutes=15)
_NUL = re.compile(rb"(\\\\)|\\u0000")  # an escaped backslash before `u0000` makes it no escape


async def emit(conn: Conn, told: Sequence[tuple[UUID, Event]], at: datetime) -> None:
    """Events with their ids, by the database's own function."""
    rows = [event_row(event_id, event) for event_id, event in told]
    await conn.execute(
        "SELECT emit_events(%(at)s, %(events)s)", {"at": at, "events": Jsonb(rows, dumps=msgspec.json.encode)}
    )


def event_row(event_id: UUID, event: Event) -> dict[str, Any]:
    """An event as the database's `emit_events` takes it; a NUL in a text, which jsonb refuses, becomes U+FFFD."""
    data = msgspec.json.encode(event.payload)
    if b"\\u0000" in data:
        data = _NUL.sub(lambda found: found[1] or b"\\ufffd", data)
    return {
        "id": event_id,
        "kind": event.payload.kind,
        "domain_id": event.domain_id,
        "message_id": event.message_id,
        "data": msgspec.Raw(data),
    }


async def find(conn: Conn, event_id: UUID) -> RecordedEvent | None:
    """The event with this id."""
    cursor = await conn.execute(
        "SELECT id, tx::text AS tx, kind, domain_id, message_id, data, created_at FROM events WHERE id = %(id)s",
        {"id": event_id},
    )
    row = await cursor.fetchone()
    return RecordedEvent(**row) if row else None


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether there is such a domain, or was one that an event tells of."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM events e WHERE e.domain_id = %(id)s) AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def feed(conn: Conn, wanted: EventFilter, after: FeedPosition | None, most: int) -> list[RecordedEvent]:
    """Settled events in the order of commit, beyond `after` (transaction, id)."""
    tx, event_id = after or (None, None)
    since = wanted.since
    cursor = await conn.execute(
        SQL(_EVERYWHERE if wanted.domains is None else _BY_DOMAIN).format(
            conditions=SQL(" AND ").join(SQL(text) for text in _conditions(wanted, after is not None))
        ),
        {
            "tx": tx,
            "id": event_id,
            "kind": wanted.kind,
            "domains": wanted.domains,
            "since": since and uuid7_floor(since),
            "before_since": since and uuid7_floor(since - _LONGEST_TRANSACTION),
            "most": most,
        },
    )
    return [RecordedEvent(**row) for row in await cursor.fetchall()]


async def newest(conn: Conn, domains: Sequence[UUID] | None) -> FeedPosition | None:
    """The position of the newest settled event, of these domains or of all."""
    everywhere: LiteralString = """
        SELECT e.tx::text AS tx, e.id FROM events e
        WHERE e.tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.tx DESC, e.id DESC LIMIT 1
    """
    by_domain: LiteralString = """
        SELECT e.tx::text AS tx, e.id FROM unnest(%(domains)s::uuid[]) AS d (id) CROSS JOIN LATERAL (
            SELECT e.tx, e.id FROM events e
            WHERE e.domain_id = d.id AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY e.tx DESC, e.id DESC LIMIT 1
        ) e ORDER BY e.tx DESC, e.id DESC LIMIT 1
    """
    cursor = await conn.execute(everywhere if domains is None else by_domain, {"domains": domains})
    row = await cursor.fetchone()
    return (row["tx"], row["id"]) if row else None


async def is_pending(conn: Conn) -> bool:
    """Whether an event is committed that an older transaction still hides."""
    cursor = await conn.execute(
        "SELECT EXISTS (SELECT FROM events e WHERE e.tx >= pg_snapshot_xmin(pg_current_snapshot())) AS pending"
    )
    row = await cursor.fetchone()
    return bool(row and row["pending"])


_EVERYWHERE: LiteralString = """
    SELECT e.id, e.tx::text AS tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
    FROM events e WHERE {conditions} ORDER BY e.tx, e.id LIMIT %(most)s
"""
# Each domain by its own index, so that many of them need no sorting of all their events.
_BY_DOMAIN: LiteralString = """
    SELECT e.id, e.tx::text AS tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
    FROM unnest(%(domains)s::uuid[]) AS d (id) CROSS JOIN LATERAL (
        SELECT e.id, e.tx, e.kind, e.domain_id, e.message_id, e.data, e.created_at
        FROM events e WHERE e.domain_id = d.id AND {conditions} ORDER BY e.tx, e.id LIMIT %(most)s
    ) e ORDER BY e.tx, e.id LIMIT %(most)s
"""


def _conditions(wanted: EventFilter, continued: bool) -> list[LiteralString]:
    conditions: list[LiteralString] = ["e.tx < pg_snapshot_xmin(pg_current_snapshot())"]
    if continued:
        conditions.append("(e.tx, e.id) > (%(tx)s::xid8, %(id)s)")
    if wanted.kind is not None:
        conditions.append("e.kind = %(kind)s")
    if wanted.since is not None:
        # The second only spares reading what was told long before.
        conditions.append("e.id >= %(since)s")
        conditions.append(
            """
            e.tx >= coalesce((SELECT b.tx FROM events b WHERE b.id < %(before_since)s ORDER BY b.id DESC LIMIT 1), '0')
            """
        )
    return conditions
