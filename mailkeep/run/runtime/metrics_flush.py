"""Adds the counters of a process to the sums in the database, every five seconds, and writes when its background jobs
succeeded, every half minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.job_runs import service as job_runs
from mailkeep.features.record.metrics import service as counters
from mailkeep.jobs.cancellation import cancel_all

log = structlog.get_logger("mailkeep.metrics")

_FLUSH_SECONDS = 5.0
_RUNS_EVERY = 6  # of the flushes


@contextlib.asynccontextmanager
async def flush_counters(app: App) -> AsyncGenerator[None]:
    """Add this process's counters to the sums while the block lasts, and at its end."""
    task = asyncio.create_task(_run(app))
    try:
        yield
    finally:
        await cancel_all(task)
        with contextlib.suppress(Unavailable):
            await counters.flush(app)
            await job_runs.forget(app)


async def _run(app: App) -> None:
    for number in itertools.count():
        await asyncio.sleep(_FLUSH_SECONDS)
        try:
            await counters.flush(app)
            if number % _RUNS_EVERY == 0:
                await job_runs.flush(app)
        except Unavailable:
            continue  # other tasks log the outage
        except Exception:
            log.exception("the counters were not added to the sums")
