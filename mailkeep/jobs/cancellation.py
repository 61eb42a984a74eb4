"""The end of tasks that run until they are cancelled."""

from __future__ import annotations

import asyncio
from typing import Any


async def cancel_all(*tasks: asyncio.Task[Any], retry_seconds: float = 2.0) -> None:
    """Cancel tasks, and wait until they have ended; who has not after `again` seconds is cancelled once more.

    Before Python 3.12 a cancellation is lost on a task that has waited for a connection (`asyncio.wait_for`) and gets
    it in the same moment.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=retry_seconds)
