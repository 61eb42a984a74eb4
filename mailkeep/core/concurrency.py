"""Taking turns at what is dear: a few at a time, a bounded queue, and a lane past it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mailkeep.core.errors import RateLimitExceeded


class Turns:
    """At most `at_once` have their turn; `most_waiting` wait for one, in their order, and more are refused.

    Who comes `ahead` is never refused, and is let in before those who wait.
    """

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._free = at_once
        self._most_waiting = most_waiting
        self._ahead: deque[asyncio.Future[None]] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def take(self, *, ahead: bool = False) -> AsyncGenerator[None]:
        """Have a turn for as long as the block lasts; RATE_LIMIT_EXCEEDED where too many wait for one."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._wait(ahead)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, ahead: bool) -> None:
        if not ahead and len(self._waiting) >= self._most_waiting:
            raise RateLimitExceeded("Too many are waiting for this; try again later.", retry_after=5)
        queue = self._ahead if ahead else self._waiting
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
            else:
                self._pass_on()  # the turn had come just when it was given up
            raise

    def _pass_on(self) -> None:
        queue = self._ahead or self._waiting
        while queue:
            turn = queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
            queue = self._ahead or self._waiting
        self._free += 1
