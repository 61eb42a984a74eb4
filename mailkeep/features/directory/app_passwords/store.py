"""SQL of app passwords."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.app_passwords.model import AppPassword, AppPasswordUse

_SELECT = """
    SELECT p.id, p.mailbox_id, p.name, p.protocols, p.expires_at, p.created_at, p.last_used_at, p.last_used_ip
    FROM app_passwords p
"""


async def list_of_mailbox(conn: Conn, mailbox_id: UUID) -> list[AppPassword]:
    """The app passwords of a mailbox, newest first."""
    cursor = await conn.execute(_SELECT + " WHERE p.mailbox_id = %(id)s ORDER BY p.id DESC", {"id": mailbox_id})
    return [_to_app_password(row) for row in await cursor.fetchall()]


async def find(conn: Conn, app_password_id: UUID) -> AppPassword | None:
    """The app password with this id."""
    cursor = await conn.execute(_SELECT + " WHERE p.id = %(id)s", {"id": app_password_id})
    row = await cursor.fetchone()
    return _to_app_password(row) if row else None


async def count(conn: Conn, mailbox_id: UUID) -> int:
    """How many app passwords a mailbox has."""
    cursor = await conn.execute(
        "SELECT count(*) AS present FROM app_passwords WHERE mailbox_id = %(id)s", {"id": mailbox_id}
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["present"]


async def insert(conn: Conn, new: AppPassword, digest: bytes) -> None:
    """Insert an app password with the SHA-256 of its secret."""
    await conn.execute(
        """
        INSERT INTO app_passwords (id, mailbox_id, name, digest, protocols, expires_at, created_at)
        VALUES (%(id)s, %(mailbox_id)s, %(name)s, %(digest)s, %(protocols)s, %(expires_at)s, %(created_at)s)
        """,
        {
            "id": new.id,
            "mailbox_id": new.mailbox_id,
            "name": new.name,
            "digest": digest,
            "protocols": list(new.protocols),
            "expires_at": new.expires_at,
            "created_at": new.created_at,
        },
    )


async def delete(conn: Conn, mailbox_id: UUID, app_password_id: UUID, at: datetime) -> AppPassword | None:
    """Delete an app password of this mailbox and let its sessions end; None if there is none with this id."""
    cursor = await conn.execute(
        """
        WITH deleted AS (
            DELETE FROM app_passwords p WHERE p.id = %(id)s AND p.mailbox_id = %(mailbox_id)s RETURNING p.*
        ), ended AS (
            INSERT INTO session_ends (id, subject, protocols, changed_at)
            SELECT nextval('access_versions'), m.address_key || '/' || d.number, d.protocols, %(at)s
            FROM deleted d JOIN mailboxes m ON m.id = d.mailbox_id
        )
        SELECT d.id, d.mailbox_id, d.name, d.protocols, d.expires_at, d.created_at, d.last_used_at, d.last_used_ip
        FROM deleted d
        """,
        {"id": app_password_id, "mailbox_id": mailbox_id, "at": at},
    )
    row = await cursor.fetchone()
    return _to_app_password(row) if row else None


async def end_sessions(conn: Conn, app_password_ids: Collection[UUID], at: datetime) -> None:
    """Let the sessions of these app passwords end."""
    await conn.execute(
        """
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), m.address_key || '/' || p.number, p.protocols, %(at)s
        FROM app_passwords p JOIN mailboxes m ON m.id = p.mailbox_id WHERE p.id = ANY(%(ids)s)
        """,
        {"ids": list(app_password_ids), "at": at},
    )


async def end_expired(conn: Conn, at: datetime) -> int:
    """Let the sessions of app passwords end that have expired since the last call; returns how many passwords."""
    cursor = await conn.execute(
        """
        WITH expired AS (
            UPDATE app_passwords p SET expired = true
            WHERE NOT p.expired AND p.expires_at <= %(at)s RETURNING p.mailbox_id, p.number, p.protocols
        )
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), m.address_key || '/' || e.number, e.protocols, %(at)s
        FROM expired e JOIN mailboxes m ON m.id = e.mailbox_id
        """,
        {"at": at},
    )
    return cursor.rowcount


async def find_next_expiry(conn: Conn) -> datetime | None:
    """When the next app password expires whose sessions `end_expired` has not ended."""
    cursor = await conn.execute(
        "SELECT min(expires_at) AS next FROM app_passwords WHERE NOT expired AND expires_at IS NOT NULL"
    )
    row = await cursor.fetchone()
    return row["next"] if row else None


async def set_last_uses(conn: Conn, uses: Sequence[AppPasswordUse]) -> list[int]:
    """Write the last use of each app password, unless a newer one is known.

    Returns the numbers of those that another transaction has locked; they are unchanged.
    """
    cursor = await conn.execute(
        """
        WITH uses AS (
            SELECT t.number, t.at, t.ip
            FROM unnest(%(numbers)s::bigint[], %(times)s::timestamptz[], %(ips)s::text[]) AS t (number, at, ip)
        ), free AS (
            SELECT p.number FROM app_passwords p WHERE p.number = ANY(%(numbers)s) FOR NO KEY UPDATE SKIP LOCKED
        ), written AS (
            UPDATE app_passwords p SET last_used_at = u.at, last_used_ip = u.ip
            FROM uses u JOIN free f ON f.number = u.number
            WHERE p.number = u.number AND (p.last_used_at IS NULL OR p.last_used_at < u.at)
        )
        SELECT p.number FROM app_passwords p
        WHERE p.number = ANY(%(numbers)s) AND NOT EXISTS (SELECT FROM free f WHERE f.number = p.number)
        """,
        {
            "numbers": [each.number for each in uses],
            "times": [each.at for each in uses],
            "ips": [each.ip for each in uses],
        },
    )
    return [row["number"] for row in await cursor.fetchall()]


async def filter_requiring(conn: Conn, addresses: Collection[str]) -> set[str]:
    """Which of these address keys are mailboxes that accept only app passwords."""
    cursor = await conn.execute(
        """
        SELECT m.address_key FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE m.address_key = ANY(%(addresses)s) AND m.deleted_at IS NULL
          AND requires_app_passwords(m.require_app_passwords, d.require_app_passwords, m.second_factor)
        """,
        {"addresses": list(addresses)},
    )
    return {row["address_key"] for row in await cursor.fetchall()}


async def opens_session(conn: Conn, local_part: str, domain: str, protocol: str, digest: str) -> bool:
    """Whether the app password with this SHA-256 (hexadecimal) opens sessions of the mailbox with the protocol."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM mta_app_login(%(local_part)s, %(domain)s, %(protocol)s, %(digest)s)) AS is_valid
        """,
        {"local_part": local_part, "domain": domain, "protocol": protocol, "digest": digest},
    )
    row = await cursor.fetchone()
    return bool(row and row["is_valid"])


def _to_app_password(row: dict[str, Any]) -> AppPassword:
    row["protocols"] = tuple(row["protocols"])
    return AppPassword(**row)
