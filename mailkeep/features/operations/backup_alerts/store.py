"""The SQL of reported problems of backups."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.operations.backup_alerts.model import AlertKind


async def find_subject(conn: Conn, kind: AlertKind) -> str | None:
    """The case of this kind that was reported last, if it has not ended. Locks it."""
    cursor = await conn.execute("SELECT subject FROM backup_alerts WHERE kind = %(kind)s FOR UPDATE", {"kind": kind})
    row = await cursor.fetchone()
    return row["subject"] if row else None


async def save(conn: Conn, kind: AlertKind, subject: str, at: datetime) -> bool:
    """Record that a case is reported; False if another process has just done so."""
    cursor = await conn.execute(
        """
        INSERT INTO backup_alerts AS a (kind, subject, reported_at) VALUES (%(kind)s, %(subject)s, %(at)s)
        ON CONFLICT (kind) DO UPDATE SET subject = excluded.subject, reported_at = excluded.reported_at
        WHERE a.subject <> excluded.subject
        """,
        {"kind": kind, "subject": subject, "at": at},
    )
    return cursor.rowcount == 1


async def delete(conn: Conn, kind: AlertKind) -> None:
    """Record that there is no such case any more."""
    await conn.execute("DELETE FROM backup_alerts WHERE kind = %(kind)s", {"kind": kind})
