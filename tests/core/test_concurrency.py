import asyncio

import pytest

from mailkeep.core.concurrency import ConcurrencyLimit
from mailkeep.core.errors import RateLimitExceeded


class Crowd:
    """Tasks that take a turn each and keep it until they are told to end."""

    def __init__(self, turns: ConcurrencyLimit) -> None:
        self.turns = turns
        self.inside: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, *, ahead: bool = False) -> None:
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._stay(name, ahead))
        await asyncio.sleep(0)

    async def _stay(self, name: str, ahead: bool) -> None:
        async with self.turns.acquire(priority=ahead):
            self.inside.append(name)
            await self.ends[name].wait()
            self.inside.remove(name)

    async def go(self, name: str) -> None:
        self.ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)


async def test_a_few_at_once_the_others_in_their_order():
    crowd = Crowd(ConcurrencyLimit(2, 10))
    for name in "abcd":
        await crowd.come(name)
    assert crowd.inside == ["a", "b"]
    await crowd.go("b")
    assert crowd.inside == ["a", "c"]
    await crowd.go("a")
    await crowd.go("c")
    await crowd.go("d")
    await crowd.come("e")
    await crowd.come("f")
    assert crowd.inside == ["e", "f"]
    await crowd.go("e")
    await crowd.go("f")


async def test_more_than_may_wait_are_refused():
    crowd = Crowd(ConcurrencyLimit(1, 2))
    for name in "abcd":
        await crowd.come(name)
    with pytest.raises(RateLimitExceeded) as refused:
        await crowd.tasks["d"]
    assert refused.value.retry_after == 5
    for name in "abc":
        await crowd.go(name)


async def test_who_comes_ahead_is_let_in_first_and_never_refused():
    crowd = Crowd(ConcurrencyLimit(1, 1))
    for name, ahead in (("a", False), ("b", False), ("c", True), ("d", True)):
        await crowd.come(name, ahead=ahead)
    for name in "acdb":
        assert crowd.inside == [name]
        await crowd.go(name)
    assert crowd.inside == []


async def test_a_turn_is_not_lost_with_who_waited_for_it():
    crowd = Crowd(ConcurrencyLimit(1, 5))
    for name in "abcd":
        await crowd.come(name)
    crowd.tasks["b"].cancel()
    await asyncio.sleep(0)
    # c is cancelled just when its turn comes.
    crowd.ends["a"].set()
    await asyncio.sleep(0)
    crowd.tasks["c"].cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert crowd.inside == ["d"]
    await crowd.go("d")
    await crowd.come("e")
    assert crowd.inside == ["e"]
    await crowd.go("e")
    for name in "bc":
        with pytest.raises(asyncio.CancelledError):
            await crowd.tasks[name]


async def test_a_turn_is_passed_on_by_who_fails():
    turns = ConcurrencyLimit(1, 5)
    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            async with turns.acquire():
                raise ValueError("no")
    async with turns.acquire():
        pass
