"""What comes at the same time is written together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from mailkeep.jobs.grouped import Grouped


async def test_what_comes_during_a_write_is_the_next_group():
    groups: list[list[int]] = []
    going_on = asyncio.Event()

    async def write(items: Sequence[int]) -> None:
        groups.append(list(items))
        await going_on.wait()

    grouped = Grouped(write)
    waiting = [asyncio.create_task(grouped.put(1))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting += [asyncio.create_task(grouped.put(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    assert groups == [[1]]
    assert not any(task.done() for task in waiting)
    going_on.set()
    await asyncio.gather(*waiting)
    assert groups == [[1], [2, 3]]


async def test_a_group_has_at_most_so_many():
    groups: list[list[int]] = []

    async def write(items: Sequence[int]) -> None:
        groups.append(list(items))

    grouped = Grouped(write, most=2)
    await asyncio.gather(*(grouped.put(number) for number in range(5)))
    assert groups == [[0, 1], [2, 3], [4]]


async def test_a_failed_write_fails_its_group_and_no_other():
    async def write(items: Sequence[int]) -> None:
        if 1 in items:
            raise ValueError("one")

    grouped = Grouped(write, most=2)
    told = await asyncio.gather(*(grouped.put(number) for number in (1, 2, 3)), return_exceptions=True)
    assert [type(each) for each in told] == [ValueError, ValueError, type(None)]
    await grouped.put(4)


async def test_who_gives_up_waiting_is_left_out():
    written: list[int] = []
    going_on = asyncio.Event()

    async def write(items: Sequence[int]) -> None:
        written.extend(items)
        await going_on.wait()

    grouped = Grouped(write)
    first, second = asyncio.create_task(grouped.put(1)), asyncio.create_task(grouped.put(2))
    await asyncio.sleep(0.01)
    third = asyncio.create_task(grouped.put(3))
    await asyncio.sleep(0.01)
    third.cancel()
    going_on.set()
    await asyncio.gather(first, second)
    with pytest.raises(asyncio.CancelledError):
        await third
    await grouped.put(4)
    assert written == [1, 2, 4]
