"""Use cases of ending sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailbox_sessions import store
from mailkeep.features.directory.mailbox_sessions.model import SessionEnd

_BATCH = 10_000
_RETENTION = timedelta(days=30)  # the embedded profile has no process `node` to end sessions and delete the changes


async def list_pending_ends(conn: Conn) -> list[SessionEnd]:
    """Changes whose sessions must end, oldest first, at most one batch."""
    return await store.list_pending(conn, _BATCH)


async def finish_ends(conn: Conn, changes: Sequence[SessionEnd]) -> None:
    """Delete changes whose sessions have ended."""
    await store.delete(conn, [change.id for change in changes])


async def prune(conn: Conn, at: datetime) -> None:
    """Delete changes older than 30 days."""
    await store.delete_before(conn, at - _RETENTION)


async def end_of_mailbox(conn: Conn, mailbox_id: UUID, at: datetime) -> None:
    """End all sessions of a mailbox, with whichever password they were opened, and those of its owner."""
    await store.end_of_mailbox(conn, mailbox_id, at)


async def may_submit(conn: Conn, address: str, access: str, at: datetime) -> bool:
    """Whether a submission session may still be used: whether the access in its login is still current."""
    return bool(access) and await store.is_current(conn, address, "smtp", access, at)
