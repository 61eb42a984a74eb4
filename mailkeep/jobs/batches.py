"""Batched writes (group commit)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from mailkeep.core.errors import Unavailable

T = TypeVar("T")
R = TypeVar("R")


class BatchWriter(Generic[T, R]):
    """One write at a time, with all items that have arrived by then. A single item does not wait for others."""

    def __init__(
        self,
        write: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        max_batch: int = 500,
        *,
        min_interval: float = 0.0,
        retry_singly: bool = False,
    ) -> None:
        """`write` returns a result per item, in order. `min_interval`: seconds between the starts of two batches, which
        makes batches larger under load. `retry_singly`: after a failed batch each item is written alone, unless the
        database is unavailable.
        """
        self._write = write
        self._max_batch = max_batch
        self._min_interval = min_interval
        self._retry_singly = retry_singly
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._next = 0.0

    async def add(self, item: T) -> R:
        """Write an item and return its result. Raises what `write` raised."""
        written: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        return await written

    async def _write_all(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while self._waiting:
                if (delay := self._next - clock()) > 0:
                    await asyncio.sleep(delay)
                self._next = clock() + self._min_interval
                batch, self._waiting = self._waiting[: self._max_batch], self._waiting[self._max_batch :]
                await self._write_batch([each for each in batch if not each[1].cancelled()])
        finally:
            self._writing = None

    async def _write_batch(self, batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        if not batch:
            return
        try:
            results = await self._write([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 - the waiting callers handle it
            if self._retry_singly and len(batch) > 1 and not isinstance(error, Unavailable):
                for each in batch:
                    await self._write_batch([each])
                return
            for _, written in batch:
                if not written.done():
                    written.set_exception(error)
        else:
            for (_, written), result in zip(batch, results, strict=True):
                if not written.done():
                    written.set_result(result)
