"""Writing together what comes at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from mailkeep.core.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R")


class Grouped(Generic[T, R]):
    """One write at a time, of all that has come by then: nobody waits for company, a busy disk makes groups larger."""

    def __init__(
        self,
        write: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        most: int = 500,
        *,
        pace: float = 0.0,
        apart: bool = False,
    ) -> None:
        """`write` answers a result for each item, in order. `pace`: seconds at least from the begin of a group to that
        of the next, so that company comes where much does; who comes alone does not wait. `apart`: what fails together
        is written one by one, unless the database is away.
        """
        self._write = write
        self._most = most
        self._pace = pace
        self._apart = apart
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._next = 0.0

    async def put(self, item: T) -> R:
        """What came of the item, when it is written; raise what its write raised."""
        written: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        return await written

    async def _write_all(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._waiting:
                if (early := self._next - clock()) > 0:
                    await asyncio.sleep(early)
                self._next = clock() + self._pace
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._write_group([each for each in group if not each[1].cancelled()])
        finally:
            self._writing = None

    async def _write_group(self, group: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        if not group:
            return
        try:
            results = await self._write([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - it is theirs who wait
            if self._apart and len(group) > 1 and not isinstance(error, Unavailable):
                for each in group:
                    await self._write_group([each])
                return
            for _, written in group:
                if not written.done():
                    written.set_exception(error)
        else:
            for (_, written), result in zip(group, results, strict=True):
                if not written.done():
                    written.set_result(result)
