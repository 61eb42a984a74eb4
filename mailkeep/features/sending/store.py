"""What sending reads of other tables; it writes none of its own."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.sending.model import OpenAttempt, SenderDomain


async def sender_domains(conn: Conn, names: Collection[str]) -> dict[str, SenderDomain]:
    """The managed ones among these domains, by name."""
    cursor = await conn.execute(
        "SELECT id, name, active, sending_enabled FROM domains WHERE name = ANY(%(names)s)",
        {"names": list(names)},
    )
    return {row["name"]: SenderDomain(**row) for row in await cursor.fetchall()}


async def open_attempts(conn: Conn, before: datetime, most: int) -> list[OpenAttempt]:
    """Attempts begun before an instant that nobody ended or answered, and those called unknown that the sandbox has
    after all.
    """
    cursor = await conn.execute(
        """
        SELECT m.id, m.message_id, s.queue_id
        FROM messages m
        LEFT JOIN LATERAL (
            SELECT s.queue_id FROM sandbox_messages s
            WHERE s.message_id = m.message_id AND s.mail_from = m.mail_from ORDER BY s.id LIMIT 1
        ) s ON true
        WHERE (m.status = 'submitting' AND m.created_at < %(before)s)
           OR (m.status = 'unknown' AND s.queue_id IS NOT NULL)
           -- The fate of a recipient told of its acceptance, and whoever sent it was cut off before the answer.
           OR (m.answered_at IS NULL AND m.accepted_at IS NOT NULL AND s.queue_id IS NOT NULL
               AND m.source = 'api' AND m.direction = 'outbound' AND m.created_at < %(before)s AND m.id >= %(lately)s)
        ORDER BY m.id LIMIT %(most)s
        """,
        {"before": before, "most": most, "lately": uuid7_floor(before - timedelta(days=2))},
    )
    return [OpenAttempt(**row) for row in await cursor.fetchall()]
