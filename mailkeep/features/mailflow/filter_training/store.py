"""The SQL of training: whether a mailbox teaches, and its lessons by minute."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filter_training.model import LessonCounts


async def lock_mailbox(conn: Conn, mailbox_id: UUID) -> bool | None:
    """Whether the mailbox teaches: its effective `learn`; None if it does not exist. Locks it until the end of the
    transaction, so that two processes don't exceed its limit together.
    """
    cursor = await conn.execute(
        """
        SELECT coalesce(own.learn, domain.learn, server.learn, true) AS learn
        FROM mailboxes m
            LEFT JOIN filter_settings own ON own.mailbox_id = m.id
            LEFT JOIN filter_settings domain ON domain.domain_id = m.domain_id
            LEFT JOIN filter_settings server ON server.domain_id IS NULL AND server.mailbox_id IS NULL
        WHERE m.id = %(mailbox_id)s AND m.deleted_at IS NULL
        FOR NO KEY UPDATE OF m
        """,
        {"mailbox_id": mailbox_id},
    )
    row = await cursor.fetchone()
    return row["learn"] if row else None


async def count(conn: Conn, mailbox_id: UUID, since: datetime) -> LessonCounts:
    """The lessons of a mailbox in the minutes from `since`."""
    cursor = await conn.execute(
        """
        SELECT coalesce(sum(accepted), 0)::int AS accepted, coalesce(sum(dropped), 0)::int AS dropped
        FROM filter_lessons WHERE mailbox_id = %(mailbox_id)s AND minute >= %(since)s
        """,
        {"mailbox_id": mailbox_id, "since": since},
    )
    row = await cursor.fetchone()
    assert row is not None
    return LessonCounts(row["accepted"], row["dropped"])


async def add(conn: Conn, mailbox_id: UUID, minute: datetime, since: datetime, counts: LessonCounts) -> None:
    """Add lessons of a minute, and forget those of the mailbox before `since`."""
    await conn.execute(
        """
        WITH old AS (DELETE FROM filter_lessons WHERE mailbox_id = %(mailbox_id)s AND minute < %(since)s)
        INSERT INTO filter_lessons AS l (mailbox_id, minute, accepted, dropped)
        VALUES (%(mailbox_id)s, %(minute)s, %(accepted)s, %(dropped)s)
        ON CONFLICT (mailbox_id, minute)
            DO UPDATE SET accepted = l.accepted + excluded.accepted, dropped = l.dropped + excluded.dropped
        """,
        {
            "mailbox_id": mailbox_id,
            "minute": minute,
            "since": since,
            "accepted": counts.accepted,
            "dropped": counts.dropped,
        },
    )
