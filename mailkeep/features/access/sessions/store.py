"""SQL of sessions."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.core.principal import Role
from mailkeep.db.pool import Conn
from mailkeep.features.access.sessions.model import ActiveSession, AdminSession, CallerRights


async def find_active(conn: Conn, token_hash: bytes, at: datetime) -> ActiveSession | None:
    """The active session with this token, and its account."""
    cursor = await conn.execute(
        """
        SELECT s.id AS session_id, s.created_at AS signed_in_at, a.id AS admin_id, a.email, a.role,
               a.must_change_password,
               a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS assigned
        FROM sessions s JOIN admins a ON a.id = s.admin_id
        WHERE s.token_hash = %(token_hash)s AND s.expires_at > %(at)s AND a.active
          AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    row["role"], row["assigned"] = Role(row["role"]), frozenset(row["assigned"])
    return ActiveSession(**row)


async def find_rights(conn: Conn, admin_id: UUID) -> CallerRights | None:
    """What an account may do now; None if it was deleted or disabled."""
    cursor = await conn.execute(
        """
        SELECT a.role, a.must_change_password,
               a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS assigned
        FROM admins a WHERE a.id = %(admin_id)s AND a.active
        """,
        {"admin_id": admin_id},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    return CallerRights(
        Role(row["role"]), row["second_factor"], row["must_change_password"], frozenset(row["assigned"])
    )


async def list_active(conn: Conn, admin_id: UUID, at: datetime) -> list[AdminSession]:
    """The active sessions of an account, newest first."""
    cursor = await conn.execute(
        """
        SELECT s.id, s.admin_id, s.ip_address, s.user_agent, s.created_at, s.expires_at
        FROM sessions s JOIN admins a ON a.id = s.admin_id
        WHERE s.admin_id = %(admin_id)s AND s.expires_at > %(at)s
          AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
        ORDER BY s.id DESC
        """,
        {"admin_id": admin_id, "at": at},
    )
    return [AdminSession(**row) for row in await cursor.fetchall()]


async def find_created_at(conn: Conn, session_id: UUID) -> datetime | None:
    """When the session was opened."""
    cursor = await conn.execute("SELECT created_at FROM sessions WHERE id = %(id)s", {"id": session_id})
    row = await cursor.fetchone()
    return row["created_at"] if row else None


async def insert(conn: Conn, session: AdminSession, token_hash: bytes, credentials_epoch: int) -> None:
    """Insert a session, valid while its account's `credentials_epoch` is unchanged."""
    await conn.execute(
        """
        INSERT INTO sessions (id, admin_id, token_hash, credentials_epoch, ip_address, user_agent, created_at,
                              expires_at)
        VALUES (%(id)s, %(admin_id)s, %(token_hash)s, %(credentials_epoch)s, %(ip_address)s, %(user_agent)s,
                %(created_at)s, %(expires_at)s)
        """,
        {name: getattr(session, name) for name in AdminSession.__slots__}
        | {"token_hash": token_hash, "credentials_epoch": credentials_epoch},
    )


async def delete(conn: Conn, admin_id: UUID, session_id: UUID) -> bool:
    """Delete one session of an account; False if it has no such session."""
    cursor = await conn.execute(
        "DELETE FROM sessions WHERE id = %(id)s AND admin_id = %(admin_id)s", {"id": session_id, "admin_id": admin_id}
    )
    return cursor.rowcount == 1


async def delete_by_token(conn: Conn, token_hash: bytes) -> None:
    """Delete the session with this token, if any."""
    await conn.execute("DELETE FROM sessions WHERE token_hash = %(token_hash)s", {"token_hash": token_hash})


async def delete_all(conn: Conn, admin_id: UUID, except_id: UUID | None) -> None:
    """Delete the sessions of an account, except the one with the ID `except_id`."""
    await conn.execute(
        "DELETE FROM sessions WHERE admin_id = %(admin_id)s AND id IS DISTINCT FROM %(except_id)s::uuid",
        {"admin_id": admin_id, "except_id": except_id},
    )


async def delete_expired(conn: Conn, admin_id: UUID, at: datetime) -> None:
    """Delete the expired sessions of an account."""
    await conn.execute(
        "DELETE FROM sessions WHERE admin_id = %(admin_id)s AND expires_at <= %(at)s", {"admin_id": admin_id, "at": at}
    )
