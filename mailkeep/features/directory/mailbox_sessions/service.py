"""Use cases of ending sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailbox_sessions import store
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

_BATCH = 10_000
# The embedded profile has no node agent that would process them.
_RETENTION = timedelta(days=30)


async def list_pending_ends(conn: Conn) -> list[SessionEnd]:
    """Changes whose sessions must end, oldest first, at most one batch."""
    return await store.list_pending(conn, _BATCH)


async def finish_ends(conn: Conn, ended: Sequence[SessionEnd]) -> None:
    """Delete changes whose sessions have ended."""
    await store.delete(conn, [end.id for end in ended])


async def prune(conn: Conn, at: datetime) -> None:
    """Delete changes that no node agent has processed in 30 days."""
    await store.delete_before(conn, at - _RETENTION)


async def may_submit(conn: Conn, address: str, version: int | None) -> bool:
    """Whether a submission session that was opened with this version of a mailbox's access may still be used."""
    return version is not None and version == await store.find_access_version(conn, address, "smtp")
