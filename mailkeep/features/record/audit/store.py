"""The SQL of the audit log: insert and read. Only a database function deletes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Role
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit.model import ActorAccount, AuditEntry, AuditFilter, ChainEntry, Position, Seal

_DETAILS = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
"""Keeps numbers as they are stored, for the hash."""


async def insert(conn: Conn, entry: AuditEntry) -> None:
    """Insert an entry."""
    await conn.execute(
        """
        INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type,
                                   resource_id, domain_id, domain_name, ip_address, user_agent, request_id, outcome,
                                   error_code, details)
        VALUES (%(id)s, %(created_at)s, %(admin_id)s, %(actor_type)s, %(actor_label)s, %(key_id)s, %(action)s,
                %(resource_type)s, %(resource_id)s, %(domain_id)s, %(domain_name)s, %(ip_address)s, %(user_agent)s,
                %(request_id)s, %(outcome)s, %(error_code)s, %(details)s)
        """,
        entry_row(entry) | {"details": Jsonb(entry.details, dumps=msgspec.json.encode)},
    )


def entry_row(entry: AuditEntry) -> dict[str, Any]:
    """An entry as a dictionary of its columns."""
    return {name: getattr(entry, name) for name in AuditEntry.__slots__}


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether this domain exists or existed."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM audit_entries e WHERE e.domain_id = %(id)s AND e.outcome = 'success') AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def find_created_id(conn: Conn, request_id: UUID) -> str | None:
    """The ID of the object that a request created, None if it created none."""
    cursor = await conn.execute(
        """
        SELECT resource_id FROM audit_entries
        WHERE request_id = %(request_id)s AND outcome = 'success' AND action LIKE '%%.create'
        """,
        {"request_id": request_id},
    )
    row = await cursor.fetchone()
    return row["resource_id"] if row else None


async def page(conn: Conn, filters: AuditFilter, page_request: PageRequest) -> Page[tuple[AuditEntry, ActorAccount]]:
    """A page of entries, by age, each with its account. `admin_id` is None if the administrator was deleted."""
    rows_page = await fetch_page(
        conn,
        """
        SELECT e.id, e.created_at, (SELECT a.id FROM admins a WHERE a.id = e.admin_id) AS admin_id, e.actor_type,
               e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id, e.domain_id, e.domain_name,
               e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details,
               (SELECT a.role FROM admins a WHERE a.id = e.admin_id) AS role,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = e.admin_id) AS assigned
        FROM audit_entries e
        """,
        [
            ("e.domain_id = ANY(%(domains)s)", "domains", filters.domains),
            ("e.action = %(action)s", "action", filters.action),
            (
                "e.admin_id = %(admin_id)s AND EXISTS (SELECT FROM admins a WHERE a.id = e.admin_id)",
                "admin_id",
                filters.admin_id,
            ),
            ("e.resource_type = %(resource_type)s", "resource_type", filters.resource_type),
            ("e.resource_id = %(resource_id)s", "resource_id", filters.resource_id),
            ("e.domain_id = %(domain_id)s", "domain_id", filters.domain_id),
            ("e.id >= %(since)s", "since", filters.since and uuid7_floor(filters.since)),
            ("e.id < %(until)s", "until", filters.until and uuid7_floor(filters.until)),
        ],
        page_request,
        {"created_at": "e.id", "id": "e.id"},
    )
    return Page([_entry(row) for row in rows_page.rows], rows_page.next_key)


def _entry(row: dict[str, Any]) -> tuple[AuditEntry, ActorAccount]:
    role, assigned = row.pop("role"), frozenset[UUID](row.pop("assigned"))
    return AuditEntry(**row), ActorAccount(None if role is None else Role(role), assigned)


async def lock_head(conn: Conn) -> Seal | None:
    """The newest seal, under a transaction-level lock for which other sealers wait."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtext('mailkeep.audit.seal'))")
    return await find_head(conn)


async def block_retention(conn: Conn) -> None:
    """Prevent deletions by retention until the transaction ends; waits for one in progress."""
    await conn.execute("SELECT pg_advisory_xact_lock_shared(hashtext('mailkeep.audit.retention'))")


async def try_lock_retention(conn: Conn) -> bool:
    """Lock the retention until the transaction ends; False if `block_retention` is in effect."""
    cursor = await conn.execute("SELECT pg_try_advisory_xact_lock(hashtext('mailkeep.audit.retention')) AS free")
    row = await cursor.fetchone()
    return bool(row and row["free"])


