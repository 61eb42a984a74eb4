"""What several processes count together: exact, also when one of them is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from mailkeep.core.concurrency import Budget
from mailkeep.core.errors import RateLimitExceeded, Unavailable
from mailkeep.core.minute_limit import MinuteLimit
from mailkeep.core.shared_memory import SharedMemory, key_of
from mailkeep.run.runtime.connection_limits import ConnectionLimiter, HttpLimits
from mailkeep.web.limits import AddressLimit
from mailkeep.web.streams import Streams
from tests.support.client import START

KEY = key_of("a number")
CALLER = UUID(int=7)


def fork(memory: SharedMemory, slot: int, work: Callable[[], object]) -> int:
    """Run `work` in a process with this slot; its ID."""
    pid = os.fork()
    if pid:
        return pid
    memory.slot = slot
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def join(*pids: int) -> list[int]:
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def as_slot(memory: SharedMemory, slot: int) -> SharedMemory:
    """The memory as another process sees it."""
    other = SharedMemory.__new__(SharedMemory)
    other.__dict__ |= memory.__dict__ | {"slot": slot, "_lock": None}
    return other


def test_no_request_is_counted_twice_or_lost():
    memory, passed = SharedMemory(4), key_of("passed")

    def work() -> None:
        limit = AddressLimit(1, 1000, memory, "requests")
        for _ in range(400):
            if limit.take("192.0.2.1", START)[0]:
                with memory:
                    memory.add(passed, 1)

    assert join(*(fork(memory, slot, work) for slot in range(4))) == [0] * 4
    assert sum(memory.read(passed)) == 1000
    assert len([count for count in memory.read(passed) if count]) > 1


def test_a_killed_process_leaves_neither_its_numbers_nor_the_lock():
    memory = SharedMemory(2)

    def work() -> None:
        with memory:
            memory.write(KEY, 5)
            os.kill(os.getpid(), signal.SIGKILL)

    assert join(fork(memory, 1, work)) == [-signal.SIGKILL]
    with memory:
        assert memory.read(KEY) == [0, 5]
        memory.clear(1)
    assert memory.read(KEY) == [0, 0]


def test_a_lock_is_waited_for():
    memory = SharedMemory(2)

    def work() -> None:
        with memory:
            memory.write(KEY, 1)
            time.sleep(0.3)
            memory.write(KEY, 2)

    child = fork(memory, 1, work)
    while not any(memory.read(KEY)):
        time.sleep(0.001)
    with memory:
        assert memory.read(KEY) == [0, 2]
    assert join(child) == [0]


def test_places_of_numbers_that_are_zero_are_used_again():
    memory = SharedMemory(rows=8)
    for number in range(100):
        memory.write(key_of(f"{number}"), 1)
        memory.write(KEY, number)
        memory.write(key_of(f"{number}"), 0)
    assert memory.read(KEY) == [99]
    for number in range(5):
        memory.write(key_of(f"{number}"), 1)
    with pytest.raises(Unavailable):
        memory.write(key_of("5"), 1)
    assert memory.read(KEY) == [99]


def test_the_source_that_waits_least_is_dropped_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mailkeep.core.shared_memory._BUCKETS", 1)
    memory = SharedMemory()
    limit = AddressLimit(1, 2, memory)
    for number in range(7):
        assert [limit.take(f"192.0.2.{number}", START)[0] for _ in range(3)] == [True, True, False]
    assert limit.take("192.0.2.8", START)[0]
    assert limit.take("192.0.2.9", START)[0]  # in the place of the one before
    assert [limit.take(f"192.0.2.{number}", START)[0] for number in range(7)] == [False] * 7
    assert [limit.take("192.0.2.8", START)[0] for _ in range(3)] == [True, True, False]


def test_connections_and_streams_are_limited_over_all_processes_and_in_each():
    first = SharedMemory(2)
    second = as_slot(first, 1)
    limits = HttpLimits(connections=5, per_address=3, per_process=3)
    one, two = (ConnectionLimiter(limits, memory, "api") for memory in (first, second))
    assert [one.acquire("192.0.2.1"), two.acquire("192.0.2.1"), one.acquire("192.0.2.1")] == [True] * 3
    assert not two.acquire("192.0.2.1")
    assert one.acquire("192.0.2.2")
    assert not one.acquire("192.0.2.3")  # three in this process
    assert two.acquire("192.0.2.3")
    assert not two.acquire("192.0.2.4")  # five in all
    one.release("192.0.2.1")
    assert two.acquire("192.0.2.1")
    assert one.count == two.count == 5
    here, there = Streams(first), Streams(second)
    with here.open(CALLER, max_streams=2, max_per_caller=2), there.open(CALLER, max_streams=2, max_per_caller=2):
        with pytest.raises(RateLimitExceeded):
            here.check_capacity(CALLER, max_streams=3, max_per_caller=2)
        with pytest.raises(Unavailable):
            there.check_capacity(UUID(int=8), max_streams=2, max_per_caller=2)
    here.check_capacity(CALLER, max_streams=1, max_per_caller=1)


def test_the_events_of_a_minute_are_limited_over_all_processes():
    first = SharedMemory(2)
    one, two = (MinuteLimit[str](3, memory, "refusals") for memory in (first, as_slot(first, 1)))
    assert [each.allow("ada", "read", "ada", START) for each in (one, two, one, two)] == [True, True, True, False]
    assert two.pop_exceeded(START + timedelta(minutes=1))[0].exceeded == {"read": 1}
    assert one.pop_exceeded(START + timedelta(minutes=1)) == []
    assert first.read(one._shared_key("ada", int(START.timestamp()) // 60)) == [0, 0]


async def test_units_are_granted_in_the_order_of_arrival_whichever_process_asks():
    first = SharedMemory(2)
    one, two = (Budget(2, memory, "units") for memory in (first, as_slot(first, 1)))
    order: list[str] = []

    async def work(budget: Budget, name: str, amount: int, *, priority: bool = False) -> None:
        await budget.acquire(amount, priority=priority)
        order.append(name)
        await asyncio.sleep(0.02)
        budget.release(amount)

    await one.acquire(2)
    tasks: list[asyncio.Task[None]] = []
    waiting = ((two, "a", 2, False), (one, "b", 1, False), (two, "c", 2, False), (one, "d", 1, True))
    for budget, name, amount, priority in waiting:
        tasks.append(asyncio.create_task(work(budget, name, amount, priority=priority)))
        await asyncio.sleep(0.001)
    with pytest.raises(RateLimitExceeded):
        await two.acquire(queue_size=3)
    one.release(2)
    async with asyncio.timeout(60):
        await asyncio.gather(*tasks)
    assert order == ["d", "a", "b", "c"]
    assert one.free == two.free == 2


async def test_a_killed_process_neither_keeps_units_nor_holds_up_others():
    memory = SharedMemory(2)

    def work() -> None:
        async def hold_and_wait() -> None:
            budget = Budget(2, memory, "units")
            await budget.acquire(2)
            await asyncio.sleep(0)
            waiting = asyncio.create_task(budget.acquire(1))
            await asyncio.sleep(0)
            with memory:
                memory.write(KEY, 1)
            await waiting

        asyncio.run(hold_and_wait())

    # The thread of pytest-asyncio's loop is not forked: the child makes a loop of its own.
    child = await asyncio.to_thread(fork, memory, 1, work)
    async with asyncio.timeout(60):
        while not any(memory.read(KEY)):
            await asyncio.sleep(0.001)
    budget = Budget(2, memory, "units")
    late = asyncio.create_task(budget.acquire(1))
    await asyncio.sleep(0.05)
    assert not late.done()
    os.kill(child, signal.SIGKILL)
    assert await asyncio.to_thread(join, child) == [-signal.SIGKILL]
    with memory:
        memory.clear(1)
    async with asyncio.timeout(60):
        await late
    assert budget.free == 1
