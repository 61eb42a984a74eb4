"""Monthly partitions of the history: created ahead of time, dropped when they are old.

Both need a moment without readers. If a table is locked for longer (by a dump, for example), creating or dropping gives
up after 3 seconds, so that no query queues behind it, and the next call does it. Rows without a partition for their
month stay in the default partition until then.
"""

from __future__ import annotations

import logging
from datetime import datetime

from psycopg.errors import LockNotAvailable

from mailkeep.db.pool import Conn

log = logging.getLogger("mailkeep.db")


async def ensure_partitions(conn: Conn, at: datetime) -> None:
    """Create the missing partitions for the month of `at` and the next month."""
    try:
        async with conn.transaction():
            await conn.execute("SELECT ensure_partitions(%(at)s)", {"at": at})
    except LockNotAvailable:
        log.info("new partitions could not be created, because the tables are in use; the next run creates them")


async def confirm_prune_time(conn: Conn, table: str, at: datetime) -> datetime | None:
    """Check the clock before rows are pruned. Return the time up to which it is confirmed, None if it is not.

    That is the time of the first of two checks that were a day apart: a clock that is ahead for some hours prunes
    nothing. A clock more than 35 days ahead of the newest row of `table` (messages, events or audit_entries) is never
    confirmed.
    """
    cursor = await conn.execute("SELECT confirm_prune_time(%(table)s, %(at)s) AS at", {"table": table, "at": at})
    row = await cursor.fetchone()
    return row["at"] if row else None


async def drop_partitions(
    conn: Conn, at: datetime, *, messages_before: datetime | None, events_before: datetime | None
) -> int:
    """Drop the months of messages and of events that ended before a time (None: none). Return how many partitions.

    Older rows in the default partitions are deleted. Nothing is dropped from a table whose newest row is more than 35
    days before `at`.
    """
    try:
        async with conn.transaction():
            cursor = await conn.execute(
                "SELECT drop_partitions(%(at)s, %(messages_before)s, %(events_before)s) AS dropped",
                {"at": at, "messages_before": messages_before, "events_before": events_before},
            )
            row = await cursor.fetchone()
    except LockNotAvailable:
        log.info("old partitions could not be dropped, because the tables are in use; the next run drops them")
        return 0
    return row["dropped"] if row else 0
