"""The SQL of suspensions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mailkeep.db.pool import Conn
from mailkeep.features.abuse.model import Suspension

_SELECT = """
    SELECT s.id, s.domain_id, s.address, s.address_key, s.reason, s.by_kind, s.by_label, s.by_rank, s.created_at
    FROM suspensions s
"""


async def put(conn: Conn, suspension: Suspension) -> None:
    """Set the suspension of an address, in the place of one that it has."""
    await conn.execute(
        """
        INSERT INTO suspensions (id, domain_id, address, address_key, reason, by_kind, by_label, by_rank,
                                 created_at)
        VALUES (%(id)s, %(domain_id)s, %(address)s, %(address_key)s, %(reason)s, %(by_kind)s, %(by_label)s,
                %(by_rank)s, %(created_at)s)
        ON CONFLICT ON CONSTRAINT suspensions_address_unique DO UPDATE
        SET id = excluded.id, address = excluded.address, reason = excluded.reason, by_kind = excluded.by_kind,
            by_label = excluded.by_label, by_rank = excluded.by_rank, created_at = excluded.created_at
        """,
        {name: getattr(suspension, name) for name in Suspension.__slots__},
    )


async def delete(conn: Conn, address_key: str) -> None:
    """End the suspension of an address."""
    await conn.execute("DELETE FROM suspensions WHERE address_key = %(key)s", {"key": address_key})


async def find(conn: Conn, address_key: str) -> Suspension | None:
    """The suspension of an address."""
    cursor = await conn.execute(_SELECT + " WHERE s.address_key = %(key)s", {"key": address_key})
    return _suspension(await cursor.fetchone())


async def find_locked(conn: Conn, address_key: str) -> Suspension | None:
    """The suspension of an address; no other writer of this address goes on until the transaction ends."""
    await conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('mailkeep.suspension ' || %(key)s, 0))",
        {"key": address_key},
    )
    return await find(conn, address_key)


async def among(conn: Conn, address_keys: Collection[str]) -> set[str]:
    """Those of the addresses that are suspended."""
    cursor = await conn.execute(
        "SELECT s.address_key FROM suspensions s WHERE s.address_key = ANY(%(keys)s)",
        {"keys": list(address_keys)},
    )
    return {row["address_key"] for row in await cursor.fetchall()}


def _suspension(row: dict[str, Any] | None) -> Suspension | None:
    return Suspension(**row) if row else None
