"""SQL of open submission sessions of API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.key_sessions.model import KeySession


async def upsert(conn: Conn, session: KeySession) -> None:
    """Record a session; it replaces an earlier one of its process. If the key is not valid any more, it has to end."""
    await conn.execute(
        """
        WITH valid_key AS (
            SELECT k.expires_at FROM api_keys k JOIN admins a ON a.id = k.admin_id WHERE k.id = %(key_id)s AND a.active
        ), opened AS (
            INSERT INTO key_sessions (pid, key_id, client, opened_at, expires_at)
            VALUES (%(pid)s, %(key_id)s, %(client)s, %(opened_at)s, (SELECT v.expires_at FROM valid_key v))
            ON CONFLICT (pid) DO UPDATE
            SET key_id = excluded.key_id, client = excluded.client, opened_at = excluded.opened_at,
                expires_at = excluded.expires_at
        )
        INSERT INTO session_ends (id, subject, protocols, changed_at)
        SELECT nextval('access_versions'), 'key:' || %(key_id)s::uuid, ARRAY['smtp'], %(opened_at)s
        WHERE NOT EXISTS (SELECT FROM valid_key)
        """,
        {"pid": session.pid, "key_id": session.key_id, "client": session.client, "opened_at": session.opened_at},
    )


async def delete_pids(conn: Conn, pids: Collection[int]) -> None:
    """Forget the sessions of these processes."""
    await conn.execute("DELETE FROM key_sessions WHERE pid = ANY(%(pids)s)", {"pids": list(pids)})


async def delete(conn: Conn, sessions: Collection[KeySession]) -> None:
    """Forget these sessions, but not later ones of their processes."""
    await conn.execute(
        """
        DELETE FROM key_sessions s
        USING unnest(%(pids)s::integer[], %(times)s::timestamptz[]) AS ended (pid, opened_at)
        WHERE s.pid = ended.pid AND s.opened_at = ended.opened_at
        """,
        {"pids": [each.pid for each in sessions], "times": [each.opened_at for each in sessions]},
    )


async def list_pids(conn: Conn) -> list[int]:
    """The processes of all recorded sessions."""
    cursor = await conn.execute("SELECT pid FROM key_sessions")
    return [row["pid"] for row in await cursor.fetchall()]


async def list_of_keys(conn: Conn, key_ids: Collection[UUID]) -> list[KeySession]:
    """The sessions of these keys."""
    cursor = await conn.execute(
        "SELECT pid, key_id, client, opened_at FROM key_sessions WHERE key_id = ANY(%(ids)s)", {"ids": list(key_ids)}
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


async def find_next_expiry(conn: Conn) -> datetime | None:
    """When the next key with an open session expires."""
    cursor = await conn.execute("SELECT min(expires_at) AS next FROM key_sessions")
    row = await cursor.fetchone()
    return row["next"] if row else None
