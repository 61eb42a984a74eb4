"""The SQL of events."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.events.model import Event


async def emit(conn: Conn, event_id: UUID, event: Event, at: datetime) -> None:
    """One event, by the database's own function."""
    await conn.execute(
        "SELECT emit_event(%(id)s, %(kind)s, %(domain_id)s, %(message_id)s, %(data)s, %(at)s)",
        {
            "id": event_id,
            "kind": event.kind,
            "domain_id": event.domain_id,
            "message_id": event.message_id,
            "data": Jsonb(event.data, dumps=msgspec.json.encode),
            "at": at,
        },
    )