async def list_sealable(conn: Conn, after: Position, limit: int) -> list[ChainEntry]:
    """The next entries whose order is final: no older transaction is still running."""
    return await _fetch_entries(
        conn,
        """
        SELECT {columns} FROM audit_entries e
        WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s) AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
        ORDER BY e.tx, e.id LIMIT %(limit)s
        """,
        {"tx": str(after[0]), "id": after[1], "limit": limit},
    )


async def is_from_other_server(conn: Conn, last: Position) -> bool:
    """Whether the server's transaction counter is below a position: the tables come from another server."""
    cursor = await conn.execute(
        "SELECT %(tx)s::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) AS is_behind", {"tx": str(last[0])}
    )
    row = await cursor.fetchone()
    return bool(row and row["is_behind"])


async def list_between(conn: Conn, after: Position, last: Position, limit: int) -> list[ChainEntry]:
    """Entries after a position, up to and including another."""
    return await _fetch_entries(
        conn,
        """
        SELECT {columns} FROM audit_entries e
        WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s) AND (e.tx, e.id) <= (%(last_tx)s::xid8, %(last_id)s)
        ORDER BY e.tx, e.id LIMIT %(limit)s
        """,
        {"tx": str(after[0]), "id": after[1], "last_tx": str(last[0]), "last_id": last[1], "limit": limit},
    )


async def filter_existing(conn: Conn, ids: Sequence[UUID]) -> list[UUID]:
    """Those of the IDs that exist, at any position."""
    cursor = await conn.execute("SELECT e.id FROM audit_entries e WHERE e.id = ANY(%(ids)s)", {"ids": list(ids)})
    return [row["id"] for row in await cursor.fetchall()]


async def count_after(conn: Conn, after: Position) -> int:
    """The number of entries after a position."""
    cursor = await conn.execute(
        "SELECT count(*) AS n FROM audit_entries e WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s)",
        {"tx": str(after[0]), "id": after[1]},
    )
    row = await cursor.fetchone()
    return row["n"] if row else 0


async def take_snapshot(conn: Conn) -> str:
    """The current snapshot, for `list_snapshot`."""
    cursor = await conn.execute("SELECT pg_current_snapshot()::text AS snapshot")
    row = await cursor.fetchone()
    return row["snapshot"] if row else ""


async def list_snapshot(
    conn: Conn, filters: AuditFilter, snapshot: str, after: Position, limit: int
) -> list[ChainEntry]:
    """The next entries that a snapshot shows, oldest transactions first: the same whenever it is called."""
    return await _fetch_entries(
        conn,
        """
        SELECT {columns} FROM audit_entries e
        WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s) AND pg_visible_in_snapshot(e.tx, %(snapshot)s::pg_snapshot)
          AND (%(action)s::text IS NULL OR e.action = %(action)s)
          AND (%(admin_id)s::uuid IS NULL OR e.admin_id = %(admin_id)s)
          AND (%(resource_type)s::text IS NULL OR e.resource_type = %(resource_type)s)
          AND (%(resource_id)s::text IS NULL OR e.resource_id = %(resource_id)s)
          AND (%(domain_id)s::uuid IS NULL OR e.domain_id = %(domain_id)s)
          AND (%(since)s::uuid IS NULL OR e.id >= %(since)s)
          AND (%(until)s::uuid IS NULL OR e.id < %(until)s)
        ORDER BY e.tx, e.id LIMIT %(limit)s
        """,
        {
            "tx": str(after[0]),
            "id": after[1],
            "snapshot": snapshot,
            "action": filters.action,
            "admin_id": filters.admin_id,
            "resource_type": filters.resource_type,
            "resource_id": filters.resource_id,
            "domain_id": filters.domain_id,
            "since": filters.since and uuid7_floor(filters.since),
            "until": filters.until and uuid7_floor(filters.until),
            "limit": limit,
        },
    )


async def has_before(conn: Conn, bound: UUID) -> bool:
    """Whether there are entries with smaller IDs."""
    cursor = await conn.execute(
        "SELECT EXISTS (SELECT FROM audit_entries e WHERE e.id < %(bound)s) AS found", {"bound": bound}
    )
    row = await cursor.fetchone()
    return bool(row and row["found"])


async def has_unsealed_before(conn: Conn, bound: UUID, after: Position) -> bool:
    """Whether there are entries with smaller IDs after a position."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM audit_entries e
                       WHERE e.id < %(bound)s AND (e.tx, e.id) > (%(tx)s::xid8, %(id)s)) AS found
        """,
        {"bound": bound, "tx": str(after[0]), "id": after[1]},
    )
    row = await cursor.fetchone()
    return bool(row and row["found"])


