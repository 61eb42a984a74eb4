"""Limits on concurrent work, across the processes that share a memory: units that callers hold for a time."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mailkeep.core.errors import RateLimitExceeded
from mailkeep.core.shared_memory import SharedMemory, key_of

_POLL_SECONDS = 0.01  # how often a process looks for units that others have released
_PRIORITY = 1 << 62


class Budget:
    """`size` units. Callers that wait get theirs in order: first those with priority, then by arrival.

    Each process shares what it holds and the order of its first waiting caller. A caller gets its units only if no
    other process has an earlier one.
    """

    def __init__(self, size: int, memory: SharedMemory | None = None, name: str = "") -> None:
        """`name`: of all budgets in `memory`, those with this name are the same."""
        self._size, self._name = size, name
        self._waiting: list[tuple[int, int, int, asyncio.Future[None]]] = []
        self._sequence = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self.share(memory or SharedMemory())

    def share(self, memory: SharedMemory) -> None:
        """Count in this memory from now on; only before the first caller."""
        self._memory = memory
        self._held, self._first, self._queued = (key_of(f"{each} {self._name}") for each in ("held", "first", "queued"))

    @property
    def free(self) -> int:
        """Units that nobody holds."""
        return self._size - sum(self._memory.read(self._held))

    async def acquire(self, amount: int = 1, *, priority: bool = False, queue_size: int | None = None) -> None:
        """Hold `amount` units, at most the size. RATE_LIMIT_EXCEEDED if `queue_size` others wait, unless `priority`."""
        order = time.monotonic_ns() + (0 if priority else _PRIORITY)
        with self._memory:
            if not any(self._memory.read(self._first)) and amount <= self.free:
                self._memory.add(self._held, amount)
                return
            if not priority and queue_size is not None and sum(self._memory.read(self._queued)) >= queue_size:
                raise RateLimitExceeded("Too many requests are waiting; try again later.", retry_after=5)
            self._memory.add(self._queued, 0 if priority else 1)
        granted = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._sequence), amount, granted))
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.cancelled():
                self._grant()  # the next one may get its units now
            else:
                self.release(amount)  # granted just before the cancellation
            raise
        finally:
            with self._memory:
                self._memory.add(self._queued, 0 if priority else -1)

    def release(self, amount: int = 1) -> None:
        """Return units."""
        with self._memory:
            self._memory.add(self._held, -amount)
        if self._waiting:
            self._grant()

    def _grant(self) -> None:
        """Give their units to callers whose turn it is, and look again soon if some wait for other processes."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        with self._memory:
            while self._waiting:
                order, _, amount, granted = self._waiting[0]
                if not granted.done():
                    if amount > self.free or not self._is_first(order):
                        break
                    self._memory.add(self._held, amount)
                    granted.set_result(None)
                heapq.heappop(self._waiting)
            self._memory.write(self._first, self._waiting[0][0] if self._waiting else 0)
        if self._waiting and self._memory.processes > 1:
            self._timer = asyncio.get_running_loop().call_later(_POLL_SECONDS, self._grant)

    def _is_first(self, order: int) -> bool:
        firsts = self._memory.read(self._first)
        return all(not first or first >= order for slot, first in enumerate(firsts) if slot != self._memory.slot)


class ConcurrencyLimit:
    """At most `limit` callers run at a time. `queue_size` more wait, first in, first out; further callers are refused.

    A `priority` caller is never refused, and runs before all other waiting callers.
    """

    def __init__(self, limit: int, queue_size: int, memory: SharedMemory | None = None, name: str = "") -> None:
        self._budget = Budget(limit, memory, name)
        self._queue_size = queue_size
        self.share = self._budget.share

    @asynccontextmanager
    async def acquire(self, *, priority: bool = False) -> AsyncGenerator[None]:
        """Hold a slot while the block runs. Raises RATE_LIMIT_EXCEEDED if the queue is full."""
        await self._budget.acquire(priority=priority, queue_size=self._queue_size)
        try:
            yield
        finally:
            self._budget.release()
