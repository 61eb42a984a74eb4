"""SQL of the digests."""

from __future__ import annotations

from datetime import datetime

from psycopg.sql import SQL

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.junk.model import DueDigest
from mailkeep.features.record.history.model import MailboxMail

# The active mailboxes with digests, and how often.
_WANTED = SQL(
    """
    SELECT m.id AS mailbox_id, m.local_part || '@' || d.name AS address, m.address_key, m.address_since, m.domain_id,
           coalesce(own.digest, domain.digest, server.digest) AS digest
    FROM filter_settings server
    CROSS JOIN mailboxes m JOIN domains d ON d.id = m.domain_id
    LEFT JOIN filter_settings domain ON domain.domain_id = m.domain_id AND domain.mailbox_id IS NULL
    LEFT JOIN filter_settings own ON own.mailbox_id = m.id
    WHERE server.domain_id IS NULL AND server.mailbox_id IS NULL AND m.active AND d.active AND m.deleted_at IS NULL
      AND coalesce(own.digest, domain.digest, server.digest) <> 'off'
    """
)


async def lock(conn: Conn) -> bool:
    """Let no other worker write digests until the transaction ends; False if another one does."""
    cursor = await conn.execute("SELECT pg_try_advisory_xact_lock(hashtext('mailkeep.junk_digests')) AS locked")
    row = await cursor.fetchone()
    return bool(row and row["locked"])


async def track(conn: Conn, at: datetime) -> None:
    """Let the first digest of mailboxes that have them from now on begin at this time, and forget the others."""
    await conn.execute(
        SQL(
            """
            WITH wanted AS MATERIALIZED ({wanted}), forgotten AS (
                DELETE FROM junk_digests j WHERE NOT EXISTS (SELECT FROM wanted w WHERE w.mailbox_id = j.mailbox_id)
            )
            INSERT INTO junk_digests (mailbox_id, listed_until)
            SELECT w.mailbox_id, %(at)s FROM wanted w
            WHERE NOT EXISTS (SELECT FROM junk_digests j WHERE j.mailbox_id = w.mailbox_id)
            ON CONFLICT DO NOTHING
            """
        ).format(wanted=_WANTED),
        {"at": at},
    )


async def take_due(conn: Conn, until: datetime, day: datetime, week: datetime, limit: int) -> list[DueDigest]:
    """Mailboxes whose last daily digest ends before `day`, or weekly one before `week`; from now on it ends at
    `until`.
    """
    cursor = await conn.execute(
        SQL(
            """
            WITH due AS (
                SELECT w.*, j.listed_until AS since FROM junk_digests j JOIN ({wanted}) w ON w.mailbox_id = j.mailbox_id
                WHERE j.listed_until < CASE w.digest WHEN 'daily' THEN %(day)s ELSE %(week)s END
                ORDER BY j.mailbox_id LIMIT %(limit)s
            ), taken AS (
                UPDATE junk_digests j SET listed_until = %(until)s FROM due WHERE j.mailbox_id = due.mailbox_id
            )
            SELECT mailbox_id, address, address_key, address_since, domain_id, digest, since FROM due
            """
        ).format(wanted=_WANTED),
        {"until": until, "day": day, "week": week, "limit": limit},
    )
    return [
        DueDigest(
            row["address"],
            row["digest"],
            MailboxMail(row["mailbox_id"], row["address_key"], row["domain_id"], row["since"], row["address_since"]),
        )
        for row in await cursor.fetchall()
    ]
