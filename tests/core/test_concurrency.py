import asyncio

import pytest

from mailkeep.core.concurrency import ConcurrencyLimit
from mailkeep.core.errors import RateLimitExceeded


class TaskGroup:
    """Tasks that each hold one slot until `finish`."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self.limit = limit
        self.running: list[str] = []
        self.finished: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, *, priority: bool = False) -> None:
        self.finished[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._run(name, priority))
        await asyncio.sleep(0)

    async def _run(self, name: str, priority: bool) -> None:
        async with self.limit.acquire(priority=priority):
            self.running.append(name)
            await self.finished[name].wait()
            self.running.remove(name)

    async def finish(self, name: str) -> None:
        self.finished[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)


async def test_waiting_tasks_get_slots_in_order():
    group = TaskGroup(ConcurrencyLimit(2, 10))
    for name in "abcd":
        await group.start(name)
    assert group.running == ["a", "b"]
    await group.finish("b")
    assert group.running == ["a", "c"]
    await group.finish("a")
    await group.finish("c")
    await group.finish("d")
    await group.start("e")
    await group.start("f")
    assert group.running == ["e", "f"]
    await group.finish("e")
    await group.finish("f")


async def test_a_full_queue_is_refused_with_retry_after():
    group = TaskGroup(ConcurrencyLimit(1, 2))
    for name in "abcd":
        await group.start(name)
    with pytest.raises(RateLimitExceeded) as refused:
        await group.tasks["d"]
    assert refused.value.retry_after == 5
    for name in "abc":
        await group.finish(name)


async def test_priority_tasks_come_first_and_are_never_refused():
    group = TaskGroup(ConcurrencyLimit(1, 1))
    for name, priority in (("a", False), ("b", False), ("c", True), ("d", True)):
        await group.start(name, priority=priority)
    for name in "acdb":
        assert group.running == [name]
        await group.finish(name)
    assert group.running == []


async def test_a_cancelled_waiter_does_not_lose_a_slot():
    group = TaskGroup(ConcurrencyLimit(1, 5))
    for name in "abcd":
        await group.start(name)
    group.tasks["b"].cancel()
    await asyncio.sleep(0)
    # c is cancelled just when it gets the slot.
    group.finished["a"].set()
    await asyncio.sleep(0)
    group.tasks["c"].cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert group.running == ["d"]
    await group.finish("d")
    await group.start("e")
    assert group.running == ["e"]
    await group.finish("e")
    for name in "bc":
        with pytest.raises(asyncio.CancelledError):
            await group.tasks[name]


async def test_an_error_releases_the_slot():
    limit = ConcurrencyLimit(1, 5)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            async with limit.acquire():
                raise ValueError("no")
    async with limit.acquire():
        pass