async def drop_months(conn: Conn) -> int:
    """Delete the months that the newest seal names; returns how many. LockNotAvailable if one is being read."""
    cursor = await conn.execute("SELECT drop_audit_months() AS months")
    row = await cursor.fetchone()
    return row["months"] if row else 0


async def insert_seal(conn: Conn, seal: Seal) -> None:
    """Insert a seal."""
    await conn.execute(
        """
        INSERT INTO audit_seals (sequence, sealed_at, entries, last_tx, last_id, latest_id, leaves, first_sequence,
                                 dropped_before, previous, hash, signature)
        VALUES (%(sequence)s, %(sealed_at)s, %(entries)s, %(last_tx)s::xid8, %(last_id)s, %(latest_id)s, %(leaves)b,
                %(first_sequence)s, %(dropped_before)s, %(previous)b, %(hash)b, %(signature)b)
        """,
        {name: getattr(seal, name) for name in Seal.__slots__ if name != "last"}
        | {"last_tx": str(seal.last[0]), "last_id": seal.last[1]},
    )


async def find_head(conn: Conn) -> Seal | None:
    """The newest seal."""
    seals = await _fetch_seals(conn, "SELECT {columns} FROM audit_seals s ORDER BY s.sequence DESC LIMIT 1", {})
    return seals[0] if seals else None


async def find_seal(conn: Conn, sequence: int) -> Seal | None:
    """The seal with this number."""
    seals = await _fetch_seals(conn, "SELECT {columns} FROM audit_seals s WHERE s.sequence = %(n)s", {"n": sequence})
    return seals[0] if seals else None


async def list_seals_after(conn: Conn, sequence: int, last: int, limit: int) -> list[Seal]:
    """The next seals up to number `last`, oldest first."""
    return await _fetch_seals(
        conn,
        """
        SELECT {columns} FROM audit_seals s WHERE s.sequence > %(sequence)s AND s.sequence <= %(last)s
        ORDER BY s.sequence LIMIT %(limit)s
        """,
        {"sequence": sequence, "last": last, "limit": limit},
    )


async def find_covering_seal(conn: Conn, position: Position, last: int) -> Seal | None:
    """The first seal up to number `last` that covers an entry's position."""
    seals = await _fetch_seals(
        conn,
        """
        SELECT {columns} FROM audit_seals s
        WHERE (s.last_tx, s.last_id) >= (%(tx)s::xid8, %(id)s) AND s.sequence <= %(last)s
        ORDER BY s.last_tx, s.last_id, s.sequence LIMIT 1
        """,
        {"tx": str(position[0]), "id": position[1], "last": last},
    )
    return seals[0] if seals else None


async def find_last_seal_before(conn: Conn, bound: UUID) -> int | None:
    """The number of the seal before the first with an entry from `bound` on; None if there is no such entry."""
    cursor = await conn.execute(
        "SELECT min(s.sequence) - 1 AS last FROM audit_seals s WHERE s.latest_id >= %(bound)s", {"bound": bound}
    )
    row = await cursor.fetchone()
    return row["last"] if row else None


_ENTRY: LiteralString = """
    e.tx::text AS tx, e.id, e.created_at, e.admin_id, e.actor_type, e.actor_label, e.key_id, e.action, e.resource_type,
    e.resource_id, e.domain_id, e.domain_name, e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code,
    e.details::text AS details
"""
_SEAL: LiteralString = """
    s.sequence, s.sealed_at, s.entries, s.last_tx::text AS last_tx, s.last_id, s.latest_id, s.leaves, s.first_sequence,
    s.dropped_before, s.previous, s.hash, s.signature
"""


async def _fetch_entries(conn: Conn, select: LiteralString, parameters: dict[str, Any]) -> list[ChainEntry]:
    cursor = await conn.execute(SQL(select).format(columns=SQL(_ENTRY)), parameters, binary=True)
    rows = await cursor.fetchall()
    return [
        ChainEntry(int(row.pop("tx")), AuditEntry(details=_DETAILS.decode(row.pop("details")), **row)) for row in rows
    ]


async def _fetch_seals(conn: Conn, select: LiteralString, parameters: dict[str, Any]) -> list[Seal]:
    cursor = await conn.execute(SQL(select).format(columns=SQL(_SEAL)), parameters, binary=True)
    return [Seal(last=(int(row.pop("last_tx")), row.pop("last_id")), **row) for row in await cursor.fetchall()]
