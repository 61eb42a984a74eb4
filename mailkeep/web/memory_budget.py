"""Memory for the bodies of requests: one bound over all of them, given out in the order of asking.

A body of up to `SMALL` bytes asks for nothing. Any other asks once, before it is read, for all that it may come to
need: nobody who holds a part waits for more, so that no two can wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque

from mailkeep.core.errors import Unavailable

SMALL = 64 << 10


class MemoryBudget:
    """`size` bytes; who can't have its part within `patience` seconds is refused with UNAVAILABLE."""

    def __init__(self, size: int, patience: float = 10.0) -> None:
        self._size = self._free = size
        self._patience = patience
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def free(self) -> int:
        """Bytes that nobody holds."""
        return self._free

    async def acquire(self, wanted: int) -> int:
        """Wait for that many bytes, or for all there are where more is wanted; how many are now the caller's."""
        wanted = min(wanted, self._size)
        if wanted <= self._free and not self._waiting:
            self._free -= wanted
            return wanted
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, turn))
        try:
            async with asyncio.timeout(self._patience):
                await turn
        except (TimeoutError, asyncio.CancelledError) as given_up:
            if turn.cancelled():
                self._pass_on()  # those behind may find room where this one did not
            else:
                self.release(wanted)  # the turn had come just when it was given up
            if isinstance(given_up, TimeoutError):
                raise Unavailable("Too many large bodies are under way; try again later.", retry_after=5) from given_up
            raise
        return wanted

    def release(self, size: int) -> None:
        """Let others have what was taken."""
        self._free += size
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.done():
                if wanted > self._free:
                    return
                self._free -= wanted
                turn.set_result(None)
            self._waiting.popleft()


class MemoryReservation:
    """What one request holds of a budget: nothing, until it is asked for."""

    __slots__ = ("_budget", "_held")

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._held = 0

    def use_budget(self, budget: MemoryBudget) -> None:
        """Draw on another budget, before anything is asked for."""
        assert self._held == 0
        self._budget = budget

    async def reserve(self, size: int) -> None:
        """Have room for a body of at most `size` bytes; asked once."""
        if size > SMALL:
            self._held = await self._budget.acquire(size)

    def shrink(self, size: int) -> None:
        """Keep no more than `size` bytes."""
        if size < self._held:
            self._budget.release(self._held - size)
            self._held = size

    def release(self) -> None:
        """Give back all of it."""
        self.shrink(0)
