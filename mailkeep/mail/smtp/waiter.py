"""Waiting of one coroutine on a connection, until it is woken or a deadline passes."""

from __future__ import annotations

import asyncio


class Waiter:
    """One timer serves all waits of a connection: it is moved only when it fires early."""

    __slots__ = ("_deadline", "_future", "_loop", "_timer")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, deadline: float) -> None:
        """Wait until `wake`. Raises TimeoutError at `deadline` (event loop time)."""
        self._deadline = deadline
        if self._timer is None or self._timer.when() > deadline:
            self.stop_timer()
            self._timer = self._loop.call_at(deadline, self._tick)
        self._future = self._loop.create_future()
        try:
            await self._future
        finally:
            self._future = None

    def wake(self) -> None:
        """Wake the waiting coroutine, if there is one."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def stop_timer(self) -> None:
        """Stop the timer, when the connection has ended."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        if self._future is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._tick)
        elif not self._future.done():
            self._future.set_exception(TimeoutError())
