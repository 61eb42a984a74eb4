"""The SQL of node tasks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.record.node_tasks.model import NodeTask


async def insert(conn: Conn, task: NodeTask, at: datetime) -> None:
    """Insert a task; a trigger notifies the process `node` with the commit."""
    await conn.execute(
        """
        INSERT INTO node_tasks (id, kind, argument, state, requested_at)
        VALUES (%(id)s, %(kind)s, %(argument)s, 'waiting', %(at)s)
        """,
        {"id": task.id, "kind": task.kind, "argument": Jsonb(task.argument, dumps=msgspec.json.encode), "at": at},
    )


async def find(conn: Conn, task_id: UUID) -> NodeTask | None:
    """The task with this ID."""
    cursor = await conn.execute(
        "SELECT id, kind, argument, state, result, error FROM node_tasks WHERE id = %(id)s", {"id": task_id}
    )
    row = await cursor.fetchone()
    return NodeTask(**row) if row else None


async def withdraw(conn: Conn, task_id: UUID, at: datetime) -> bool:
    """Withdraw a task that is not claimed yet; False if it is."""
    cursor = await conn.execute(
        "UPDATE node_tasks SET state = 'withdrawn', finished_at = %(at)s WHERE id = %(id)s AND state = 'waiting'",
        {"id": task_id, "at": at},
    )
    return cursor.rowcount == 1


async def claim(conn: Conn, at: datetime) -> NodeTask | None:
    """Claim the oldest waiting task."""
    cursor = await conn.execute(
        """
        UPDATE node_tasks SET state = 'running', claimed_at = %(at)s
        WHERE id = (SELECT id FROM node_tasks WHERE state = 'waiting' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id, kind, argument, state
        """,
        {"at": at},
    )
    row = await cursor.fetchone()
    return NodeTask(**row) if row else None


async def finish(conn: Conn, task_id: UUID, at: datetime, result: Mapping[str, Any] | None, error: str | None) -> None:
    """Store the result or error of a claimed task."""
    await conn.execute(
        """
        UPDATE node_tasks
        SET state = CASE WHEN %(error)s::text IS NULL THEN 'succeeded' ELSE 'failed' END, finished_at = %(at)s,
            result = %(result)s, error = %(error)s
        WHERE id = %(id)s AND state = 'running'
        """,
        {
            "id": task_id,
            "at": at,
            "result": None if result is None else Jsonb(result, dumps=msgspec.json.encode),
            "error": error,
        },
    )


async def fail_stale(conn: Conn, at: datetime, before: datetime, error: str) -> None:
    """Mark the tasks that were claimed before `before` and never finished as failed."""
    await conn.execute(
        """
        UPDATE node_tasks SET state = 'failed', finished_at = %(at)s, error = %(error)s
        WHERE state = 'running' AND claimed_at < %(before)s
        """,
        {"at": at, "before": before, "error": error},
    )


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete the tasks requested before `before`."""
    await conn.execute("DELETE FROM node_tasks WHERE requested_at < %(before)s", {"before": before})
