"""SQL of bulk operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.directory.bulk.model import BulkItem, BulkItemResult, BulkOperation, BulkProgress, ItemTarget

_SELECT = """
    SELECT o.id, o.resource, o.action, o.dry_run, o.state, o.total, o.author_id, o.author, o.author_role, o.actor,
           o.key_id, o.key_scope, o.ip_address, o.user_agent, o.request_id, o.created_at, o.finished_at
    FROM bulk_operations o
"""


async def insert(conn: Conn, operation: BulkOperation, items: Sequence[tuple[bytes | None, bytes | None]]) -> None:
    """Insert an operation with its items, each sealed, or with its error; and wake the workers."""
    who = operation.who
    await conn.execute(
        """
        INSERT INTO bulk_operations (id, resource, action, dry_run, state, total, author_id, author, author_role, actor,
                                     key_id, key_scope, ip_address, user_agent, request_id, created_at, claimed_until)
        VALUES (%(id)s, %(resource)s, %(action)s, %(dry_run)s, 'running', %(total)s, %(author_id)s, %(author)s,
                %(author_role)s, %(actor)s, %(key_id)s, %(key_scope)s, %(ip_address)s, %(user_agent)s, %(request_id)s,
                %(created_at)s, %(created_at)s)
        """,
        {
            "id": operation.id,
            "resource": operation.resource,
            "action": operation.action,
            "dry_run": operation.dry_run,
            "total": operation.total,
            "author_id": who.admin_id,
            "author": who.label,
            "author_role": who.role and who.role.value,
            "actor": who.actor.value,
            "key_id": who.key_id,
            "key_scope": None if who.scope is None else sorted(who.scope),
            "ip_address": who.ip_address,
            "user_agent": who.user_agent,
            "request_id": who.request_id,
            "created_at": operation.created_at,
        },
    )
    await conn.execute(
        """
        INSERT INTO bulk_items (operation_id, index, sealed, error)
        SELECT %(id)s, i.number - 1, i.sealed, i.error
        FROM unnest(%(sealed)s::bytea[], %(errors)s::bytea[]) WITH ORDINALITY AS i (sealed, error, number)
        """,
        {"id": operation.id, "sealed": [each[0] for each in items], "errors": [each[1] for each in items]},
    )
    await conn.execute("SELECT wake_workers('bulk')")


async def count_unfinished(conn: Conn, author_id: UUID | None) -> int:
    """Operations of an account that are not finished; no other transaction adds one before this one ends."""
    lock = "SELECT pg_advisory_xact_lock(hashtextextended('mailkeep.bulk operations ' || %(author)s, 0))"
    await conn.execute(lock, {"author": str(author_id)})
    cursor = await conn.execute(
        """
        SELECT count(*) AS operations FROM bulk_operations o
        WHERE o.state = 'running' AND o.author_id IS NOT DISTINCT FROM %(author_id)s
        """,
        {"author_id": author_id},
    )
    row = await cursor.fetchone()
    return row["operations"] if row else 0


async def find(conn: Conn, operation_id: UUID) -> BulkOperation | None:
    """The operation with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE o.id = %(id)s", {"id": operation_id})
    row = await cursor.fetchone()
    return _operation(row) if row else None


async def find_by_request(conn: Conn, request_id: UUID) -> UUID | None:
    """The operation that a request created."""
    cursor = await conn.execute(
        "SELECT o.id FROM bulk_operations o WHERE o.request_id = %(request_id)s", {"request_id": request_id}
    )
    row = await cursor.fetchone()
    return row["id"] if row else None


async def count_done(conn: Conn, operation_id: UUID) -> BulkProgress:
    """How many items have a result."""
    cursor = await conn.execute(
        """
        SELECT count(*) AS done, count(i.error) AS failed
        FROM bulk_items i WHERE i.operation_id = %(id)s AND i.sealed IS NULL
        """,
        {"id": operation_id},
    )
    row = await cursor.fetchone()
    return BulkProgress(row["done"], row["failed"]) if row else BulkProgress(0, 0)


