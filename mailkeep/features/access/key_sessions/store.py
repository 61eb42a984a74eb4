"""SQL of submission sessions of API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.key_sessions.model import KeySession


async def insert(conn: Conn, session: KeySession) -> None:
    """Record a session. It replaces an earlier one of its process; a later login replaces one without a process. If the
    key is not valid any more, the session has to end.
    """
    await conn.execute(
        """
        WITH valid_key AS (
            SELECT k.expires_at FROM api_keys k JOIN admins a ON a.id = k.admin_id
            WHERE k.id = %(key_id)s AND a.active AND NOT is_restricted('key', k.id)
        ), replaced AS (
            DELETE FROM key_sessions s
            WHERE s.pid = %(pid)s AND s.pid > 0 AND (s.key_id, s.client) <> (%(key_id)s::uuid, %(client)s)
            RETURNING s.pid
        ), opened AS (
            INSERT INTO key_sessions (key_id, client, pid, opened_at, expires_at)
            SELECT %(key_id)s, %(client)s, %(pid)s, %(opened_at)s, (SELECT v.expires_at FROM valid_key v)
            FROM (SELECT count(*) FROM replaced) first  -- before the insert, because of the unique index
            ON CONFLICT (key_id, client, pid) DO UPDATE SET opened_at = excluded.opened_at WHERE key_sessions.pid = 0
        )
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), 'key:' || %(key_id)s::uuid, ARRAY['smtp'], %(opened_at)s
        WHERE NOT EXISTS (SELECT FROM valid_key)
        """,
        {
            "key_id": session.key_id,
            "client": session.client,
            "pid": session.pid,
            "opened_at": session.opened_at,
        },
    )


async def delete_pids(conn: Conn, pids: Collection[int]) -> None:
    """Forget the sessions of these processes."""
    await conn.execute("DELETE FROM key_sessions WHERE pid = ANY(%(pids)s) AND pid > 0", {"pids": list(pids)})


async def delete_before(conn: Conn, key_id: UUID, before: datetime) -> None:
    """Forget the sessions of a key that were opened until `before`."""
    await conn.execute(
        "DELETE FROM key_sessions WHERE key_id = %(key_id)s AND opened_at <= %(before)s",
        {"key_id": key_id, "before": before},
    )


async def delete_logins(conn: Conn, before: datetime) -> None:
    """Forget logins before `before`."""
    await conn.execute("DELETE FROM key_sessions WHERE pid = 0 AND opened_at < %(before)s", {"before": before})


async def list_pids(conn: Conn) -> list[int]:
    """The recorded processes."""
    cursor = await conn.execute("SELECT pid FROM key_sessions WHERE pid > 0")
    return [row["pid"] for row in await cursor.fetchall()]


async def list_of_key(conn: Conn, key_id: UUID, before: datetime) -> list[KeySession]:
    """The sessions of a key that were opened until `before`."""
    cursor = await conn.execute(
        """
        SELECT key_id, client, pid, opened_at FROM key_sessions
        WHERE key_id = %(key_id)s AND opened_at <= %(before)s
        """,
        {"key_id": key_id, "before": before},
    )
    return [KeySession(**row) for row in await cursor.fetchall()]


async def end_expired(conn: Conn, at: datetime) -> None:
    """Let the sessions end whose keys have expired since the last call."""
    await conn.execute(
        """
        WITH expired AS (
            UPDATE key_sessions s SET expires_at = NULL WHERE s.expires_at <= %(at)s RETURNING s.key_id
        )
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), 'key:' || e.key_id, ARRAY['smtp'], %(at)s
        FROM (SELECT DISTINCT key_id FROM expired) e
        """,
        {"at": at},
    )


async def end_of_keys(conn: Conn, key_ids: Collection[UUID], at: datetime) -> None:
    """Let the sessions of these keys end."""
    await conn.execute(
        """
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), 'key:' || k, ARRAY['smtp'], %(at)s FROM unnest(%(ids)s::uuid[]) k
        """,
        {"ids": list(key_ids), "at": at},
    )


async def find_next_expiry(conn: Conn) -> datetime | None:
    """When the next key with a session expires."""
    cursor = await conn.execute("SELECT min(expires_at) AS next FROM key_sessions")
    row = await cursor.fetchone()
    return row["next"] if row else None
