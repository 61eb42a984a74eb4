"""The SQL of logins by mail protocols."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from mailkeep.db.pool import Conn


async def list_mailboxes(conn: Conn, keys: Sequence[str]) -> dict[str, UUID]:
    """The newest mailbox with each of these address keys; one from the trash only if there is no other."""
    cursor = await conn.execute(
        """
        SELECT DISTINCT ON (m.address_key) m.address_key, m.id FROM mailboxes m
        WHERE m.address_key = ANY(%(keys)s)
        ORDER BY m.address_key, m.deleted_at IS NOT NULL, m.id DESC
        """,
        {"keys": list(keys)},
    )
    return {row["address_key"]: row["id"] for row in await cursor.fetchall()}
