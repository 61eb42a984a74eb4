"""SQL of aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.address import fold_local
from mailkeep.core.errors import Conflict
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.directory.aliases.model import Alias, AliasStatus

_SELECT = """
    SELECT a.id, a.domain_id, a.source_local_part, a.destinations, a.destination_keys, a.active,
           a.created_at, a.updated_at
    FROM aliases a
"""


_CONTAINS = """
    (strpos(a.source_key || '@' || (SELECT d.name FROM domains d WHERE d.id = a.domain_id), %(part)s) > 0
     OR strpos(array_to_string(a.destination_keys, ','), %(part)s) > 0)
"""


async def lock_routes(conn: Conn) -> None:
    """Take the lock of all writers of aliases and forwards until the transaction ends."""
    await conn.execute("SELECT lock_routes()")


async def insert(conn: Conn, alias: Alias, rank: int) -> None:
    """Insert an alias by a caller of this rank; CONFLICT `source_taken` if the domain has one with this source."""
    try:
        await conn.execute(
            """
            INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys,
                                 active, created_at, updated_at, changed_rank)
            VALUES (%(id)s, %(domain_id)s, %(source_local_part)s, %(source_key)s, %(destinations)s,
                    %(destination_keys)s, %(active)s, %(created_at)s, %(updated_at)s, %(changed_rank)s)
            """,
            _columns(alias) | {"changed_rank": rank},
        )
    except psycopg.errors.UniqueViolation as error:
        if constraint_of(error) == "aliases_source_unique":
            source = f"an alias {alias.source_local_part}" if alias.source_local_part else "a catch-all"
            raise Conflict(f"The domain already has {source}. Edit that one instead.", reason="source_taken") from None
        raise


async def update(conn: Conn, alias: Alias, rank: int) -> None:
    """Update the writable columns from `alias`, changed by a caller of this rank."""
    await conn.execute(
        """
        UPDATE aliases
        SET destinations = %(destinations)s, destination_keys = %(destination_keys)s, active = %(active)s,
            updated_at = %(updated_at)s, changed_rank = %(changed_rank)s
        WHERE id = %(id)s
        """,
        _columns(alias) | {"changed_rank": rank},
    )


async def delete(conn: Conn, alias_id: UUID) -> None:
    """Delete an alias."""
    await conn.execute("DELETE FROM aliases WHERE id = %(id)s", {"id": alias_id})


async def find(conn: Conn, alias_id: UUID) -> Alias | None:
    """The alias with this id."""
    cursor = await conn.execute(_SELECT + " WHERE a.id = %(id)s", {"id": alias_id})
    row = await cursor.fetchone()
    return _alias(row) if row else None


async def find_by_source(conn: Conn, domain_id: UUID, source_key: str) -> UUID | None:
    """The ID of the alias of a domain with this folded source."""
    cursor = await conn.execute(
        "SELECT a.id FROM aliases a WHERE a.domain_id = %(domain_id)s AND a.source_key = %(source_key)s",
        {"domain_id": domain_id, "source_key": source_key},
    )
    row = await cursor.fetchone()
    return row["id"] if row else None


async def page(
    conn: Conn, domains: list[UUID] | None, domain_id: UUID | None, part: str | None, page_request: PageRequest
) -> Page[Alias]:
    """A page of the aliases of one domain, or of all that the caller may see (`domains`; None: all).

    `part` is a folded substring of the address or of a destination.
    """
    page = await fetch_page(
        conn,
        _SELECT,
        [
            ("a.domain_id = ANY(%(domains)s)", "domains", domains if domain_id is None else None),
            ("a.domain_id = %(domain_id)s", "domain_id", domain_id),
            (_CONTAINS, "part", part),
        ],
        page_request,
        {
            "created_at": "a.id",
            "updated_at": "a.updated_at",
            "source_local_part": "a.source_local_part",
            "id": "a.id",
        },
    )
    return Page([_alias(row) for row in page.rows], page.next_key)


async def count_in_domain(conn: Conn, domain_id: UUID) -> int:
    """Number of aliases of a domain."""
    cursor = await conn.execute(
        "SELECT count(*) AS aliases FROM aliases a WHERE a.domain_id = %(domain_id)s", {"domain_id": domain_id}
    )
    row = await cursor.fetchone()
    return row["aliases"] if row else 0


async def find_loop(conn: Conn, alias_id: UUID) -> list[str]:
    """The destinations of an active alias that lead back to it; call it after the write."""
    cursor = await conn.execute("SELECT l.key FROM route_loop(%(id)s) l", {"id": alias_id})
    return [row["key"] for row in await cursor.fetchall()]


async def find_chain_ahead(conn: Conn, alias_id: UUID) -> list[str]:
    """Sources of other aliases of the domain that an active alias leads to; call it after the write."""
    cursor = await conn.execute("SELECT c.source FROM route_chain_ahead(%(id)s) c", {"id": alias_id})
    return [row["source"] for row in await cursor.fetchall()]


async def find_chain_behind(conn: Conn, alias: Alias) -> list[str]:
    """Sources of other aliases of the domain that lead to an active alias; call it after the write."""
    if alias.source_local_part:
        cursor = await conn.execute("SELECT c.source FROM route_chain_behind(%(id)s) c", {"id": alias.id})
    else:
        cursor = await conn.execute("SELECT c.source FROM route_chain_behind_catch_all(%(id)s) c", {"id": alias.id})
    return [row["source"] for row in await cursor.fetchall()]


async def find_statuses(conn: Conn, alias_ids: Sequence[UUID], visible: list[UUID] | None) -> dict[UUID, AliasStatus]:
    """The statuses of aliases, with details of `visible` domains only (None: all). The last of a long list are missing
    if they have very many destinations.
    """
    cursor = await conn.execute(
        "SELECT s.id, s.state, s.warnings FROM alias_states(%(ids)s::uuid[], %(visible)s::uuid[]) s",
        {"ids": list(alias_ids), "visible": visible},
    )
    return {row["id"]: AliasStatus(row["state"], tuple(row["warnings"])) for row in await cursor.fetchall()}


def _columns(alias: Alias) -> dict[str, Any]:
    return {
        "id": alias.id,
        "domain_id": alias.domain_id,
        "source_local_part": alias.source_local_part,
        "source_key": fold_local(alias.source_local_part),
        "destinations": list(alias.destinations),
        "destination_keys": list(alias.destination_keys),
        "active": alias.active,
        "created_at": alias.created_at,
        "updated_at": alias.updated_at,
    }


def _alias(row: Mapping[str, Any]) -> Alias:
    return Alias(
        id=row["id"],
        domain_id=row["domain_id"],
        source_local_part=row["source_local_part"],
        destinations=tuple(row["destinations"]),
        destination_keys=tuple(row["destination_keys"]),
        active=row["active"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
