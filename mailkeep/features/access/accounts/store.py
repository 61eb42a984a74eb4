"""SQL of accounts."""

from __future__ import annotations

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from mailkeep.core.principal import Role
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts.model import Account, AccountKind, AccountRef

_SELECT: dict[AccountKind, LiteralString] = {
    "admin": """
        SELECT a.email AS name, a.password_hash, a.totp_enabled, a.role, a.oidc_provider,
               (SELECT count(*) FROM passkeys p WHERE p.admin_id = a.id) AS passkeys,
               NULL AS domain_id, NULL AS domain_name
        FROM admins a WHERE a.id = %(id)s
    """,
    "mailbox": """
        SELECT m.local_part || '@' || d.name AS name, m.password_hash, m.totp_enabled, NULL AS role,
               NULL AS oidc_provider, (SELECT count(*) FROM passkeys p WHERE p.mailbox_id = m.id) AS passkeys,
               m.domain_id, d.name AS domain_name
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id WHERE m.id = %(id)s AND m.deleted_at IS NULL
    """,
}
_LOCK: dict[AccountKind, LiteralString] = {
    "admin": "SELECT a.id FROM admins a WHERE a.id = %(id)s FOR NO KEY UPDATE",
    "mailbox": "SELECT m.id FROM mailboxes m WHERE m.id = %(id)s AND m.deleted_at IS NULL FOR NO KEY UPDATE",
}
_LOCK_OWN: dict[AccountKind, LiteralString] = {
    "admin": """
        SELECT a.id FROM admins a
        WHERE a.id = %(id)s AND EXISTS (
            SELECT FROM sessions s WHERE s.id = %(session_id)s AND s.admin_id = a.id
            AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id))
        FOR NO KEY UPDATE
    """,
    "mailbox": """
        SELECT m.id FROM mailboxes m
        WHERE m.id = %(id)s AND m.deleted_at IS NULL AND EXISTS (
            SELECT FROM owner_sessions s WHERE s.id = %(session_id)s AND s.mailbox_id = m.id
            AND (s.credentials_epoch = m.credentials_epoch OR s.id = m.surviving_session_id))
        FOR NO KEY UPDATE
    """,
}
_END_SESSIONS: dict[AccountKind, LiteralString] = {
    "admin": """
        UPDATE admins a
        SET totp_enabled = coalesce(%(totp_enabled)s::boolean, a.totp_enabled),
            credentials_epoch = a.credentials_epoch + 1, surviving_session_id = %(survivor)s::uuid, updated_at = %(at)s
        WHERE a.id = %(id)s
    """,
    "mailbox": """
        UPDATE mailboxes m
        SET totp_enabled = coalesce(%(totp_enabled)s::boolean, m.totp_enabled),
            second_factor = coalesce(%(totp_enabled)s::boolean, m.totp_enabled)
                            OR EXISTS (SELECT FROM passkeys p WHERE p.mailbox_id = m.id),
            credentials_epoch = m.credentials_epoch + 1, surviving_session_id = %(survivor)s::uuid, updated_at = %(at)s
        WHERE m.id = %(id)s
    """,
}


async def find(conn: Conn, ref: AccountRef) -> Account | None:
    """The account; None if it was deleted."""
    cursor = await conn.execute(_SELECT[ref.kind], {"id": ref.id})
    row = await cursor.fetchone()
    if row is None:
        return None
    row["role"] = row["role"] and Role(row["role"])
    return Account(ref, **row)


async def lock(conn: Conn, ref: AccountRef) -> bool:
    """Lock the account until the transaction ends; False if it was deleted."""
    cursor = await conn.execute(_LOCK[ref.kind], {"id": ref.id})
    return await cursor.fetchone() is not None


async def lock_own(conn: Conn, ref: AccountRef, session_id: UUID | None) -> bool:
    """Lock the account until the transaction ends; False if it was deleted, or its session ended."""
    cursor = await conn.execute(_LOCK_OWN[ref.kind], {"id": ref.id, "session_id": session_id})
    return await cursor.fetchone() is not None


async def end_sessions(
    conn: Conn, ref: AccountRef, at: datetime, survivor: UUID | None, totp_enabled: bool | None = None
) -> None:
    """Raise the account's `credentials_epoch`, which ends its sessions except `survivor`; set whether it has an
    authenticator, unless that is None.
    """
    arguments = {"id": ref.id, "at": at, "survivor": survivor, "totp_enabled": totp_enabled}
    await conn.execute(_END_SESSIONS[ref.kind], arguments)
