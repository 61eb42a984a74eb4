"""Telling what happened."""

from __future__ import annotations

from datetime import datetime

from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.events import store
from mailkeep.features.events.model import Event


async def emit(conn: Conn, at: datetime, event: Event) -> None:
    """Write an event in the transaction of what it tells."""
    await store.emit(conn, uuid7(at), event, at)
