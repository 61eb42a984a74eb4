"""Writing together what comes at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Grouped(Generic[T]):
    """One write at a time, of all that has come by then: nobody waits for company, a busy disk makes groups larger."""

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[None]], most: int = 500) -> None:
        self._write = write
        self._most = most
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def put(self, item: T) -> None:
        """Return when the item is written; raise what its write raised."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await written

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._write_one([each for each in group if not each[1].cancelled()])
        finally:
            self._writing = None

    async def _write_one(self, group: Sequence[tuple[T, asyncio.Future[None]]]) -> None:
        try:
            await self._write([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - it is theirs who wait
            for _, written in group:
                if not written.done():
                    written.set_exception(error)
        else:
            for _, written in group:
                if not written.done():
                    written.set_result(None)
