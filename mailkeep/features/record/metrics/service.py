"""Adds the counters of a process to the stored sums, and reads the sums."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.counters import Count
from mailkeep.features.record.metrics import store


async def flush(app: App) -> None:
    """Add the counters of this process to the sums; if that fails, they are kept for the next call."""
    counts = app.counters.drain()
    if not counts:
        return
    try:
        async with app.db.autocommit() as conn:
            await store.add(conn, counts)
    except BaseException:
        app.counters.include(counts)
        raise


async def read_sums(app: App) -> list[Count]:
    """The stored sums over all processes."""
    async with app.db.autocommit() as conn:
        return await store.read_sums(conn)
