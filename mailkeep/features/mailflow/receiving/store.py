"""The SQL of receiving: target mailboxes, event content, and the queue of forwards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import Policy
from mailkeep.features.mailflow.receiving.model import QueuedForward, TargetMailbox


async def find_mailboxes(
    conn: Conn, mailbox_ids: Collection[UUID], values: Sequence[str], *, always_full: bool
) -> dict[UUID, tuple[TargetMailbox, Policy]]:
    """The mailboxes among these that still exist, in the order in which transactions lock them, with their policies.
    `values`: of the list entries that can match.
    """
    cursor = await conn.execute(
        """
        SELECT m.id AS mailbox_id, d.id AS domain_id, d.name AS domain_name, m.quota_bytes, m.used_bytes,
               publishes_full_mail(d.id, %(always_full)s) AS publishes_full_mail, p.*
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        CROSS JOIN LATERAL filter_policy(d.id, m.id, %(values)s::text[]) p
        WHERE m.id = ANY(%(ids)s) AND m.deleted_at IS NULL
        ORDER BY m.id
        """,
        {"ids": list(mailbox_ids), "always_full": always_full, "values": list(values)},
    )
    return {
        row["mailbox_id"]: (
            TargetMailbox(**{name: row[name] for name in TargetMailbox.__slots__}),
            filtering.read_policy(row),
        )
        for row in await cursor.fetchall()
    }


async def find_policies(
    conn: Conn, mailbox_ids: Collection[UUID], domains: Collection[str], values: Sequence[str]
) -> list[Policy]:
    """The policies of mailboxes, and of the external copies that these domains forward."""
    cursor = await conn.execute(
        """
        SELECT p.* FROM mailboxes m
        CROSS JOIN LATERAL filter_policy(m.domain_id, m.id, %(values)s::text[]) p
        WHERE m.id = ANY(%(ids)s) AND m.deleted_at IS NULL
        UNION ALL
        SELECT p.* FROM unnest(%(domains)s::text[]) n (name) LEFT JOIN domains d ON d.name = n.name
        CROSS JOIN LATERAL filter_policy(coalesce(d.alias_of, d.id), NULL, %(values)s::text[]) p
        """,
        {"ids": list(mailbox_ids), "domains": list(domains), "values": list(values)},
    )
    return [filtering.read_policy(row) for row in await cursor.fetchall()]


async def find_policies_by_name(conn: Conn, domains: Collection[str], values: Sequence[str]) -> dict[str, Policy]:
    """The policies of the external copies that domains forward, by their names; the server's for names of no domain."""
    cursor = await conn.execute(
        """
        SELECT n.name, p.* FROM unnest(%(domains)s::text[]) n (name) LEFT JOIN domains d ON d.name = n.name
        CROSS JOIN LATERAL filter_policy(coalesce(d.alias_of, d.id), NULL, %(values)s::text[]) p
        """,
        {"domains": list(domains), "values": list(values)},
    )
    return {row["name"]: filtering.read_policy(row) for row in await cursor.fetchall()}


async def insert_payload(conn: Conn, queue_id: str, content: bytes, at: datetime) -> None:
    """Insert the content of a message's mail.received.full, once."""
    await conn.execute(
        """
        INSERT INTO event_payloads (queue_id, content, created_at) VALUES (%(queue_id)s, %(content)b, %(at)s)
        ON CONFLICT DO NOTHING
        """,
        {"queue_id": queue_id, "content": content, "at": at},
    )


async def find_payload(conn: Conn, queue_id: str) -> bytes | None:
    """The content of a message's mail.received.full, while it is stored."""
    cursor = await conn.execute(
        "SELECT content FROM event_payloads WHERE queue_id = %(queue_id)s", {"queue_id": queue_id}, binary=True
    )
    row = await cursor.fetchone()
    return row["content"] if row else None


async def delete_payloads(conn: Conn, before: datetime) -> None:
    """Delete content stored before `before`."""
    await conn.execute("DELETE FROM event_payloads WHERE created_at < %(before)s", {"before": before})


async def find_queued_forwards(conn: Conn, queue_ids: Collection[str]) -> set[str]:
    """Those of these queue IDs that have queued forwards."""
    cursor = await conn.execute(
        "SELECT DISTINCT queue_id FROM forwards WHERE queue_id = ANY(%(ids)s)", {"ids": list(queue_ids)}
    )
    return {row["queue_id"] for row in await cursor.fetchall()}


async def queue_forwards(conn: Conn, queue_id: str, mail_from: str, recipients: Sequence[str], at: datetime) -> None:
    """Queue external copies. Idempotent."""
    await conn.execute(
        """
        INSERT INTO forwards (queue_id, recipient, mail_from, next_attempt_at, created_at)
        SELECT %(queue_id)s, r, %(mail_from)s, %(at)s, %(at)s FROM unnest(%(recipients)s::text[]) AS r
        ON CONFLICT DO NOTHING
        """,
        {"queue_id": queue_id, "mail_from": mail_from, "recipients": list(recipients), "at": at},
    )


async def due_forwards(conn: Conn, at: datetime, limit: int) -> list[QueuedForward]:
    """Forwards whose next attempt is due, oldest first."""
    cursor = await conn.execute(
        """
        SELECT queue_id, recipient, mail_from, attempts FROM forwards
        WHERE next_attempt_at <= %(at)s ORDER BY next_attempt_at LIMIT %(limit)s
        """,
        {"at": at, "limit": limit},
    )
    return [QueuedForward(**row) for row in await cursor.fetchall()]


async def end_forward(conn: Conn, forward: QueuedForward) -> bool:
    """Remove a forward from the queue; returns whether it was the last of its message."""
    cursor = await conn.execute(
        """
        WITH deleted AS (
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


async def reschedule_forward(conn: Conn, forward: QueuedForward, until: datetime) -> None:
    """Schedule another attempt."""
    await conn.execute(
        """
        UPDATE forwards SET attempts = attempts + 1, next_attempt_at = %(until)s
        WHERE queue_id = %(queue_id)s AND recipient = %(recipient)s
        """,
        {"queue_id": forward.queue_id, "recipient": forward.recipient, "until": until},
    )
