"""SQL of invitations."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.invitations.model import StoredInvitation

_SELECT = """
    SELECT i.id, CASE WHEN i.admin_id IS NULL THEN 'mailbox' ELSE 'admin' END AS kind,
           coalesce(i.admin_id, i.mailbox_id) AS account_id, i.sent_to, i.expires_at
    FROM invitations i
"""


async def replace(conn: Conn, invitation: StoredInvitation, token_hash: bytes) -> None:
    """Insert an invitation, instead of the one that its account has."""
    account = {"admin_id": None, "mailbox_id": None} | {f"{invitation.kind}_id": invitation.account_id}
    await conn.execute(
        """
        DELETE FROM invitations
        WHERE admin_id = %(admin_id)s::uuid OR mailbox_id = %(mailbox_id)s::uuid
        """,
        account,
    )
    await conn.execute(
        """
        INSERT INTO invitations (id, admin_id, mailbox_id, token_hash, sent_to, expires_at)
        VALUES (%(id)s, %(admin_id)s, %(mailbox_id)s, %(token_hash)s, %(sent_to)s, %(expires_at)s)
        """,
        account
        | {
            "id": invitation.id,
            "token_hash": token_hash,
            "sent_to": invitation.sent_to,
            "expires_at": invitation.expires_at,
        },
    )


async def find_by_token(conn: Conn, token_hash: bytes, at: datetime) -> StoredInvitation | None:
    """The invitation with this token, unless it has expired."""
    cursor = await conn.execute(
        _SELECT + " WHERE i.token_hash = %(token_hash)s AND i.expires_at > %(at)s", {"token_hash": token_hash, "at": at}
    )
    return _to_invitation(await cursor.fetchone())


async def find(conn: Conn, invitation_id: UUID, at: datetime) -> StoredInvitation | None:
    """The invitation with this ID, unless it has expired."""
    cursor = await conn.execute(
        _SELECT + " WHERE i.id = %(id)s AND i.expires_at > %(at)s", {"id": invitation_id, "at": at}
    )
    return _to_invitation(await cursor.fetchone())


async def find_of_account(conn: Conn, account_id: UUID) -> StoredInvitation | None:
    """The invitation of an administrator or a mailbox, also an expired one."""
    cursor = await conn.execute(_SELECT + " WHERE i.admin_id = %(id)s OR i.mailbox_id = %(id)s", {"id": account_id})
    return _to_invitation(await cursor.fetchone())


async def delete(conn: Conn, invitation_id: UUID, at: datetime) -> bool:
    """Delete an invitation; False if it has ended or expired meanwhile."""
    cursor = await conn.execute(
        "DELETE FROM invitations WHERE id = %(id)s AND expires_at > %(at)s", {"id": invitation_id, "at": at}
    )
    return cursor.rowcount == 1


async def delete_expired(conn: Conn, at: datetime) -> None:
    """Delete up to 20 expired invitations, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM invitations WHERE id IN (
            SELECT id FROM invitations WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )


def _to_invitation(row: dict[str, Any] | None) -> StoredInvitation | None:
    return StoredInvitation(**row) if row else None
