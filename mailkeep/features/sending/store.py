"""What sending reads of other tables; it writes none of its own."""

from __future__ import annotations

from collections.abc import Collection

from mailkeep.db.pool import Conn
from mailkeep.features.sending.model import SenderDomain


async def sender_domains(conn: Conn, names: Collection[str]) -> dict[str, SenderDomain]:
    """The managed ones among these domains, by name."""
    cursor = await conn.execute(
        "SELECT id, name, active, sending_enabled FROM domains WHERE name = ANY(%(names)s)",
        {"names": list(names)},
    )
    return {row["name"]: SenderDomain(**row) for row in await cursor.fetchall()}
