"""Answers that last: streams, bounded in number, woken together and ended together.

A process has one `Streams`. Whoever follows takes a place in it for as long as the answer lasts; what runs beside the
requests wakes all places when there is something new, and `close` ends them before the listener stops.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from mailkeep.core.errors import RateLimitExceeded, Unavailable


class Stream:
    """One stream's place: what wakes it."""

    __slots__ = ("_woken", "streams")

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Let `wait` return."""
        self._woken.set()

    async def wait(self, seconds: float) -> bool:
        """Whether the stream was woken, since the last time or within so many seconds."""
        try:
            async with asyncio.timeout(seconds):  # `wait_for` loses a cancellation that comes with a wake
                await self._woken.wait()
        except TimeoutError:
            return False
        finally:
            self._woken.clear()
        return True


class Streams:
    """The streams of this process."""

    def __init__(self) -> None:
        self.closing = False
        self._places: set[Stream] = set()
        self._callers: Counter[UUID] = Counter()
        self._wanted = asyncio.Event()

    def __len__(self) -> int:
        return len(self._places)

    def check_capacity(self, caller: UUID, *, most: int, most_per_caller: int) -> None:
        """RATE_LIMIT_EXCEEDED where the caller has all that it may have, UNAVAILABLE where there are too many in
        all, or the process is ending.
        """
        if self.closing:
            raise Unavailable("The server is ending.")
        if self._callers[caller] >= most_per_caller:
            raise RateLimitExceeded("Too many streams; end one first.", retry_after=5, reason="too_many_streams")
        if len(self._places) >= most:
            raise Unavailable("Too many streams; try again later.", retry_after=10, reason="too_many_streams")

    @contextmanager
    def open(self, caller: UUID, *, most: int, most_per_caller: int) -> Generator[Stream]:
        """A place among the streams for the time of the block; refused as by `refuse_full`."""
        self.check_capacity(caller, most=most, most_per_caller=most_per_caller)
        place = Stream(self)
        self._places.add(place)
        self._callers[caller] += 1
        self._wanted.set()
        try:
            yield place
        finally:
            self._places.discard(place)
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]
            if not self._places:
                self._wanted.clear()

    async def wait_for_stream(self) -> None:
        """Return when there is a stream."""
        await self._wanted.wait()

    def wake(self) -> None:
        """Wake all streams."""
        for place in self._places:
            place.wake()

    def close(self) -> None:
        """End all streams, and take no more."""
        self.closing = True
        self.wake()
