"""SQL of setup links."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.client_setup.model import SetupLink


async def replace(conn: Conn, link: SetupLink, token_hash: bytes) -> None:
    """Insert a link, instead of the one that its mailbox has."""
    await conn.execute(
        """
        INSERT INTO setup_links (mailbox_id, id, token_hash, expires_at)
        VALUES (%(mailbox_id)s, %(id)s, %(token_hash)s, %(expires_at)s)
        ON CONFLICT (mailbox_id) DO UPDATE
        SET id = excluded.id, token_hash = excluded.token_hash, expires_at = excluded.expires_at
        """,
        {"mailbox_id": link.mailbox_id, "id": link.id, "token_hash": token_hash, "expires_at": link.expires_at},
    )


async def find_of_mailbox(conn: Conn, mailbox_id: UUID, at: datetime) -> SetupLink | None:
    """The link of a mailbox, unless it has expired."""
    cursor = await conn.execute(
        """
        SELECT l.id, l.mailbox_id, l.expires_at FROM setup_links l
        WHERE l.mailbox_id = %(mailbox_id)s AND l.expires_at > %(at)s
        """,
        {"mailbox_id": mailbox_id, "at": at},
    )
    row = await cursor.fetchone()
    return SetupLink(**row) if row else None


async def find_by_token(conn: Conn, token_hash: bytes, at: datetime) -> SetupLink | None:
    """The link with this token, unless it has expired."""
    cursor = await conn.execute(
        """
        SELECT l.id, l.mailbox_id, l.expires_at FROM setup_links l
        WHERE l.token_hash = %(token_hash)s AND l.expires_at > %(at)s
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    return SetupLink(**row) if row else None


async def delete(conn: Conn, mailbox_id: UUID) -> bool:
    """Delete the link of a mailbox, also an expired one; False if there is none."""
    cursor = await conn.execute("DELETE FROM setup_links WHERE mailbox_id = %(id)s", {"id": mailbox_id})
    return cursor.rowcount == 1
