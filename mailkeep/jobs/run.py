"""Workers: claim due jobs and run them concurrently until stopped."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, LiteralString, TypeVar
from uuid import UUID

import structlog

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.jobs import runs
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.wakeup import Wakeup

log = structlog.get_logger("mailkeep.jobs")

T = TypeVar("T")

POLL_SECONDS = 1.0
_LINGER_SECONDS = 0.005
_AWAKE_SECONDS = 0.1
_AWAY_SECONDS = 1.0


async def _poll() -> float:
    return POLL_SECONDS


@dataclass(frozen=True, slots=True)
class ClaimLimits:
    """Limits of a claim: `total` jobs, `per_key` of each key (or as in `by_key`), starting after the key `after`."""

    total: int
    per_key: int
    by_key: Mapping[UUID, int]
    after: UUID


@dataclass(frozen=True, slots=True)
class JobQueue(Generic[T]):
    """Jobs of one kind: how to claim them, the key of each, how to run one, and how to release it.

    `work` completes the job in the database. It returns whether the job succeeded, which raises or lowers the key's
    limit. If it is cancelled, `release` makes the job due again at once. After an exception, which is logged, it is due
    again when its lease expires. `wake_workers(name)` in the database wakes the workers; else they look again after
    `pause()` seconds.
    """

    name: LiteralString
    claim: Callable[[ClaimLimits], Awaitable[Sequence[T]]]
    key: Callable[[T], UUID]
    work: Callable[[T], Awaitable[bool]]
    release: Callable[[T], Awaitable[None]]
    pause: Callable[[], Awaitable[float]] = _poll


class Worker(Generic[T]):
    """One worker of a queue, with at most `slots` concurrent jobs."""

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
        """Claim and start due jobs while slots are free. Returns how many were started."""
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
        except asyncio.CancelledError:
            with suppress(Unavailable):
                await self._queue.release(job)
            raise
        except Unavailable:
            log.warning("the result of a job was not written; it will be run again", queue=self._queue.name)
        except Exception:
            log.exception("job failed", queue=self._queue.name)
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
            self._wake.set()

    async def drain(self) -> int:
        """Run all due jobs to completion. Returns how many there were."""
        done = 0
        while (started := await self.fill()) or self._tasks:
            done += started
            await self.wait_until_idle()
        return done

    async def wait_until_idle(self) -> None:
        """Wait until no job is running."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def run(self, db: DatabasePool) -> None:
        """Run due jobs until `stop`. Waits while the database is unavailable."""
        wakeup = Wakeup(db, self._queue.name)
        self._note(POLL_SECONDS)
        try:
            while not self._stopping:
                try:
                    await self._round(wakeup)
                except Unavailable:
                    log.info("waiting for the database", queue=self._queue.name)
                    await self._pause(_AWAY_SECONDS)
                except Exception:
                    log.exception("queue failed", queue=self._queue.name)
                    await self._pause(_AWAY_SECONDS)
        finally:
            await wakeup.close()

    async def _round(self, wakeup: Wakeup) -> None:
        self._wake.clear()
        now = asyncio.get_running_loop().time
        if await self.fill():
            self._found_at = now()
            self._note(POLL_SECONDS)
            # More jobs are likely to arrive or end now: claim them in one statement.
            await asyncio.sleep(_LINGER_SECONDS)
            return
        if self._tasks and now() - self._found_at < _AWAKE_SECONDS:
            await self._pause(_LINGER_SECONDS)
            return
        await wakeup.listen()
        if len(self._tasks) < self._slots and await self.fill():
            await wakeup.stop_listening()
            return
        pause = await self._queue.pause()
        self._note(pause)
        await wakeup.wait(self._wake, pause)

    def _note(self, pause: float) -> None:
        runs.note(f"queue {self._queue.name}", pause)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def stop(self, grace_seconds: float) -> None:
        """Start no more jobs, let the running ones finish within `grace_seconds`, and cancel the rest."""
        self._stopping = True
        self._wake.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace_seconds)
        for task in self._tasks:
            task.cancel()
        await self.wait_until_idle()


class QueueWorker(Generic[T]):
    """The base of a feature's worker: `run` until `stop`, or `drain` what is due.

    At most `slots` jobs run at a time, of one key as `concurrency` says, by default without a limit of its own.
    """

    def __init__(
        self, db: DatabasePool, queue: JobQueue[T], *, slots: int, concurrency: AdaptiveConcurrency | None = None
    ) -> None:
        self._db = db
        self._worker = Worker(
            queue, slots=slots, concurrency=concurrency or AdaptiveConcurrency(initial=slots, maximum=slots)
        )

    async def run(self) -> None:
        """Run due jobs until `stop` is called."""
        await self._worker.run(self._db)

    async def stop(self, grace_seconds: float) -> None:
        """Begin no further job. Those that do not end within the grace are released, for another worker."""
        await self._worker.stop(grace_seconds)

    async def drain(self) -> int:
        """Run what is due now; returns the number of jobs."""
        return await self._worker.drain()
