"""The months of the history: partitions are made ahead of time."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn


async def ensure_partitions(conn: Conn, at: datetime) -> None:
    """Make the partitions for the month of `at` and the next, where they are missing."""
    await conn.execute("SELECT ensure_partitions(%(at)s)", {"at": at})
