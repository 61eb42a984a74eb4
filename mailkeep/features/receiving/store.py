"""The SQL of receiving: places of delivery, and the queue of forwards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.receiving.model import Forward, Home


async def homes(conn: Conn, mailbox_ids: Collection[UUID]) -> dict[UUID, Home]:
    """The mailboxes among these that still exist."""
    cursor = await conn.execute(
        """
        SELECT m.id AS mailbox_id, d.id AS domain_id, d.name AS domain_name
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE m.id = ANY(%(ids)s) AND m.deleted_at IS NULL
        """,
        {"ids": list(mailbox_ids)},
    )
    return {row["mailbox_id"]: Home(**row) for row in await cursor.fetchall()}


async def queue_forwards(conn: Conn, queue_id: str, mail_from: str, recipients: Sequence[str], at: datetime) -> None:
    """Queue copies for the outside; one that is queued already stays as it is."""
    await conn.execute(
        """
        INSERT INTO forwards (queue_id, recipient, mail_from, next_attempt_at, created_at)
        SELECT %(queue_id)s, r, %(mail_from)s, %(at)s, %(at)s FROM unnest(%(recipients)s::text[]) AS r
        ON CONFLICT DO NOTHING
        """,
        {"queue_id": queue_id, "mail_from": mail_from, "recipients": list(recipients), "at": at},
    )


async def due_forwards(conn: Conn, at: datetime, most: int) -> list[Forward]:
    """Forwards whose next try has come, oldest first."""
    cursor = await conn.execute(
        """
        SELECT queue_id, recipient, mail_from, attempts FROM forwards
        WHERE next_attempt_at <= %(at)s ORDER BY next_attempt_at LIMIT %(most)s
        """,
        {"at": at, "most": most},
    )
    return [Forward(**row) for row in await cursor.fetchall()]


async def end_forward(conn: Conn, forward: Forward) -> bool:
    """Take a forward out of the queue; answers whether it was the last of its message."""
    cursor = await conn.execute(
        """
        WITH gone AS (
            DELETE FROM forwards WHERE queue_id = %(queue_id)s AND recipient = %(recipient)s RETURNING queue_id
        )
        SELECT NOT EXISTS (
            SELECT FROM forwards f WHERE f.queue_id = %(queue_id)s AND f.recipient <> %(recipient)s
        ) AS last
        """,
        {"queue_id": forward.queue_id, "recipient": forward.recipient},
    )
    row = await cursor.fetchone()
    return bool(row and row["last"])


async def put_off_forward(conn: Conn, forward: Forward, until: datetime) -> None:
    """Another try, later."""
    await conn.execute(
        """
        UPDATE forwards SET attempts = attempts + 1, next_attempt_at = %(until)s
        WHERE queue_id = %(queue_id)s AND recipient = %(recipient)s
        """,
        {"queue_id": forward.queue_id, "recipient": forward.recipient, "until": until},
    )
