"""Doing what is due, side by side, until told to stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

import structlog

from mailkeep.core.errors import Unavailable
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.wakeup import Wakeup

log = structlog.get_logger("mailkeep.jobs")

T = TypeVar("T")

POLL_SECONDS = 1.0
_LINGER_SECONDS = 0.005
_AWAKE_SECONDS = 0.1
_AWAY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ClaimLimits:
    """What a claim may take: `most` in all, of a lane `each` but of those in `lanes`; the one after `after` first."""

    total: int
    per_key: int
    by_key: Mapping[UUID, int]
    after: UUID


@dataclass(frozen=True, slots=True)
class JobQueue(Generic[T]):
    """Jobs of one kind: how they are claimed, which lane one stands in, and how it is done.

    `work` answers whether it went well, which widens the lane's room or narrows it. It settles the job, also when it
    is cancelled; what it raises is logged, and the job comes again when its lease is over.
    """

    name: str
    claim: Callable[[ClaimLimits], Awaitable[Sequence[T]]]
    key: Callable[[T], UUID]
    work: Callable[[T], Awaitable[bool]]


class Worker(Generic[T]):
    """One worker of a queue, with at most `slots` jobs under way."""

    def __init__(self, queue: JobQueue[T], *, slots: int, concurrency: AdaptiveConcurrency) -> None:
        self._queue = queue
        self._slots = slots
        self._concurrency = concurrency
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: Counter[UUID] = Counter()
        self._after = UUID(int=0)
        self._wake = asyncio.Event()
        self._found_at = 0.0
        self._stopping = False

    async def fill(self) -> int:
        """Claim and begin what is due, as far as there is room; how many that was."""
        started = 0
        while not self._stopping and (free := self._slots - len(self._tasks)) > 0:
            free_by_key = self._concurrency.free_slots(self._running)
            jobs = await self._queue.claim(ClaimLimits(free, self._concurrency.initial, free_by_key, self._after))
            for job in jobs:
                self._start(job)
            started += len(jobs)
            if len(jobs) < free:
                break
        return started

    def _start(self, job: T) -> None:
        key = self._queue.key(job)
        self._after = key
        self._running[key] += 1
        task = asyncio.create_task(self._work(job, key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, job: T, key: UUID) -> None:
        try:
            well = await self._queue.work(job)
            self._concurrency.record(key, succeeded=well)
        except Unavailable:
            log.warning("a job's end was not written: it comes again", queue=self._queue.name)
        except Exception:
            log.exception("a job stumbled", queue=self._queue.name)
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
            self._wake.set()

    async def drain(self) -> int:
        """Do all that is due now, and return when it is done; how many jobs that was."""
        done = 0
        while (started := await self.fill()) or self._tasks:
            done += started
            await self.wait_until_idle()
        return done

    async def wait_until_idle(self) -> None:
        """Return when nothing is under way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def run(self, wakeup: Wakeup) -> None:
        """Do what is due, again and again, until `stop`; needs no database to begin or go on."""
        while not self._stopping:
            try:
                await self._round(wakeup)
            except Unavailable:
                log.info("waiting for the database", queue=self._queue.name)
                await self._pause(_AWAY_SECONDS)
            except Exception:
                log.exception("a queue stumbled", queue=self._queue.name)
                await self._pause(_AWAY_SECONDS)

    async def _round(self, wakeup: Wakeup) -> None:
        self._wake.clear()
        now = asyncio.get_running_loop().time
        if await self.fill():
            self._found_at = now()
            # More is likely to come, or to be settled, at once: let it gather.
            await asyncio.sleep(_LINGER_SECONDS)
            return
        if self._tasks and now() - self._found_at < _AWAKE_SECONDS:
            await self._pause(_LINGER_SECONDS)
            return
        await wakeup.listen()
        if len(self._tasks) < self._slots and await self.fill():
            await wakeup.stop_listening()
            return
        await wakeup.wait(self._wake, POLL_SECONDS)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def stop(self, grace_seconds: float) -> None:
        """Begin nothing more, let what is under way end within `grace_seconds`, and break off the rest."""
        self._stopping = True
        self._wake.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace_seconds)
        for task in self._tasks:
            task.cancel()
        await self.wait_until_idle()
