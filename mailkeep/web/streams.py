"""Long-lived responses (event streams): their number is limited over all processes of the API, and those of a process
are woken and closed together.

A process has one `Streams`. A response opens a `Stream` for its duration. A background task wakes all streams when
there is something new; `close` ends them before the listener stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from mailkeep.core.errors import RateLimitExceeded, Unavailable
from mailkeep.core.shared_memory import SharedMemory, key_of

_ALL = key_of("streams")


class Stream:
    """One long-lived response, which waits until it is woken."""

    __slots__ = ("_woken", "streams")

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Make `wait` return."""
        self._woken.set()

    async def wait(self, seconds: float) -> bool:
        """Wait up to `seconds`; returns whether the stream was woken since the last call."""
        try:
            async with asyncio.timeout(seconds):  # `wait_for` can lose a cancellation at the moment of a wakeup
                await self._woken.wait()
        except TimeoutError:
            return False
        finally:
            self._woken.clear()
        return True


class Streams:
    """The streams of this process."""

    def __init__(self, memory: SharedMemory | None = None) -> None:
        self.closing = False
        self._streams: set[Stream] = set()
        self._memory = memory or SharedMemory()
        self._not_empty = asyncio.Event()

    def __len__(self) -> int:
        return len(self._streams)

    def check_capacity(self, caller: UUID, *, max_streams: int, max_per_caller: int) -> None:
        """RATE_LIMIT_EXCEEDED if the caller has too many streams; UNAVAILABLE if there are too many in total or the
        process is shutting down.
        """
        with self._memory:
            self._check_capacity(caller, max_streams, max_per_caller)

    def _check_capacity(self, caller: UUID, max_streams: int, max_per_caller: int) -> None:
        if self.closing:
            raise Unavailable("The server is shutting down.")
        if sum(self._memory.read(key_of(f"streams {caller}"))) >= max_per_caller:
            raise RateLimitExceeded(
                f"You have {max_per_caller} event streams open; close one first.",
                retry_after=5,
                reason="too_many_streams",
            )
        if sum(self._memory.read(_ALL)) >= max_streams:
            raise Unavailable(
                "The server has too many event streams open; try again later.",
                retry_after=10,
                reason="too_many_streams",
            )

    @contextmanager
    def open(self, caller: UUID, *, max_streams: int, max_per_caller: int) -> Generator[Stream]:
        """Register a stream for the duration of the block; raises as `check_capacity` does."""
        stream = Stream(self)
        with self._memory:
            self._check_capacity(caller, max_streams, max_per_caller)
            self._count(caller, 1)
        self._streams.add(stream)
        self._not_empty.set()
        try:
            yield stream
        finally:
            self._streams.discard(stream)
            with self._memory:
                self._count(caller, -1)
            if not self._streams:
                self._not_empty.clear()

    def _count(self, caller: UUID, number: int) -> None:
        self._memory.add(key_of(f"streams {caller}"), number)
        self._memory.add(_ALL, number)

    async def wait_for_stream(self) -> None:
        """Wait until there is a stream."""
        await self._not_empty.wait()

    def wake(self) -> None:
        """Wake all streams."""
        for stream in self._streams:
            stream.wake()

    def close(self) -> None:
        """End all streams and accept no more."""
        self.closing = True
        self.wake()
