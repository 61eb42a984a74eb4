"""The SQL of metrics."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.counters import Count
from mailkeep.db.pool import Conn


async def add(conn: Conn, counts: Sequence[Count]) -> None:
    """Add counts to the sums, in one order: processes that lock the same rows in different orders would deadlock."""
    rows = [{"name": name, "labels": labels, "count": count} for (name, labels), count in counts]
    await conn.execute(
        """
        INSERT INTO counters AS t (name, labels, count)
        SELECT c.name, c.labels, c.count
        FROM jsonb_to_recordset(%(counts)s) AS c(name text, labels text[], count bigint)
        ORDER BY c.name, c.labels
        ON CONFLICT (name, labels) DO UPDATE SET count = t.count + excluded.count
        """,
        {"counts": Jsonb(rows, dumps=msgspec.json.encode)},
    )


async def read_sums(conn: Conn) -> list[Count]:
    """All sums."""
    cursor = await conn.execute("SELECT name, labels, count FROM counters ORDER BY name, labels")
    return [((row["name"], tuple(row["labels"])), row["count"]) for row in await cursor.fetchall()]
