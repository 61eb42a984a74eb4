"""SQL of sessions that must end, and of the accesses of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd


async def list_pending(conn: Conn, limit: int) -> list[SessionEnd]:
    """Changes whose sessions must end, at most `limit`, oldest first."""
    cursor = await conn.execute(
        "SELECT id, subject, protocols, changed_at, password_only FROM session_ends ORDER BY id LIMIT %(limit)s",
        {"limit": limit},
    )
    return [
        SessionEnd(row["id"], row["subject"], tuple(row["protocols"]), row["changed_at"], row["password_only"])
        for row in await cursor.fetchall()
    ]


async def delete(conn: Conn, ids: Sequence[int]) -> None:
    """Delete these changes."""
    await conn.execute("DELETE FROM session_ends WHERE id = ANY(%(ids)s)", {"ids": list(ids)})


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete changes older than `before`."""
    await conn.execute("DELETE FROM session_ends WHERE changed_at < %(before)s", {"before": before})


async def end_of_mailbox(conn: Conn, mailbox_id: UUID, at: datetime) -> None:
    """Give the access to a mailbox a new version, let its sessions end, and delete those of its owner."""
    await conn.execute(
        """
        WITH changed AS (
            UPDATE mailboxes SET access_version = nextval('access_versions'), credentials_epoch = credentials_epoch + 1,
                                 surviving_session_id = NULL
            WHERE id = %(id)s RETURNING id, access_version, address_key
        ), owner_ends AS (
            DELETE FROM owner_sessions s USING changed c WHERE s.mailbox_id = c.id
        ), login_ends AS (
            DELETE FROM pending_logins p USING changed c WHERE p.mailbox_id = c.id
        )
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT c.access_version, c.address_key, ARRAY['imap', 'pop3', 'sieve', 'smtp'], %(at)s FROM changed c
        """,
        {"id": mailbox_id, "at": at},
    )


async def is_current(conn: Conn, address: str, protocol: str, access: str, at: datetime) -> bool:
    """Whether this access to a mailbox (SQL function `session_accesses`) opens sessions of a protocol."""
    cursor = await conn.execute(
        """
        SELECT FROM mailboxes m CROSS JOIN LATERAL session_accesses(m.id, %(protocol)s, %(at)s) a
        WHERE m.address_key = %(address)s AND m.deleted_at IS NULL AND a = %(access)s
        """,
        {"address": address, "protocol": protocol, "access": access, "at": at},
    )
    return await cursor.fetchone() is not None
