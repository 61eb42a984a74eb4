"""SQL of sessions that must end, and of access versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd


async def list_pending(conn: Conn, limit: int) -> list[SessionEnd]:
    """Changes whose sessions must end, at most `limit`, oldest first."""
    cursor = await conn.execute(
        "SELECT id, subject, protocols, changed_at FROM session_ends ORDER BY id LIMIT %(limit)s", {"limit": limit}
    )
    return [
        SessionEnd(row["id"], row["subject"], tuple(row["protocols"]), row["changed_at"])
        for row in await cursor.fetchall()
    ]


async def delete(conn: Conn, ids: Sequence[int]) -> None:
    """Delete these changes."""
    await conn.execute("DELETE FROM session_ends WHERE id = ANY(%(ids)s)", {"ids": list(ids)})


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete changes older than `before`."""
    await conn.execute("DELETE FROM session_ends WHERE changed_at < %(before)s", {"before": before})


async def find_access_version(conn: Conn, address: str, protocol: str) -> int | None:
    """The version of the access to a mailbox with a protocol; None without access."""
    cursor = await conn.execute(
        """
        SELECT greatest(d.access_version, m.access_version) AS version
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE m.address_key = %(address)s AND m.deleted_at IS NULL AND m.active AND d.active
          AND CASE %(protocol)s::text WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                                      WHEN 'smtp' THEN m.smtp END
        """,
        {"address": address, "protocol": protocol},
    )
    row = await cursor.fetchone()
    return row["version"] if row else None
