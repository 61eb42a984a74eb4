"""A limit on the memory of all request bodies together, of all processes, granted in the order of the requests.

A body of up to `SMALL` bytes needs no reservation. A larger one reserves all that it may need at once, before it is
read: no request waits while it has a reservation, so there is no deadlock.
"""

from __future__ import annotations

import asyncio

from mailkeep.core.concurrency import Budget
from mailkeep.core.errors import Unavailable
from mailkeep.core.shared_memory import SharedMemory

SMALL = 64 << 10


class MemoryBudget:
    """`size` bytes; a reservation that is not granted within `wait_seconds` is refused with UNAVAILABLE."""

    def __init__(
        self, size: int, wait_seconds: float = 10.0, memory: SharedMemory | None = None, name: str = ""
    ) -> None:
        self._size = size
        self._wait_seconds = wait_seconds
        self._budget = Budget(size, memory, name)
        self.release = self._budget.release

    @property
    def free(self) -> int:
        """Bytes that are not reserved."""
        return self._budget.free

    async def acquire(self, requested: int) -> int:
        """Wait for `requested` bytes, or for the whole budget if that is less; returns how many are reserved."""
        requested = min(requested, self._size)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._budget.acquire(requested)
        except TimeoutError as stopped:
            raise Unavailable("Too many large requests at the same time; try again later.", retry_after=5) from stopped
        return requested


class MemoryReservation:
    """The bytes of a budget that one request has reserved; 0 at first."""

    __slots__ = ("_budget", "_reserved")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._reserved = 0

    def use_budget(self, budget: MemoryBudget) -> None:
        """Reserve from another budget; only before the first reservation."""
        assert self._reserved == 0
        self._budget = budget

    async def reserve(self, size: int) -> None:
        """Reserve memory for a body of at most `size` bytes; called once."""
        if size > SMALL:
            self._reserved = await self._budget.acquire(size)

    def shrink(self, size: int) -> None:
        """Keep at most `size` bytes."""
        if size < self._reserved:
            self._budget.release(self._reserved - size)
            self._reserved = size

    def release(self) -> None:
        """Return the whole reservation."""
        self.shrink(0)
