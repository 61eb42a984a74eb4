"""SQL of accounts that log in, known sources and pending logins."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.logins.model import LoginAccount, PendingLogin

_ACCOUNT = """
    SELECT a.id, a.email, a.password_hash, a.totp_enabled, a.credentials_epoch,
           EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS passkeys,
           EXISTS (SELECT FROM login_sources s WHERE s.admin_id = a.id AND s.ip_address = %(source)s) AS known_source
    FROM admins a
"""


async def find_account_by_email(conn: Conn, email_key: str, source: str) -> LoginAccount | None:
    """The active account with this email, for a login from `source`."""
    cursor = await conn.execute(
        _ACCOUNT + " WHERE a.email_key = %(email_key)s AND a.active", {"email_key": email_key, "source": source}
    )
    return _to_account(await cursor.fetchone())


async def find_account(conn: Conn, admin_id: UUID, source: str) -> LoginAccount | None:
    """The active account with this id, for a login from `source`."""
    cursor = await conn.execute(_ACCOUNT + " WHERE a.id = %(id)s AND a.active", {"id": admin_id, "source": source})
    return _to_account(await cursor.fetchone())


async def is_known_source(conn: Conn, email_key: str, source: str) -> bool:
    """Whether the source has logged in to the account with this email, if there is one."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (
            SELECT FROM admins a JOIN login_sources s ON s.admin_id = a.id
            WHERE a.email_key = %(email_key)s AND s.ip_address = %(source)s
        ) AS known_source
        """,
        {"email_key": email_key, "source": source},
    )
    row = await cursor.fetchone()
    return bool(row and row["known_source"])


def _to_account(row: dict[str, Any] | None) -> LoginAccount | None:
    return LoginAccount(**row) if row else None


async def record_source(conn: Conn, admin_id: UUID, source: str, at: datetime, unseen_since: datetime) -> None:
    """Record a login from `source`, and delete the account's sources without a login since `unseen_since`."""
    arguments = {"admin_id": admin_id, "source": source, "at": at, "unseen_since": unseen_since}
    await conn.execute(
        """
        INSERT INTO login_sources (admin_id, ip_address, seen_at) VALUES (%(admin_id)s, %(source)s, %(at)s)
        ON CONFLICT (admin_id, ip_address) DO UPDATE SET seen_at = excluded.seen_at
        """,
        arguments,
    )
    sql = "DELETE FROM login_sources WHERE admin_id = %(admin_id)s AND seen_at < %(unseen_since)s"
    await conn.execute(sql, arguments)


async def insert_pending(conn: Conn, token_hash: bytes, account: LoginAccount, expires_at: datetime) -> None:
    """Insert a login that waits for its second factor; the caller has locked the account."""
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


async def find_pending(conn: Conn, token_hash: bytes, at: datetime, max_attempts: int) -> PendingLogin | None:
    """The pending login with this token; None if it has expired or used up its attempts."""
    cursor = await conn.execute(
        """
        SELECT admin_id, credentials_epoch FROM pending_logins
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(max_attempts)s
        """,
        {"token_hash": token_hash, "at": at, "max_attempts": max_attempts},
    )
    row = await cursor.fetchone()
    return PendingLogin(**row) if row else None


async def use_attempt(conn: Conn, token_hash: bytes, at: datetime, max_attempts: int) -> bool:
    """Use up an attempt of a pending login; False if it has none left or has expired."""
    cursor = await conn.execute(
        """
        UPDATE pending_logins SET attempts = attempts + 1
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(max_attempts)s
        """,
        {"token_hash": token_hash, "at": at, "max_attempts": max_attempts},
    )
    return cursor.rowcount == 1


async def delete_pending(conn: Conn, token_hash: bytes) -> bool:
    """Delete the pending login with this token; False if there is none."""
    cursor = await conn.execute(
        "DELETE FROM pending_logins WHERE token_hash = %(token_hash)s", {"token_hash": token_hash}
    )
    return cursor.rowcount == 1


async def delete_expired_pending(conn: Conn, at: datetime) -> None:
    """Delete up to 20 expired logins, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM pending_logins WHERE token_hash IN (
            SELECT token_hash FROM pending_logins WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )
