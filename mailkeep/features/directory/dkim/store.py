"""SQL of DKIM keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import Conflict
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.directory.dkim.model import DkimKey, DnsStatus

_SELECT = """
    SELECT k.id, k.domain_id, k.selector, k.cname, k.algorithm, k.stage, k.private_key, k.public_key, k.for_rotation,
           k.dns_status, k.dns_checked_at, k.published_since, k.created_at, k.activated_at, k.retiring_at, k.retired_at,
           k.updated_at AS changed_at
    FROM dkim_keys k
"""


async def insert(conn: Conn, key: DkimKey) -> None:
    """Insert a key; CONFLICT `selector_taken` if another one that is not retired has its selector."""
    try:
        await conn.execute(
            """
            INSERT INTO dkim_keys (id, domain_id, selector, cname, algorithm, stage, private_key, public_key,
                                   for_rotation, created_at, updated_at, activated_at)
            VALUES (%(id)s, %(domain_id)s, %(selector)s, %(cname)s, %(algorithm)s, %(stage)s, %(private_key)s,
                    %(public_key)s, %(for_rotation)s, %(created_at)s, %(created_at)s, %(activated_at)s)
            """,
            _columns(key),
        )
    except psycopg.IntegrityError as error:
        if constraint_of(error) == "dkim_keys_selector_unique":
            raise Conflict(
                f"The domain has a key with the selector {key.selector}. Choose another selector.",
                reason="selector_taken",
                selector=key.selector,
            ) from None
        raise


async def list_active(conn: Conn, domain_name: str) -> list[DkimKey]:
    """The keys with which a domain signs, oldest first."""
    cursor = await conn.execute(
        _SELECT
        + """
        JOIN domains d ON d.id = k.domain_id
        WHERE d.name = %(name)s AND k.stage = 'active' ORDER BY k.id
        """,
        {"name": domain_name},
    )
    return [_key(row) for row in await cursor.fetchall()]


async def list_published(conn: Conn, domain_id: UUID) -> list[DkimKey]:
    """The keys of a domain that are not retired, oldest first."""
    cursor = await conn.execute(
        _SELECT + " WHERE k.domain_id = %(id)s AND k.stage <> 'retired' ORDER BY k.id", {"id": domain_id}
    )
    return [_key(row) for row in await cursor.fetchall()]


async def list_delegated(conn: Conn, host_name: str) -> list[DkimKey]:
    """The keys that are not retired and have their records at names of a host, oldest first."""
    cursor = await conn.execute(
        _SELECT
        + """
        WHERE k.cname IS NOT NULL AND k.stage <> 'retired' AND split_part(k.cname, '._domainkey.', 2) = %(host)s
        ORDER BY k.id
        """,
        {"host": host_name},
    )
    return [_key(row) for row in await cursor.fetchall()]


async def set_dns_statuses(conn: Conn, statuses: Mapping[UUID, DnsStatus], at: datetime) -> None:
    """Store the results of look-ups, except where a later one is stored."""
    await conn.execute(
        """
        UPDATE dkim_keys k SET dns_status = n.status, dns_checked_at = %(at)s,
               published_since = CASE WHEN n.status = 'ok' THEN coalesce(k.published_since, %(at)s) END
        FROM unnest(%(ids)s::uuid[], %(statuses)s::text[]) AS n (id, status)
        WHERE k.id = n.id AND (k.dns_checked_at IS NULL OR k.dns_checked_at <= %(at)s)
        """,
        {"ids": list(statuses), "statuses": list(statuses.values()), "at": at},
    )


_SELECT_HOST_KEY = """
    SELECT k.id, NULL::uuid AS domain_id, k.selector, k.algorithm, 'active' AS stage, k.private_key, k.public_key,
           k.created_at, k.created_at AS activated_at
    FROM host_dkim_keys k WHERE k.host_name = %(host_name)s ORDER BY k.id
"""


async def list_host_keys(conn: Conn, host_name: str) -> list[DkimKey]:
    """The keys of a host name, oldest first."""
    cursor = await conn.execute(_SELECT_HOST_KEY, {"host_name": host_name})
    return [_key(row) for row in await cursor.fetchall()]


async def insert_host_key(conn: Conn, host_name: str, key: DkimKey) -> None:
    """Insert a key of a host name, unless it has one with this algorithm."""
    await conn.execute(
        """
        INSERT INTO host_dkim_keys (host_name, id, selector, algorithm, private_key, public_key, created_at)
        VALUES (%(host_name)s, %(id)s, %(selector)s, %(algorithm)s, %(private_key)s, %(public_key)s, %(created_at)s)
        ON CONFLICT (host_name, algorithm) DO NOTHING
        """,
        {"host_name": host_name} | _columns(key),
    )


async def page(
    conn: Conn, domain_id: UUID, page_request: PageRequest, stages: list[str] | None, algorithm: str | None
) -> Page[DkimKey]:
    """A page of a domain's keys, by age."""
    page = await fetch_page(
        conn,
        _SELECT,
        [
            ("k.domain_id = %(domain_id)s", "domain_id", domain_id),
            ("k.stage = ANY(%(stages)s)", "stages", stages),
            ("k.algorithm = %(algorithm)s", "algorithm", algorithm),
        ],
        page_request,
        {"created_at": "k.id", "id": "k.id"},
    )
    return Page([_key(row) for row in page.rows], page.next_key)


def _columns(key: DkimKey) -> dict[str, Any]:
    return {name: getattr(key, name) for name in DkimKey.__slots__}


def _key(row: dict[str, Any]) -> DkimKey:
    return DkimKey(**row)
