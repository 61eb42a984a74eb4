"""A limit on concurrent work, with a bounded queue and priority callers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mailkeep.core.errors import RateLimitExceeded


class ConcurrencyLimit:
    """At most `limit` callers run at a time. `queue_size` more wait, first in, first out; further callers are refused.

    A `priority` caller is never refused, and runs before all other waiting callers.
    """

    def __init__(self, limit: int, queue_size: int) -> None:
        self._free = limit
        self._queue_size = queue_size
        self._priority: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def acquire(self, *, priority: bool = False) -> AsyncGenerator[None]:
        """Hold a slot while the block runs. Raises RATE_LIMIT_EXCEEDED if the queue is full."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(priority)
        try:
            yield
        finally:
            self._release()

    async def _wait(self, priority: bool) -> None:
        if not priority and len(self._waiting) >= self._queue_size:
            raise RateLimitExceeded("Too many requests are waiting; try again later.", retry_after=5)
        queue = self._priority if priority else self._waiting
        slot = asyncio.get_running_loop().create_future()
        queue.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.cancelled():
                queue.remove(slot)
            else:
                self._release()  # the slot was granted just before the cancellation
            raise

    def _release(self) -> None:
        queue = self._priority or self._waiting
        while queue:
            slot = queue.popleft()
            if not slot.done():
                slot.set_result(None)
                return
            queue = self._priority or self._waiting
        self._free += 1
