"""The SQL of the sandbox's queue."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.sandbox.model import DueRecipient, SandboxMessage


async def insert(conn: Conn, message: SandboxMessage) -> None:
    """Insert a message with its recipients, which are due now. Idempotent."""
    await conn.execute(
        """
        WITH m AS (
            INSERT INTO sandbox_messages (id, queue_id, mail_from, rcpt_to, message_id, size, received_at)
            VALUES (%(id)s, %(queue_id)s, %(mail_from)s, %(rcpt_to)s, %(message_id)s, %(size)s, %(received_at)s)
            ON CONFLICT (id) DO NOTHING
            RETURNING id
        )
        INSERT INTO sandbox_queue (message_id, recipient, attempts, next_attempt_at)
        SELECT m.id, r, 0, %(received_at)s FROM m, unnest(%(rcpt_to)s::text[]) AS r
        ON CONFLICT DO NOTHING
        """,
        {name: getattr(message, name) for name in SandboxMessage.__slots__},
    )


async def filter_existing(conn: Conn, ids: Collection[UUID]) -> set[UUID]:
    """Those of these IDs that messages have."""
    cursor = await conn.execute("SELECT id FROM sandbox_messages WHERE id = ANY(%(ids)s)", {"ids": list(ids)})
    return {row["id"] for row in await cursor.fetchall()}


async def list_due(conn: Conn, at: datetime, limit: int) -> list[DueRecipient]:
    """The recipients whose next attempt is due, oldest first."""
    cursor = await conn.execute(
        """
        SELECT s.id, s.queue_id, s.mail_from, s.rcpt_to, s.message_id, s.size, s.received_at, q.recipient, q.attempts
        FROM sandbox_queue q JOIN sandbox_messages s ON s.id = q.message_id
        WHERE q.next_attempt_at <= %(at)s
        ORDER BY q.next_attempt_at LIMIT %(limit)s
        """,
        {"at": at, "limit": limit},
    )
    return [DueRecipient(_message(row), row["recipient"], row["attempts"]) for row in await cursor.fetchall()]


async def remove_recipient(conn: Conn, sandbox_id: UUID, recipient: str) -> bool:
    """Remove a recipient from the queue; False if another process has removed it."""
    cursor = await conn.execute(
        "DELETE FROM sandbox_queue WHERE message_id = %(id)s AND recipient = %(recipient)s",
        {"id": sandbox_id, "recipient": recipient},
    )
    return cursor.rowcount == 1


async def defer(conn: Conn, sandbox_id: UUID, recipient: str, attempts: int, until: datetime) -> None:
    """Schedule the next attempt at `until`; `attempts`: how many there have been."""
    await conn.execute(
        """
        UPDATE sandbox_queue SET attempts = %(attempts)s, next_attempt_at = %(until)s
        WHERE message_id = %(id)s AND recipient = %(recipient)s
        """,
        {"id": sandbox_id, "recipient": recipient, "attempts": attempts, "until": until},
    )


async def retry(conn: Conn, queue_id: str, at: datetime) -> int:
    """Make the waiting recipients of a message due at `at`; returns their number."""
    cursor = await conn.execute(
        """
        UPDATE sandbox_queue q SET next_attempt_at = %(at)s
        FROM sandbox_messages s WHERE s.queue_id = %(queue_id)s AND q.message_id = s.id
        """,
        {"queue_id": queue_id, "at": at},
    )
    return cursor.rowcount


async def page(conn: Conn, page_request: PageRequest) -> Page[SandboxMessage]:
    """A page of messages, by time of arrival."""
    result = await fetch_page(
        conn,
        "SELECT s.id, s.queue_id, s.mail_from, s.rcpt_to, s.message_id, s.size, s.received_at FROM sandbox_messages s",
        [],
        page_request,
        {"received_at": "s.id", "id": "s.id"},
    )
    return Page([_message(row) for row in result.rows], result.next_key)


async def clear(conn: Conn, before: datetime) -> list[UUID]:
    """Delete the messages received until `before` that have no waiting recipients; returns their IDs."""
    cursor = await conn.execute(
        """
        DELETE FROM sandbox_messages s
        WHERE s.received_at <= %(before)s AND NOT EXISTS (SELECT FROM sandbox_queue q WHERE q.message_id = s.id)
        RETURNING s.id
        """,
        {"before": before},
    )
    return [row["id"] for row in await cursor.fetchall()]


def _message(row: dict[str, Any]) -> SandboxMessage:
    return SandboxMessage(**{name: row[name] for name in SandboxMessage.__slots__})
