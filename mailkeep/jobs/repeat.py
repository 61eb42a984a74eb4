"""Repeating work in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from mailkeep.core.errors import Unavailable
from mailkeep.jobs import runs

log = structlog.get_logger("mailkeep.tasks")


async def repeat(seconds: float, task: str, work: Callable[[], Awaitable[object]]) -> None:
    """Call `work` until cancelled, with a pause of `seconds` after each call.

    An error is logged under the name `task` and does not end the loop; a missing database is logged once. Successes are
    noted (`jobs/runs`).
    """
    is_waiting = False
    runs.note(task, seconds)
    while True:
        try:
            await work()
            is_waiting = False
            runs.note(task, seconds)
        except Unavailable:
            if not is_waiting:
                log.warning("waiting for the database", task=task)
            is_waiting = True
        except Exception:
            log.exception("a background task failed; it is repeated", task=task)
        await asyncio.sleep(seconds)
