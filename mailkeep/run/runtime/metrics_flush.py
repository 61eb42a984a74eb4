"""What a process counts is added to the sums, as long as it lives. Beside other tasks: small processes have it too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.metrics import service as tallies
from mailkeep.jobs.ending import end

log = structlog.get_logger("mailkeep.tallies")

_SECONDS = 5.0


@contextlib.asynccontextmanager
async def tallying(app: App) -> AsyncGenerator[None]:
    """Add what this process counts every five seconds for as long as the block lasts, and what is left at its end."""
    task = asyncio.create_task(_run(app))
    try:
        yield
    finally:
        await end(task)
        with contextlib.suppress(Unavailable):
            await tallies.flush(app)


async def _run(app: App) -> None:
    while True:
        await asyncio.sleep(_SECONDS)
        try:
            await tallies.flush(app)
        except Unavailable:
            continue  # who works with the database says so
        except Exception:
            log.exception("what was counted was not added")
