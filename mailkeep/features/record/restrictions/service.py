"""Add, find and end restrictions."""

from __future__ import annotations

from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.record.restrictions import store
from mailkeep.features.record.restrictions.model import RestrictionKind

add = store.insert
filter_restricted = store.filter_restricted
list_sole = store.list_sole
end_of_incident = store.delete_of_incident


async def is_restricted(conn: Conn, kind: RestrictionKind, subject: UUID) -> bool:
    """Whether an incident restricts this."""
    return bool(await store.filter_restricted(conn, kind, [str(subject)]))


async def forget(conn: Conn, kind: RestrictionKind, subject: UUID) -> None:
    """Somebody has decided otherwise since: no incident's undo changes this any more."""
    await store.delete(conn, kind, str(subject))
