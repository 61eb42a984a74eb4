"""Record the submission sessions of API keys, and find those to end."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.key_sessions import store
from mailkeep.features.access.key_sessions.model import KeySession

# A session without a message ends long before: Postfix closes it after 100 useless commands, 5 minutes apart at most.
_LOGIN_RETENTION = timedelta(hours=12)


async def record(conn: Conn, session: KeySession) -> None:
    """Record a session that a key has opened. It is ended at once if the key is not valid any more."""
    await store.insert(conn, session)


async def forget(conn: Conn, pids: Collection[int]) -> None:
    """Forget the sessions of these processes: they serve others now."""
    if pids:
        await store.delete_pids(conn, pids)


async def list_pids(conn: Conn) -> list[int]:
    """The recorded processes."""
    return await store.list_pids(conn)


async def list_of_key(conn: Conn, key_id: UUID, before: datetime) -> list[KeySession]:
    """The recorded sessions of a key that were opened until `before`; some may have ended."""
    return await store.list_of_key(conn, key_id, before)


async def forget_of_key(conn: Conn, key_id: UUID, before: datetime) -> None:
    """Forget the sessions of a key that were opened until `before`."""
    await store.delete_before(conn, key_id, before)


async def end_expired(conn: Conn, at: datetime) -> datetime | None:
    """Let the sessions end whose keys have expired; returns when the next key expires that has a session."""
    await store.end_expired(conn, at)
    return await store.find_next_expiry(conn)


async def end_of_keys(conn: Conn, key_ids: Collection[UUID], at: datetime) -> None:
    """Let the sessions of these keys end."""
    await store.end_of_keys(conn, key_ids, at)


async def prune(conn: Conn, at: datetime, is_running: Callable[[int], bool]) -> None:
    """Forget the sessions whose processes have ended, and old logins."""
    await forget(conn, [pid for pid in await store.list_pids(conn) if not is_running(pid)])
    await store.delete_logins(conn, at - _LOGIN_RETENTION)
