"""Batched writes: items that arrive during a write form the next batch."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Sequence

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.jobs.batches import BatchWriter


async def test_items_that_arrive_during_a_write_form_the_next_batch():
    batches: list[list[int]] = []
    may_finish = asyncio.Event()

    async def write(items: Sequence[int]) -> list[int]:
        batches.append(list(items))
        await may_finish.wait()
        return [10 * item for item in items]

    writer = BatchWriter(write)
    waiting = [asyncio.create_task(writer.add(1))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting += [asyncio.create_task(writer.add(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    assert batches == [[1]]
    assert not any(task.done() for task in waiting)
    may_finish.set()
    assert await asyncio.gather(*waiting) == [10, 20, 30]
    assert batches == [[1], [2, 3]]


async def test_a_batch_is_limited_to_max_batch():
    batches: list[list[int]] = []

    async def write(items: Sequence[int]) -> Sequence[int]:
        batches.append(list(items))
        return items

    writer = BatchWriter(write, max_batch=2)
    await asyncio.gather(*(writer.add(number) for number in range(5)))
    assert batches == [[0, 1], [2, 3], [4]]


async def test_a_failed_write_fails_only_its_own_batch():
    async def write(items: Sequence[int]) -> Sequence[int]:
        if 1 in items:
            raise ValueError("one")
        return items

    writer = BatchWriter(write, max_batch=2)
    results = await asyncio.gather(*(writer.add(number) for number in (1, 2, 3)), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError, int]
    await writer.add(4)


async def test_a_cancelled_item_is_not_written():
    written: list[int] = []
    may_finish = asyncio.Event()

    async def write(items: Sequence[int]) -> Sequence[int]:
        written.extend(items)
        await may_finish.wait()
        return items

    writer = BatchWriter(write)
    first, second = asyncio.create_task(writer.add(1)), asyncio.create_task(writer.add(2))
    while written != [1, 2]:
        await asyncio.sleep(0)
    third = asyncio.create_task(writer.add(3))
    await asyncio.sleep(0.01)
    third.cancel()
    may_finish.set()
    await asyncio.gather(first, second)
    with pytest.raises(asyncio.CancelledError):
        await third
    await writer.add(4)
    assert written == [1, 2, 4]


async def test_a_failed_batch_is_retried_singly_unless_unavailable():
    batches: list[list[int]] = []
    unavailable = False

    async def write(items: Sequence[int]) -> Sequence[int]:
        batches.append(list(items))
        if unavailable:
            raise Unavailable
        if 2 in items:
            raise ValueError("two")
        return items

    writer = BatchWriter(write, retry_singly=True)
    results = await asyncio.gather(*(writer.add(number) for number in (1, 2, 3)), return_exceptions=True)
    assert [1, ValueError, 3] == [type(result) if isinstance(result, Exception) else result for result in results]
    assert batches == [[1, 2, 3], [1], [2], [3]]
    batches.clear()
    unavailable = True
    results = await asyncio.gather(*(writer.add(number) for number in (1, 2)), return_exceptions=True)
    assert [type(result) for result in results] == [Unavailable, Unavailable]
    assert batches == [[1, 2]]


class FakeClockSelector(selectors.DefaultSelector):
    """A selector with a fake clock: it skips over the time in which the loop is idle."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events:
            self.now += timeout or 0
        return events


def test_min_interval_delays_only_items_soon_after_a_batch():
    batches: list[list[int]] = []
    started_at: list[float] = []
    selector = FakeClockSelector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now

    async def write(items: Sequence[int]) -> Sequence[int]:
        batches.append(list(items))
        started_at.append(loop.time())
        return items

    async def scenario() -> float:
        writer = BatchWriter(write, min_interval=0.2)
        await writer.add(1)
        soon = [asyncio.create_task(writer.add(2))]
        await asyncio.sleep(0.05)
        soon.append(asyncio.create_task(writer.add(3)))
        await asyncio.gather(*soon)
        await asyncio.sleep(0.25)
        later = loop.time()
        await writer.add(4)
        return later

    try:
        later = loop.run_until_complete(scenario())
    finally:
        loop.close()
    assert batches == [[1], [2, 3], [4]]
    assert started_at == pytest.approx([0, 0.2, later], abs=0.01)
