"""Adding what was counted, and reading the sums."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.counters import Count
from mailkeep.features.record.metrics import store


async def flush(app: App) -> None:
    """Add what this process has counted; kept for the next time where the database is away."""
    counted = app.tally.take()
    if not counted:
        return
    try:
        async with app.db.autocommit() as conn:
            await store.add(conn, counted)
    except BaseException:
        app.tally.include(counted)
        raise


async def sums(app: App) -> list[Count]:
    """What all processes have counted and added."""
    async with app.db.autocommit() as conn:
        return await store.sums(conn)
