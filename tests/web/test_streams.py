"""Answers that last: how many there may be, and how they are woken and ended."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from uuid import UUID

import pytest

from mailkeep.core.errors import RateLimitExceeded, Unavailable
from mailkeep.web.streams import Stream, Streams

SUE, ADAM = UUID(int=1), UUID(int=2)
BOUNDS = {"max_streams": 3, "max_per_caller": 2}


def test_places_are_bounded_by_caller_and_in_all_and_given_back():
    streams = Streams()
    with ExitStack() as held:
        held.enter_context(streams.open(SUE, **BOUNDS))
        with streams.open(SUE, **BOUNDS):
            with pytest.raises(RateLimitExceeded) as refused:
                streams.check_capacity(SUE, **BOUNDS)
            assert refused.value.details == {"reason": "too_many_streams"}
        held.enter_context(streams.open(ADAM, **BOUNDS))
        held.enter_context(streams.open(ADAM, **BOUNDS))
        with pytest.raises(Unavailable), streams.open(SUE, **BOUNDS):
            pass
        assert len(streams) == 3
    assert len(streams) == 0
    streams.check_capacity(SUE, **BOUNDS)


async def test_a_stream_is_woken_once_for_what_came_while_it_was_busy():
    streams = Streams()
    with streams.open(SUE, **BOUNDS) as place, streams.open(ADAM, **BOUNDS) as other:
        streams.wake()
        streams.wake()
        assert await place.wait(60)
        assert not await place.wait(0.01)
        assert await other.wait(60)
        waiting = asyncio.create_task(place.wait(60))
        await asyncio.sleep(0)
        streams.wake()
        assert await waiting


@pytest.mark.parametrize("turns", range(5))
async def test_a_cancellation_is_not_lost_where_a_wake_comes_with_it(turns: int):
    async def follow(place: Stream) -> None:
        while True:
            await place.wait(60)

    streams = Streams()
    with streams.open(SUE, **BOUNDS) as place:
        following = asyncio.create_task(follow(place))
        await asyncio.sleep(0.01)
        streams.wake()
        for _ in range(turns):
            await asyncio.sleep(0)
        following.cancel()
        await asyncio.wait([following], timeout=30)
        ended = following.cancelled()
        following.cancel()
        assert ended


async def test_whoever_watches_waits_until_there_is_a_stream():
    streams = Streams()
    waiting = asyncio.create_task(streams.wait_for_stream())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    with streams.open(SUE, **BOUNDS):
        await asyncio.wait_for(waiting, 60)
        await streams.wait_for_stream()
    waiting = asyncio.create_task(streams.wait_for_stream())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    waiting.cancel()


async def test_the_end_wakes_all_and_lets_none_in():
    streams = Streams()
    with streams.open(SUE, **BOUNDS) as place:
        streams.close()
        assert await place.wait(60)
        assert place.streams.closing
        with pytest.raises(Unavailable):
            streams.check_capacity(ADAM, **BOUNDS)
