"""The SQL of operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.operations.orchestrator.model import NewListener, Operation, OperationState, Step

_SELECT = """
    SELECT o.id, o.kind, o.service, o.state, o.author_id, o.author, o.created_at, o.steps, o.error, o.started_at,
        o.finished_at,
        o.confirm_until, o.confirm_url, o.confirmed_at
    FROM orchestrator_operations o
"""


async def insert(conn: Conn, operation: Operation) -> bool:
    """Insert a running operation; False if another one is running."""
    cursor = await conn.execute(
        """
        INSERT INTO orchestrator_operations (id, kind, service, state, author_id, author, created_at, steps)
        VALUES (%(id)s, %(kind)s, %(service)s, 'running', %(author_id)s, %(author)s, %(created_at)s, '[]')
        ON CONFLICT DO NOTHING
        """,
        {
            "id": operation.id,
            "kind": operation.kind,
            "service": operation.service,
            "author_id": operation.author_id,
            "author": operation.author,
            "created_at": operation.created_at,
        },
    )
    return cursor.rowcount == 1


async def find_running(conn: Conn) -> Operation | None:
    """The running operation."""
    cursor = await conn.execute(_SELECT + "WHERE o.state = 'running'")
    row = await cursor.fetchone()
    return _operation(row) if row else None


async def find(conn: Conn, operation_id: UUID) -> Operation | None:
    """The operation with this ID."""
    cursor = await conn.execute(_SELECT + "WHERE o.id = %(id)s", {"id": operation_id})
    row = await cursor.fetchone()
    return _operation(row) if row else None


async def page(conn: Conn, page_request: PageRequest) -> Page[Operation]:
    """A page of all operations."""
    page = await fetch_page(conn, _SELECT, [], page_request, {"created_at": "o.created_at", "id": "o.id"})
    return Page([_operation(row) for row in page.rows], page.next_key)


async def save_begin(conn: Conn, operation_id: UUID, at: datetime, steps: Sequence[Step]) -> bool:
    """Record that a running operation has begun; False if it had already, or is not running any more."""
    cursor = await conn.execute(
        """
        UPDATE orchestrator_operations SET started_at = %(at)s, steps = %(steps)s
        WHERE id = %(id)s AND state = 'running' AND started_at IS NULL
        """,
        {"id": operation_id, "at": at, "steps": _json(steps)},
    )
    return cursor.rowcount == 1


async def save_end(
    conn: Conn, operation_id: UUID, state: OperationState, error: str | None, at: datetime, steps: Sequence[Step]
) -> bool:
    """Record the end of a running operation; False if it has ended already."""
    cursor = await conn.execute(
        """
        UPDATE orchestrator_operations
        SET state = %(state)s, error = %(error)s, finished_at = %(at)s, steps = %(steps)s
        WHERE id = %(id)s AND state = 'running'
        """,
        {"id": operation_id, "state": state, "error": error, "at": at, "steps": _json(steps)},
    )
    return cursor.rowcount == 1


async def save_steps(conn: Conn, operation_id: UUID, steps: Sequence[Step]) -> None:
    """Record the steps of a running operation."""
    await conn.execute(
        "UPDATE orchestrator_operations SET steps = %(steps)s WHERE id = %(id)s AND state = 'running'",
        {"id": operation_id, "steps": _json(steps)},
    )


async def save_confirm_until(
    conn: Conn, operation_id: UUID, until: datetime | None, listener: NewListener | None
) -> None:
    """Record until when a running operation must be confirmed (None: no longer possible), over which listener."""
    await conn.execute(
        """
        UPDATE orchestrator_operations
        SET confirm_until = %(until)s, confirm_listener = %(listener)s, confirm_url = %(url)s
        WHERE id = %(id)s AND state = 'running'
        """,
        {
            "id": operation_id,
            "until": until,
            "listener": listener.id if listener else None,
            "url": listener.url if listener else None,
        },
    )


async def save_confirmation(conn: Conn, at: datetime, listener: str | None) -> UUID | None:
    """Confirm the running operation that waits for it, over this listener; its ID, None if there is none."""
    cursor = await conn.execute(
        """
        UPDATE orchestrator_operations SET confirmed_at = %(at)s
        WHERE state = 'running' AND confirm_until > %(at)s AND confirmed_at IS NULL
            AND (confirm_listener IS NULL OR confirm_listener = %(listener)s)
        RETURNING id
        """,
        {"at": at, "listener": listener},
    )
    row = await cursor.fetchone()
    return row["id"] if row else None


async def delete(conn: Conn, operation_id: UUID, *, has_begun: bool) -> None:
    """Delete a running operation that was refused. `has_begun`: also if it has begun."""
    await conn.execute(
        """
        DELETE FROM orchestrator_operations
        WHERE id = %(id)s AND state = 'running' AND (started_at IS NULL OR %(has_begun)s)
        """,
        {"id": operation_id, "has_begun": has_begun},
    )


async def end_abandoned(conn: Conn, before: datetime, at: datetime, error: str) -> None:
    """End running operations that were requested before `before` and have not begun."""
    await conn.execute(
        """
        UPDATE orchestrator_operations SET state = 'failed', error = %(error)s, finished_at = %(at)s
        WHERE state = 'running' AND started_at IS NULL AND created_at < %(before)s
        """,
        {"before": before, "at": at, "error": error},
    )


def _json(steps: Sequence[Step]) -> Jsonb:
    return Jsonb(list(steps), dumps=msgspec.json.encode)


def _operation(row: Mapping[str, Any]) -> Operation:
    steps = msgspec.convert(row["steps"], list[Step])
    return Operation(**{name: value for name, value in row.items() if name != "steps"}, steps=steps)