async def list_results(conn: Conn, operation_id: UUID) -> list[BulkItemResult]:
    """The results so far, in the order of the items."""
    cursor = await conn.execute(
        """
        SELECT i.index, i.object_id AS id, i.error FROM bulk_items i
        WHERE i.operation_id = %(id)s AND i.sealed IS NULL ORDER BY i.index
        """,
        {"id": operation_id},
    )
    return [BulkItemResult(**row) for row in await cursor.fetchall()]


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> list[BulkOperation]:
    """Claim the oldest unfinished operation of each account until `until`, unless another worker has it."""
    cursor = await conn.execute(
        """
        WITH due AS (
            SELECT o.id FROM bulk_operations o
            WHERE o.state = 'running' AND o.claimed_until <= %(at)s AND NOT EXISTS (
                SELECT FROM bulk_operations e
                WHERE e.state = 'running' AND e.author_id IS NOT DISTINCT FROM o.author_id AND e.id < o.id)
            ORDER BY o.id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
        ), claimed AS (
            UPDATE bulk_operations o SET claimed_until = %(until)s FROM due WHERE o.id = due.id RETURNING o.id
        )
        SELECT c.id FROM claimed c ORDER BY c.id
        """,
        {"at": at, "until": until, "limit": limit},
    )
    ids = [row["id"] for row in await cursor.fetchall()]
    cursor = await conn.execute(_SELECT + " WHERE o.id = ANY(%(ids)s) ORDER BY o.id", {"ids": ids})
    return [_operation(row) for row in await cursor.fetchall()]


async def set_claim(conn: Conn, operation_id: UUID, until: datetime) -> None:
    """Extend or end the claim of an unfinished operation."""
    await conn.execute(
        "UPDATE bulk_operations SET claimed_until = %(until)s WHERE id = %(id)s AND state = 'running'",
        {"id": operation_id, "until": until},
    )


async def list_pending(conn: Conn, operation_id: UUID, limit: int) -> list[BulkItem]:
    """The first items without a result."""
    cursor = await conn.execute(
        """
        SELECT i.index, i.sealed FROM bulk_items i
        WHERE i.operation_id = %(id)s AND i.sealed IS NOT NULL ORDER BY i.index LIMIT %(limit)s
        """,
        {"id": operation_id, "limit": limit},
    )
    return [BulkItem(row["index"], bytes(row["sealed"])) for row in await cursor.fetchall()]


async def save_result(conn: Conn, operation_id: UUID, result: BulkItemResult, target: ItemTarget) -> bool:
    """Write the result of an item, which deletes its content; False if it has one already."""
    cursor = await conn.execute(
        """
        UPDATE bulk_items SET sealed = NULL, object_id = %(object_id)s, error = %(error)s, domain_id = %(domain_id)s,
                              object_key = %(key)s
        WHERE operation_id = %(id)s AND index = %(index)s AND sealed IS NOT NULL
        """,
        {
            "id": operation_id,
            "index": result.index,
            "object_id": result.id,
            "error": result.error,
            "domain_id": target.domain_id,
            "key": target.key,
        },
    )
    return cursor.rowcount == 1


async def find_earlier(conn: Conn, operation_id: UUID, target: ItemTarget) -> tuple[int | None, int]:
    """Of the items of an operation that succeeded: the first with the key of `target`, and the number of those in its
    domain.
    """
    cursor = await conn.execute(
        """
        SELECT min(i.index) FILTER (WHERE i.object_key = %(key)s) AS repeated,
               count(*) FILTER (WHERE i.domain_id = %(domain_id)s) AS in_domain
        FROM bulk_items i WHERE i.operation_id = %(id)s AND i.sealed IS NULL AND i.error IS NULL
        """,
        {"id": operation_id, "key": target.key, "domain_id": target.domain_id},
    )
    row = await cursor.fetchone()
    return (row["repeated"], row["in_domain"]) if row else (None, 0)


async def finish(conn: Conn, operation_id: UUID, at: datetime) -> None:
    """Finish an operation if every item has a result."""
    await conn.execute(
        """
        UPDATE bulk_operations o SET state = 'succeeded', finished_at = %(at)s
        WHERE o.id = %(id)s AND o.state = 'running' AND NOT EXISTS (
            SELECT FROM bulk_items i WHERE i.operation_id = o.id AND i.sealed IS NOT NULL)
        """,
        {"id": operation_id, "at": at},
    )


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete operations that were finished before `before`, with their results."""
    await conn.execute("DELETE FROM bulk_operations WHERE finished_at < %(before)s", {"before": before})


def _operation(row: Mapping[str, Any]) -> BulkOperation:
    scope = row["key_scope"]
    who = Principal(
        admin_id=row["author_id"],
        label=row["author"],
        role=Role(row["author_role"]),
        actor=ActorType(row["actor"]),
        scope=None if scope is None else frozenset(scope),
        key_id=row["key_id"],
        ip_address=row["ip_address"],
        user_agent=row["user_agent"],
        request_id=row["request_id"],
    )
    names = ("id", "resource", "action", "dry_run", "state", "total", "created_at", "finished_at")
    return BulkOperation(who=who, **{name: row[name] for name in names})
