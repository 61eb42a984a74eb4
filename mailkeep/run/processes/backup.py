"""The process `backup`: makes, verifies, restores and removes backups, one operation at a time
(`features/operations/backups`). In the full profile it runs as root, because it reads the files of all accounts.
"""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.features.operations.backups import jobs
from mailkeep.features.operations.restores import service as restores
from mailkeep.run.runtime.process import Process


async def serve(app: App, process: Process) -> None:
    """Perform operations until asked to stop."""
    async with jobs.working(app, {**jobs.HANDLERS, **restores.HANDLERS}):
        process.report_ready()
        await process.stop_requested.wait()
