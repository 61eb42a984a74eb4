"""The months of the history: partitions are made ahead of time, and dropped when they are old.

Both need a moment without readers. Where somebody holds a table for longer (a dump, say), they give up after some
seconds, so that nobody waits behind them, and leave it to the next call: rows without a partition of their month
wait in the default one.
"""

from __future__ import annotations

import logging
from datetime import datetime

from psycopg.errors import LockNotAvailable

from mailkeep.db.pool import Conn

log = logging.getLogger("mailkeep.db")


async def ensure_partitions(conn: Conn, at: datetime) -> None:
    """Make the partitions for the month of `at` and the next, where they are missing."""
    try:
        async with conn.transaction():
            await conn.execute("SELECT ensure_partitions(%(at)s)", {"at": at})
    except LockNotAvailable:
        log.info("months are made later: the history is being read")


async def drop_partitions(conn: Conn, *, messages_before: datetime, events_before: datetime) -> int:
    """Drop the months of the history, and those of events, that ended before an instant; how many tables that were.

    What is older in the default partitions is deleted.
    """
    try:
        async with conn.transaction():
            cursor = await conn.execute(
                "SELECT drop_partitions(%(messages_before)s, %(events_before)s) AS dropped",
                {"messages_before": messages_before, "events_before": events_before},
            )
            row = await cursor.fetchone()
    except LockNotAvailable:
        log.info("old months stay for now: the history is being read")
        return 0
    return row["dropped"] if row else 0
