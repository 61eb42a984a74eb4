"""The SQL of sessions and of failed logins."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.principal import Role
from mailkeep.db.pool import Conn
from mailkeep.features.auth.model import Account, Failures, Session, Shown


async def find_shown(conn: Conn, token_hash: bytes, at: datetime) -> Shown | None:
    """The active session with this token, and its account."""
    cursor = await conn.execute(
        """
        SELECT s.id AS session_id, a.id AS admin_id, a.email, a.role,
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
    return Shown(**row)


async def list_active(conn: Conn, admin_id: UUID, at: datetime) -> list[Session]:
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
    return [Session(**row) for row in await cursor.fetchall()]


async def insert(conn: Conn, session: Session, token_hash: bytes, credentials_epoch: int) -> None:
    """A new session, tied to the credentials that opened it."""
    await conn.execute(
        """
        INSERT INTO sessions (id, admin_id, token_hash, credentials_epoch, ip_address, user_agent, created_at,
                              expires_at)
        VALUES (%(id)s, %(admin_id)s, %(token_hash)s, %(credentials_epoch)s, %(ip_address)s, %(user_agent)s,
                %(created_at)s, %(expires_at)s)
        """,
        {name: getattr(session, name) for name in Session.__slots__}
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
    SELECT a.id, a.email, a.password_hash, a.credentials_epoch,
           EXISTS (SELECT FROM login_sources s WHERE s.admin_id = a.id AND s.ip_address = %(source)s) AS familiar
    FROM admins a
"""


async def find_account(conn: Conn, email_key: str, source: str) -> Account | None:
    """The account with this email, seen from a source."""
    cursor = await conn.execute(
        _ACCOUNT + " WHERE a.email_key = %(email_key)s", {"email_key": email_key, "source": source}
    )
    return _account(await cursor.fetchone())


async def find_own_account(conn: Conn, admin_id: UUID, source: str) -> Account | None:
    """The account with this id, seen from a source."""
    cursor = await conn.execute(_ACCOUNT + " WHERE a.id = %(id)s", {"id": admin_id, "source": source})
    return _account(await cursor.fetchone())


def _account(row: dict[str, Any] | None) -> Account | None:
    return Account(**row) if row else None


async def remember_source(conn: Conn, admin_id: UUID, source: str, at: datetime, unseen_since: datetime) -> None:
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


async def hold_failures(conn: Conn, key: str, at: datetime) -> Failures | None:
    """The failures counted by this key, held until the transaction ends; None where none were."""
    await conn.execute(
        """
        INSERT INTO login_failures (email_key, window_started_at, failures, last_failed_at)
        VALUES (%(key)s, %(at)s, 0, %(at)s)
        ON CONFLICT (email_key) DO NOTHING
        """,
        {"key": key, "at": at},
    )
    cursor = await conn.execute(
        """
        SELECT window_started_at, failures, last_failed_at
        FROM login_failures WHERE email_key = %(key)s AND failures > 0 FOR UPDATE
        """,
        {"key": key},
    )
    row = await cursor.fetchone()
    return Failures(**row) if row else None


async def save_failures(conn: Conn, key: str, counted: Failures) -> None:
    """The failures counted by this key."""
    await conn.execute(
        """
        INSERT INTO login_failures (email_key, window_started_at, failures, last_failed_at)
        VALUES (%(key)s, %(window_started_at)s, %(failures)s, %(last_failed_at)s)
        ON CONFLICT (email_key) DO UPDATE
        SET window_started_at = excluded.window_started_at, failures = excluded.failures,
            last_failed_at = excluded.last_failed_at
        """,
        {
            "key": key,
            "window_started_at": counted.window_started_at,
            "failures": counted.failures,
            "last_failed_at": counted.last_failed_at,
        },
    )


async def take_back_failure(conn: Conn, key: str) -> None:
    """A try that was counted as a failure was none."""
    await conn.execute(
        "UPDATE login_failures SET failures = greatest(failures - 1, 0) WHERE email_key = %(key)s", {"key": key}
    )


async def forget_failures(conn: Conn, before: datetime) -> None:
    """Drop some counts that were last touched before then; those that others hold are left to the next call."""
    await conn.execute(
        """
        DELETE FROM login_failures WHERE email_key IN (
            SELECT email_key FROM login_failures WHERE last_failed_at < %(before)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"before": before},
    )
