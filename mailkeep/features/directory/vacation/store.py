"""SQL of vacations."""

from __future__ import annotations

from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.vacation.model import Vacation


async def find(conn: Conn, mailbox_id: UUID) -> Vacation | None:
    """The vacation of a mailbox, None if it has none."""
    cursor = await conn.execute(
        """
        SELECT v.active, v.subject, v.text_body, v.html_body, v.start_at, v.end_at, v.days, v.updated_at
        FROM vacations v WHERE v.mailbox_id = %(mailbox_id)s
        """,
        {"mailbox_id": mailbox_id},
    )
    row = await cursor.fetchone()
    return Vacation(**row) if row else None


async def upsert(conn: Conn, mailbox_id: UUID, vacation: Vacation, script: str) -> None:
    """Store the vacation of a mailbox, with the script that sends its replies."""
    await conn.execute(
        """
        INSERT INTO vacations AS v (mailbox_id, active, subject, text_body, html_body, start_at, end_at, days, script,
                                    updated_at)
        VALUES (%(mailbox_id)s, %(active)s, %(subject)s, %(text_body)s, %(html_body)s, %(start_at)s, %(end_at)s,
                %(days)s, %(script)s, %(updated_at)s)
        ON CONFLICT (mailbox_id) DO UPDATE
        SET active = excluded.active, subject = excluded.subject, text_body = excluded.text_body,
            html_body = excluded.html_body, start_at = excluded.start_at, end_at = excluded.end_at,
            days = excluded.days, script = excluded.script, updated_at = excluded.updated_at
        """,
        {
            "mailbox_id": mailbox_id,
            "active": vacation.active,
            "subject": vacation.subject,
            "text_body": vacation.text_body,
            "html_body": vacation.html_body,
            "start_at": vacation.start_at,
            "end_at": vacation.end_at,
            "days": vacation.days,
            "script": script,
            "updated_at": vacation.updated_at,
        },
    )


async def delete(conn: Conn, mailbox_id: UUID) -> None:
    """Delete the vacation of a mailbox, if it has one."""
    await conn.execute("DELETE FROM vacations WHERE mailbox_id = %(mailbox_id)s", {"mailbox_id": mailbox_id})
