"""The SQL of external copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.external_copies.model import ExternalCopy


async def find(conn: Conn, queue_id: str) -> dict[str, ExternalCopy]:
    """The copies of a message, by recipient."""
    cursor = await conn.execute(
        """
        SELECT recipient, original, domain_name, state, marker FROM external_copies WHERE queue_id = %(queue_id)s
        """,
        {"queue_id": queue_id},
    )
    return {row["recipient"]: ExternalCopy(**row) for row in await cursor.fetchall()}


async def begin(
    conn: Conn, queue_id: str, copies: Sequence[ExternalCopy], at: datetime, settled_before: datetime | None
) -> set[str]:
    """Record new copies, and new attempts for those whose last one began before `settled_before` and has no outcome.
    Returns their recipients.
    """
    cursor = await conn.execute(
        """
        INSERT INTO external_copies AS e (queue_id, recipient, original, domain_name, state, marker, attempted_at)
        SELECT %(queue_id)s, c.recipient, c.original, c.domain_name, c.state, c.marker, %(at)s
        FROM jsonb_to_recordset(%(copies)s)
             AS c (recipient text, original text, domain_name text, state text, marker uuid)
        ON CONFLICT (queue_id, recipient) DO UPDATE
        SET original = excluded.original, domain_name = excluded.domain_name, state = excluded.state,
            marker = excluded.marker, attempted_at = excluded.attempted_at
        WHERE e.state = 'returning' AND e.attempted_at < %(settled_before)s
        RETURNING recipient
        """,
        {
            "queue_id": queue_id,
            "copies": Jsonb(list(copies), dumps=msgspec.json.encode),
            "at": at,
            "settled_before": settled_before,
        },
    )
    return {row["recipient"] for row in await cursor.fetchall()}


async def prolong(conn: Conn, marker: UUID, at: datetime) -> None:
    """Record that an attempt has ended only now, with an unknown outcome."""
    await conn.execute(
        "UPDATE external_copies SET attempted_at = %(at)s WHERE marker = %(marker)s AND state = 'returning'",
        {"marker": marker, "at": at},
    )


async def end(conn: Conn, marker: UUID, refused: Sequence[str], returned_as: str | None) -> None:
    """Record that Postfix accepted an attempt's copies, except for the recipients that it refused."""
    await conn.execute(
        """
        WITH deleted AS (
            DELETE FROM external_copies
            WHERE marker = %(marker)s AND recipient = ANY(%(refused)s)
        )
        UPDATE external_copies SET state = 'returned', returned_as = %(returned_as)s
        WHERE marker = %(marker)s AND state = 'returning' AND recipient <> ALL(%(refused)s)
        """,
        {"marker": marker, "refused": list(refused), "returned_as": returned_as},
    )


async def delete(conn: Conn, marker: UUID) -> None:
    """Delete the copies of an attempt that Postfix did not accept."""
    await conn.execute(
        "DELETE FROM external_copies WHERE marker = %(marker)s AND state = 'returning'", {"marker": marker}
    )


async def accept(conn: Conn, returned: Mapping[UUID, str]) -> None:
    """Record the queue IDs of returned copies, by marker."""
    await conn.execute(
        """
        UPDATE external_copies e SET state = 'returned', returned_as = r.queue_id
        FROM unnest(%(markers)s::uuid[], %(queue_ids)s::text[]) AS r (marker, queue_id)
        WHERE e.marker = r.marker AND e.state = 'returning'
        """,
        {"markers": list(returned), "queue_ids": list(returned.values())},
    )


async def find_by_marker(conn: Conn, marker: UUID) -> dict[str, ExternalCopy]:
    """The copies with this marker, by recipient."""
    cursor = await conn.execute(
        "SELECT recipient, original, domain_name, state, marker FROM external_copies WHERE marker = %(marker)s",
        {"marker": marker},
    )
    return {row["recipient"]: ExternalCopy(**row) for row in await cursor.fetchall()}


async def delete_old(conn: Conn, before: datetime) -> None:
    """Delete copies from before `before`."""
    await conn.execute("DELETE FROM external_copies WHERE attempted_at < %(before)s", {"before": before})
