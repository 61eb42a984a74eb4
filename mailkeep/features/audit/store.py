"""The SQL of the audit log: insert and read, nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.audit.model import Entry, Filter


async def insert(conn: Conn, entry: Entry) -> None:
    """Write one entry."""
    await conn.execute(
        """
        INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type,
                                   resource_id, domain_id, domain_name, ip_address, user_agent, request_id, outcome,
                                   error_code, details)
        VALUES (%(id)s, %(created_at)s, %(admin_id)s, %(actor_type)s, %(actor_label)s, %(key_id)s, %(action)s,
                %(resource_type)s, %(resource_id)s, %(domain_id)s, %(domain_name)s, %(ip_address)s, %(user_agent)s,
                %(request_id)s, %(outcome)s, %(error_code)s, %(details)s)
        """,
        {name: getattr(entry, name) for name in Entry.__slots__ if name != "details"}
        | {"details": Jsonb(entry.details, dumps=msgspec.json.encode)},
    )


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether there is such a domain, or was one."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM audit_entries e WHERE e.domain_id = %(id)s AND e.outcome = 'success') AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def page(conn: Conn, wanted: Filter, page: PageRequest) -> Page[Entry]:
    """A page of entries, by age. `admin_id` is null where that admin is no more."""
    found = await fetch_page(
        conn,
        """
        SELECT e.id, e.created_at, (SELECT a.id FROM admins a WHERE a.id = e.admin_id) AS admin_id, e.actor_type,
               e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id, e.domain_id, e.domain_name,
               e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details
        FROM audit_entries e
        """,
        [
            ("e.domain_id = ANY(%(domains)s)", "domains", wanted.domains),
            ("e.action = %(action)s", "action", wanted.action),
            (
                "e.admin_id = %(admin_id)s AND EXISTS (SELECT FROM admins a WHERE a.id = e.admin_id)",
                "admin_id",
                wanted.admin_id,
            ),
            ("e.resource_type = %(resource_type)s", "resource_type", wanted.resource_type),
            ("e.resource_id = %(resource_id)s", "resource_id", wanted.resource_id),
            ("e.domain_id = %(domain_id)s", "domain_id", wanted.domain_id),
            ("e.id >= %(since)s", "since", wanted.since and uuid7_floor(wanted.since)),
            ("e.id < %(until)s", "until", wanted.until and uuid7_floor(wanted.until)),
        ],
        page,
        {"created_at": "e.id", "id": "e.id"},
    )
    return Page([_entry(row) for row in found.rows], found.next_key)


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(**row)
