"""The process `backup`: makes, verifies, restores and removes backups, one operation at a time
(`features/operations/backups`), and stores the write-ahead log (`features/operations/wal_archive`). In the full profile
it runs as root, because it reads the files of all accounts.
"""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.features.operations.backups import jobs
from mailkeep.features.operations.restores import service as restores
from mailkeep.features.operations.wal_archive import jobs as wal_archive
from mailkeep.run.runtime.process import Process


async def serve(app: App, process: Process) -> None:
    """Perform operations until asked to stop."""
    async with jobs.working(app, {**jobs.HANDLERS, **restores.HANDLERS}), wal_archive.archiving(app):
        process.report_ready()
        await process.stop_requested.wait()
