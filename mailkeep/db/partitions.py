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


async def confirm_prune_time(conn: Conn, table: str, at: datetime) -> datetime | None:
    """Check the clock before something is pruned: the time by which it may be, None while there is none.

    It is that of the first of two checks that were a day apart, so that whatever a clock says that is ahead for some
    hours prunes nothing. A clock that is more than 35 days ahead of the newest row of `table` (messages, events or
    audit_entries) is not believed at all.
    """
    cursor = await conn.execute("SELECT confirm_prune_time(%(table)s, %(at)s) AS at", {"table": table, "at": at})
    row = await cursor.fetchone()
    return row["at"] if row else None


async def drop_partitions(
    conn: Conn, at: datetime, *, messages_before: datetime | None, events_before: datetime | None
) -> int:
    """Drop the months of the history, and those of events, that ended before an instant (None: none); how many tables.

    What is older in the default partitions is deleted. Nothing goes where `at` is more than 35 days after the newest
    row.
    """
    try:
        async with conn.transaction():
            cursor = await conn.execute(
                "SELECT drop_partitions(%(at)s, %(messages_before)s, %(events_before)s) AS dropped",
                {"at": at, "messages_before": messages_before, "events_before": events_before},
            )
            row = await cursor.fetchone()
    except LockNotAvailable:
        log.info("old months stay for now: the history is being read")
        return 0
    return row["dropped"] if row else 0
