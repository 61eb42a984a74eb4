"""SQL of unsubscribe groups."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import Conflict
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeGroup

_SELECT = """
    SELECT g.id, g.domain_id, d.name AS domain_name, g.name, g.created_at, g.updated_at
    FROM unsubscribe_groups g JOIN domains d ON d.id = g.domain_id
"""


async def insert(conn: Conn, group: UnsubscribeGroup) -> None:
    """Insert a group; CONFLICT `name_taken`."""
    await _write(
        conn,
        """
        INSERT INTO unsubscribe_groups (id, domain_id, name, created_at, updated_at)
        VALUES (%(id)s, %(domain_id)s, %(name)s, %(created_at)s, %(updated_at)s)
        """,
        {"id": group.id, "domain_id": group.domain_id, "name": group.name, "created_at": group.created_at,
         "updated_at": group.updated_at},
    )  # fmt: skip


async def rename(conn: Conn, group_id: UUID, name: str, at: datetime) -> None:
    """Change the name of a group; CONFLICT `name_taken`."""
    await _write(
        conn,
        "UPDATE unsubscribe_groups SET name = %(name)s, updated_at = %(at)s WHERE id = %(id)s",
        {"id": group_id, "name": name, "at": at},
    )


async def _write(conn: Conn, statement: Any, arguments: dict[str, Any]) -> None:
    try:
        await conn.execute(statement, arguments)
    except psycopg.errors.UniqueViolation as error:
        if constraint_of(error) == "unsubscribe_groups_name_unique":
            text = f"The domain already has an unsubscribe group named {arguments['name']}."
            raise Conflict(text, reason="name_taken") from None
        raise


async def delete(conn: Conn, group_id: UUID) -> int:
    """Delete a group with its suppressions; returns how many it had."""
    cursor = await conn.execute(
        """
        WITH removed AS (DELETE FROM unsubscribe_groups WHERE id = %(id)s RETURNING domain_id, id)
        SELECT count(*) AS suppressions FROM removed g
        JOIN suppressions s ON s.domain_id = g.domain_id AND s.group_id = g.id
        """,
        {"id": group_id},
    )
    row = await cursor.fetchone()
    return row["suppressions"] if row else 0


async def find(conn: Conn, group_id: UUID) -> UnsubscribeGroup | None:
    """The group with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE g.id = %(id)s", {"id": group_id})
    row = await cursor.fetchone()
    return UnsubscribeGroup(**row) if row else None


async def find_for_update(conn: Conn, group_id: UUID) -> UnsubscribeGroup | None:
    """The group with this ID, locked until the transaction ends."""
    cursor = await conn.execute(_SELECT + " WHERE g.id = %(id)s FOR UPDATE OF g", {"id": group_id})
    row = await cursor.fetchone()
    return UnsubscribeGroup(**row) if row else None


async def page(
    conn: Conn, domains: list[UUID] | None, domain_id: UUID | None, page_request: PageRequest
) -> Page[UnsubscribeGroup]:
    """A page of the groups of one domain, or of all that the caller may see (`domains`; None: all)."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("g.domain_id = ANY(%(domains)s)", "domains", domains if domain_id is None else None),
            ("g.domain_id = %(domain_id)s", "domain_id", domain_id),
        ],
        page_request,
        {"created_at": "g.id", "name": "g.name", "updated_at": "g.updated_at", "id": "g.id"},
    )
    return Page([UnsubscribeGroup(**row) for row in result.rows], result.next_key)
