"""Write and read when background jobs last succeeded."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.db.pool import Conn
from mailkeep.features.record.job_runs import store
from mailkeep.jobs import runs
from mailkeep.jobs.runs import JobRun


async def flush(app: App) -> None:
    """Write the runs of this process. UNAVAILABLE."""
    if found := runs.list_runs(app.clock()):
        async with app.db.autocommit() as conn:
            await store.save(conn, found)


async def forget(app: App) -> None:
    """Delete the runs of this process, which ends: its settings may have switched it off. Another process with the same
    jobs writes them again. UNAVAILABLE.
    """
    if found := runs.list_runs(app.clock()):
        async with app.db.autocommit() as conn:
            await store.delete(conn, [each.job for each in found])


async def list_all(conn: Conn) -> list[JobRun]:
    """The jobs of all processes since the instance was started, by name."""
    return await store.list_all(conn)


async def begin(conn: Conn) -> None:
    """Forget what earlier starts of the instance have run."""
    await store.delete_all(conn)
