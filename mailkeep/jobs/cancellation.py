"""Cancelling tasks that run forever."""

from __future__ import annotations

import asyncio
from typing import Any


async def cancel_all(*tasks: asyncio.Task[Any], retry_seconds: float = 2.0) -> None:
    """Cancel tasks and wait until they have ended. Tasks that still run after `retry_seconds` are cancelled again.

    Before Python 3.12 `asyncio.wait_for` loses a cancellation that arrives in the same moment as the result.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=retry_seconds)
