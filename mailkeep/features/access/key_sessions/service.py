"""Record the submission sessions of API keys, and find those to end."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.key_sessions import store
from mailkeep.features.access.key_sessions.model import KeySession


async def record(conn: Conn, session: KeySession) -> None:
    """Record a session that a key has just opened. It is ended at once if the key is not valid any more."""
    await store.upsert(conn, session)


async def forget(conn: Conn, pids: Collection[int]) -> None:
    """Forget the sessions of these processes: they have ended."""
    if pids:
        await store.delete_pids(conn, pids)


async def forget_closed(conn: Conn, sessions: Collection[KeySession]) -> None:
    """Forget these sessions, but not later ones of their processes."""
    if sessions:
        await store.delete(conn, sessions)


async def list_of_keys(conn: Conn, key_ids: Collection[UUID]) -> list[KeySession]:
    """The recorded sessions of these keys; some may have ended."""
    return await store.list_of_keys(conn, key_ids) if key_ids else []


async def end_expired(conn: Conn, at: datetime) -> datetime | None:
    """Let the sessions end whose keys have expired; returns when the next key expires that has a session."""
    await store.end_expired(conn, at)
    return await store.find_next_expiry(conn)


async def prune(conn: Conn, is_running: Callable[[int], bool]) -> None:
    """Forget the sessions whose processes have ended."""
    await forget(conn, [pid for pid in await store.list_pids(conn) if not is_running(pid)])
