"""The SQL of sessions and of logins under way."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.principal import Role
from mailkeep.db.pool import Conn
from mailkeep.features.access.sessions.model import ActiveSession, AdminSession, LoginAccount, PendingLogin


async def find_active(conn: Conn, token_hash: bytes, at: datetime) -> ActiveSession | None:
    """The active session with this token, and its account."""
    cursor = await conn.execute(
        """
        SELECT s.id AS session_id, a.id AS admin_id, a.email, a.role,
               a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS assigned
        FROM sessions s JOIN admins a ON a.id = s.admin_id
        WHERE s.token_hash = %(token_hash)s AND s.expires_at > %(at)s
          AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    row["role"], row["assigned"] = Role(row["role"]), frozenset(row["assigned"])
    return ActiveSession(**row)


async def list_active(conn: Conn, admin_id: UUID, at: datetime) -> list[AdminSession]:
    """The active sessions of an account, the newest first."""
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
    """A new session, tied to the credentials that opened it."""
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
    """One session of an account; False where it has no such session."""
    cursor = await conn.execute(
        "DELETE FROM sessions WHERE id = %(id)s AND admin_id = %(admin_id)s", {"id": session_id, "admin_id": admin_id}
    )
    return cursor.rowcount == 1


async def delete_by_token(conn: Conn, token_hash: bytes) -> None:
    """The session with this token, if there is one."""
    await conn.execute("DELETE FROM sessions WHERE token_hash = %(token_hash)s", {"token_hash": token_hash})


async def delete_all(conn: Conn, admin_id: UUID, but: UUID | None) -> None:
    """The sessions of an account, all or all but one."""
    await conn.execute(
        "DELETE FROM sessions WHERE admin_id = %(admin_id)s AND id IS DISTINCT FROM %(but)s::uuid",
        {"admin_id": admin_id, "but": but},
    )


async def delete_expired(conn: Conn, admin_id: UUID, at: datetime) -> None:
    """The sessions of an account that are over."""
    await conn.execute(
        "DELETE FROM sessions WHERE admin_id = %(admin_id)s AND expires_at <= %(at)s", {"admin_id": admin_id, "at": at}
    )


_ACCOUNT = """
    SELECT a.id, a.email, a.password_hash, a.totp_enabled, a.credentials_epoch,
           EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS passkeys,
           EXISTS (SELECT FROM login_sources s WHERE s.admin_id = a.id AND s.ip_address = %(source)s) AS familiar
    FROM admins a
"""


async def find_account_by_email(conn: Conn, email_key: str, source: str) -> LoginAccount | None:
    """The account with this email, seen from a source."""
    cursor = await conn.execute(
        _ACCOUNT + " WHERE a.email_key = %(email_key)s", {"email_key": email_key, "source": source}
    )
    return _account(await cursor.fetchone())


async def find_account(conn: Conn, admin_id: UUID, source: str) -> LoginAccount | None:
    """The account with this id, seen from a source."""
    cursor = await conn.execute(_ACCOUNT + " WHERE a.id = %(id)s", {"id": admin_id, "source": source})
    return _account(await cursor.fetchone())


async def is_known_source(conn: Conn, email_key: str, source: str) -> bool:
    """Whether the source has logged into the account with this email, if there is one."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (
            SELECT FROM admins a JOIN login_sources s ON s.admin_id = a.id
            WHERE a.email_key = %(email_key)s AND s.ip_address = %(source)s
        ) AS familiar
        """,
        {"email_key": email_key, "source": source},
    )
    row = await cursor.fetchone()
    return bool(row and row["familiar"])


def _account(row: dict[str, Any] | None) -> LoginAccount | None:
    return LoginAccount(**row) if row else None


async def record_source(conn: Conn, admin_id: UUID, source: str, at: datetime, unseen_since: datetime) -> None:
    """Note that the source has logged in; those unseen since then are forgotten."""
    named = {"admin_id": admin_id, "source": source, "at": at, "unseen_since": unseen_since}
    await conn.execute(
        """
        INSERT INTO login_sources (admin_id, ip_address, seen_at) VALUES (%(admin_id)s, %(source)s, %(at)s)
        ON CONFLICT (admin_id, ip_address) DO UPDATE SET seen_at = excluded.seen_at
        """,
        named,
    )
    await conn.execute("DELETE FROM login_sources WHERE admin_id = %(admin_id)s AND seen_at < %(unseen_since)s", named)


async def insert_pending(conn: Conn, token_hash: bytes, account: LoginAccount, expires_at: datetime) -> None:
    """A login that waits for its second factor; the account is held."""
    await conn.execute(
        """
        INSERT INTO pending_logins (token_hash, admin_id, credentials_epoch, expires_at)
        VALUES (%(token_hash)s, %(admin_id)s, %(credentials_epoch)s, %(expires_at)s)
        """,
        {
            "token_hash": token_hash,
            "admin_id": account.id,
            "credentials_epoch": account.credentials_epoch,
            "expires_at": expires_at,
        },
    )


async def find_pending(conn: Conn, token_hash: bytes, at: datetime, tries: int) -> PendingLogin | None:
    """The login that waits behind this token; None where it is over, or was tried so often."""
    cursor = await conn.execute(
        """
        SELECT admin_id, credentials_epoch FROM pending_logins
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(tries)s
        """,
        {"token_hash": token_hash, "at": at, "tries": tries},
    )
    row = await cursor.fetchone()
    return PendingLogin(**row) if row else None


async def use_attempt(conn: Conn, token_hash: bytes, at: datetime, tries: int) -> bool:
    """Use up one of the `tries` of a waiting login; False where it has none left, or is over."""
    cursor = await conn.execute(
        """
        UPDATE pending_logins SET attempts = attempts + 1
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(tries)s
        """,
        {"token_hash": token_hash, "at": at, "tries": tries},
    )
    return cursor.rowcount == 1


async def delete_pending(conn: Conn, token_hash: bytes) -> bool:
    """The login that waits behind this token; False where there is none."""
    cursor = await conn.execute(
        "DELETE FROM pending_logins WHERE token_hash = %(token_hash)s", {"token_hash": token_hash}
    )
    return cursor.rowcount == 1


async def delete_expired_pending(conn: Conn, at: datetime) -> None:
    """Drop some waiting logins that are over; those that others hold are left to the next call."""
    await conn.execute(
        """
        DELETE FROM pending_logins WHERE token_hash IN (
            SELECT token_hash FROM pending_logins WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )
