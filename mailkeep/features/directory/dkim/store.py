"""SQL of DKIM keys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim.model import DkimKey

_SELECT = """
    SELECT k.id, k.domain_id, k.selector, k.algorithm, k.stage, k.private_key, k.public_key, k.created_at,
           k.activated_at
    FROM dkim_keys k
"""


async def insert(conn: Conn, key: DkimKey) -> None:
    """Insert a key."""
    await conn.execute(
        """
        INSERT INTO dkim_keys (id, domain_id, selector, algorithm, stage, private_key, public_key, created_at,
                               activated_at)
        VALUES (%(id)s, %(domain_id)s, %(selector)s, %(algorithm)s, %(stage)s, %(private_key)s,
                %(public_key)s, %(created_at)s, %(activated_at)s)
        """,
        {name: getattr(key, name) for name in DkimKey.__slots__},
    )


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


_SELECT_HOST_KEY = """
    SELECT k.id, NULL::uuid AS domain_id, k.selector, k.algorithm, 'active' AS stage, k.private_key, k.public_key,
           k.created_at, k.created_at AS activated_at
    FROM host_dkim_keys k WHERE k.host_name = %(host_name)s
"""


async def find_host_key(conn: Conn, host_name: str) -> DkimKey | None:
    """The key of a host name."""
    cursor = await conn.execute(_SELECT_HOST_KEY, {"host_name": host_name})
    row = await cursor.fetchone()
    return _key(row) if row else None


async def insert_host_key(conn: Conn, host_name: str, key: DkimKey) -> DkimKey:
    """Insert the key of a host name, unless it has one; returns the stored one."""
    await conn.execute(
        """
        INSERT INTO host_dkim_keys (host_name, id, selector, algorithm, private_key, public_key, created_at)
        VALUES (%(host_name)s, %(id)s, %(selector)s, %(algorithm)s, %(private_key)s, %(public_key)s, %(created_at)s)
        ON CONFLICT (host_name) DO NOTHING
        """,
        {"host_name": host_name} | {name: getattr(key, name) for name in DkimKey.__slots__},
    )
    return await find_host_key(conn, host_name) or key


async def page(conn: Conn, domain_id: UUID, page_request: PageRequest) -> Page[DkimKey]:
    """A page of a domain's keys, by age."""
    page = await fetch_page(
        conn,
        _SELECT,
        [("k.domain_id = %(domain_id)s", "domain_id", domain_id)],
        page_request,
        {"created_at": "k.id", "id": "k.id"},
    )
    return Page([_key(row) for row in page.rows], page.next_key)


def _key(row: dict[str, Any]) -> DkimKey:
    return DkimKey(**row)
