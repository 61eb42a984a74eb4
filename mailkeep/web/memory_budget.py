"""A limit on the memory of all request bodies together, granted in the order of the requests.

A body of up to `SMALL` bytes needs no reservation. A larger one reserves all that it may need at once, before it is
read: no request waits while it has a reservation, so there is no deadlock.
"""

from __future__ import annotations

import asyncio
from collections import deque

from mailkeep.core.errors import Unavailable

SMALL = 64 << 10


class MemoryBudget:
    """`size` bytes; a reservation that is not granted within `wait_seconds` is refused with UNAVAILABLE."""

    def __init__(self, size: int, wait_seconds: float = 10.0) -> None:
        self._size = self._free = size
        self._wait_seconds = wait_seconds
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def free(self) -> int:
        """Bytes that are not reserved."""
        return self._free

    async def acquire(self, requested: int) -> int:
        """Wait for `requested` bytes, or for the whole budget if that is less; returns how many are reserved."""
        requested = min(requested, self._size)
        if requested <= self._free and not self._waiting:
            self._free -= requested
            return requested
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((requested, granted))
        try:
            async with asyncio.timeout(self._wait_seconds):
                await granted
        except (TimeoutError, asyncio.CancelledError) as stopped:
            if granted.cancelled():
                self._grant()  # a smaller request behind this one may fit now
            else:
                self.release(requested)  # granted and cancelled at the same time
            if isinstance(stopped, TimeoutError):
                raise Unavailable(
                    "Too many large requests at the same time; try again later.", retry_after=5
                ) from stopped
            raise
        return requested

    def release(self, size: int) -> None:
        """Return bytes to the budget."""
        self._free += size
        self._grant()

    def _grant(self) -> None:
        while self._waiting:
            requested, granted = self._waiting[0]
            if not granted.done():
                if requested > self._free:
                    return
                self._free -= requested
                granted.set_result(None)
            self._waiting.popleft()


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
