"""SQL of decisions while mail is received."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.verdicts.model import RefusedMail


async def insert_refused(conn: Conn, mail: RefusedMail) -> None:
    """Store what is known of a message that is about to be refused."""
    await conn.execute(
        """
        INSERT INTO refused_mail (queue_id, verdict, refused_at) VALUES (%(queue_id)s, %(verdict)s, %(at)s)
        ON CONFLICT (queue_id) DO UPDATE SET verdict = excluded.verdict, refused_at = excluded.refused_at
        """,
        {"queue_id": mail.queue_id, "verdict": Jsonb(mail, dumps=msgspec.json.encode), "at": mail.refused_at},
    )


async def take_refused(conn: Conn, queue_ids: Collection[str]) -> Sequence[RefusedMail]:
    """Delete and return the refused messages with these queue IDs."""
    cursor = await conn.execute(
        "DELETE FROM refused_mail WHERE queue_id = ANY(%(ids)s) RETURNING verdict", {"ids": list(queue_ids)}
    )
    return [msgspec.convert(row["verdict"], RefusedMail) for row in await cursor.fetchall()]


async def delete_refused(conn: Conn, before: datetime) -> None:
    """Delete what was refused before `before`."""
    await conn.execute("DELETE FROM refused_mail WHERE refused_at < %(before)s", {"before": before})
