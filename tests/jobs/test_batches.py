"""What comes at the same time is written together."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Sequence

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.jobs.batches import BatchWriter


async def test_what_comes_during_a_write_is_the_next_group():
    groups: list[list[int]] = []
    going_on = asyncio.Event()

    async def write(items: Sequence[int]) -> list[int]:
        groups.append(list(items))
        await going_on.wait()
        return [10 * item for item in items]

    grouped = BatchWriter(write)
    waiting = [asyncio.create_task(grouped.add(1))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting += [asyncio.create_task(grouped.add(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    assert groups == [[1]]
    assert not any(task.done() for task in waiting)
    going_on.set()
    assert await asyncio.gather(*waiting) == [10, 20, 30]
    assert groups == [[1], [2, 3]]


async def test_a_group_has_at_most_so_many():
    groups: list[list[int]] = []

    async def write(items: Sequence[int]) -> Sequence[int]:
        groups.append(list(items))
        return items

    grouped = BatchWriter(write, max_batch=2)
    await asyncio.gather(*(grouped.add(number) for number in range(5)))
    assert groups == [[0, 1], [2, 3], [4]]


async def test_a_failed_write_fails_its_group_and_no_other():
    async def write(items: Sequence[int]) -> Sequence[int]:
        if 1 in items:
            raise ValueError("one")
        return items

    grouped = BatchWriter(write, max_batch=2)
    told = await asyncio.gather(*(grouped.add(number) for number in (1, 2, 3)), return_exceptions=True)
    assert [type(each) for each in told] == [ValueError, ValueError, int]
    await grouped.add(4)


async def test_who_gives_up_waiting_is_left_out():
    written: list[int] = []
    going_on = asyncio.Event()

    async def write(items: Sequence[int]) -> Sequence[int]:
        written.extend(items)
        await going_on.wait()
        return items

    grouped = BatchWriter(write)
    first, second = asyncio.create_task(grouped.add(1)), asyncio.create_task(grouped.add(2))
    while written != [1, 2]:
        await asyncio.sleep(0)
    third = asyncio.create_task(grouped.add(3))
    await asyncio.sleep(0.01)
    third.cancel()
    going_on.set()
    await asyncio.gather(first, second)
    with pytest.raises(asyncio.CancelledError):
        await third
    await grouped.add(4)
    assert written == [1, 2, 4]


async def test_what_fails_together_is_written_apart_unless_the_database_is_away():
    groups: list[list[int]] = []
    away = False

    async def write(items: Sequence[int]) -> Sequence[int]:
        groups.append(list(items))
        if away:
            raise Unavailable
        if 2 in items:
            raise ValueError("two")
        return items

    grouped = BatchWriter(write, retry_singly=True)
    told = await asyncio.gather(*(grouped.add(number) for number in (1, 2, 3)), return_exceptions=True)
    assert [1, ValueError, 3] == [type(each) if isinstance(each, Exception) else each for each in told]
    assert groups == [[1, 2, 3], [1], [2], [3]]
    groups.clear()
    away = True
    told = await asyncio.gather(*(grouped.add(number) for number in (1, 2)), return_exceptions=True)
    assert [type(each) for each in told] == [Unavailable, Unavailable]
    assert groups == [[1, 2]]


class Patient(selectors.DefaultSelector):
    """The clock of a loop whose time passes only while nothing is to be done, and then at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found:
            self.now += timeout or 0
        return found


def test_who_comes_soon_after_a_group_waits_for_company_and_who_comes_alone_does_not():
    groups: list[list[int]] = []
    begun: list[float] = []
    patient = Patient()
    loop = asyncio.SelectorEventLoop(patient)
    loop.time = lambda: patient.now

    async def write(items: Sequence[int]) -> Sequence[int]:
        groups.append(list(items))
        begun.append(loop.time())
        return items

    async def come() -> float:
        grouped = BatchWriter(write, min_interval=0.2)
        await grouped.add(1)
        soon = [asyncio.create_task(grouped.add(2))]
        await asyncio.sleep(0.05)
        soon.append(asyncio.create_task(grouped.add(3)))
        await asyncio.gather(*soon)
        await asyncio.sleep(0.25)
        later = loop.time()
        await grouped.add(4)
        return later

    try:
        later = loop.run_until_complete(come())
    finally:
        loop.close()
    assert groups == [[1], [2, 3], [4]]
    assert begun == pytest.approx([0, 0.2, later], abs=0.01)
