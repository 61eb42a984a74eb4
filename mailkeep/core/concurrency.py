"""Taking turns at what is dear: a few at a time, a bounded queue, and a lane past it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mailkeep.core.errors import RateLimitExceeded


class ConcurrencyLimit:
    """At most `at_once` have their turn; `most_waiting` wait for one, in their order, and more are refused.

    Who comes `ahead` is never refused, and is let in before those who wait.
    """

    def __init__(self, limit: int, queue_size: int) -> None:
        self._free = limit
        self._queue_size = queue_size
        self._priority: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def acquire(self, *, priority: bool = False) -> AsyncGenerator[None]:
        """Have a turn for as long as the block lasts; RATE_LIMIT_EXCEEDED where too many wait for one."""
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
            raise RateLimitExceeded("Too many are waiting for this; try again later.", retry_after=5)
        queue = self._priority if priority else self._waiting
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
            else:
                self._release()  # the turn had come just when it was given up
            raise

    def _release(self) -> None:
        queue = self._priority or self._waiting
        while queue:
            turn = queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
            queue = self._priority or self._waiting
        self._free += 1
