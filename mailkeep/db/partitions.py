"""The months of the history: partitions are made ahead of time."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn


async def ensure_partitions(conn: Conn, at: datetime) -> None:
    """Make the partitions for the month of `at` and the next, where they are missing."""
    await conn.execute("SELECT ensure_partitions(%(at)s)", {"at": at})


async def drop_partitions(conn: Conn, *, messages_before: datetime, events_before: datetime) -> int:
    """Drop the months of the history, and those of events, that ended before an instant; how many tables that were.

    What is older in the default partitions is deleted. psycopg's LockNotAvailable while somebody reads a month: it
    is to be called again later.
    """
    cursor = await conn.execute(
        "SELECT drop_partitions(%(messages_before)s, %(events_before)s) AS dropped",
        {"messages_before": messages_before, "events_before": events_before},
    )
    row = await cursor.fetchone()
    return row["dropped"] if row else 0
