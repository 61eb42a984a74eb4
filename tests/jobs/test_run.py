"""A worker with a queue in memory: limits per key, slots, errors, and how it stops."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from uuid import UUID

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import Urls
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.run import ClaimLimits, JobQueue, Worker
from mailkeep.jobs.wakeup import Wakeup

ONE, TWO = UUID(int=1), UUID(int=2)
Job = tuple[UUID, str]


class Jobs:
    """A queue in memory, for one worker; `slow` jobs wait for `may_finish`."""

    def __init__(self, *jobs: Job) -> None:
        self.waiting = deque(jobs)
        self.done: list[str] = []
        self.released: list[str] = []
        self.may_finish = asyncio.Event()
        self.claims: list[ClaimLimits] = []
        self.unavailable = 0

    async def claim(self, limits: ClaimLimits) -> Sequence[Job]:
        self.claims.append(limits)
        if self.unavailable:
            self.unavailable -= 1
            raise Unavailable
        claimed: list[Job] = []
        for job in list(self.waiting):
            free = limits.by_key.get(job[0], limits.per_key) - sum(1 for key, _ in claimed if key == job[0])
            if len(claimed) < limits.total and free > 0:
                claimed.append(job)
                self.waiting.remove(job)
        return claimed

    async def work(self, job: Job) -> bool:
        name = job[1]
        if name.startswith("slow"):
            await self.may_finish.wait()
        if name.startswith("odd"):
            raise ValueError(name)
        self.done.append(name)
        return not name.startswith("bad")

    async def release(self, job: Job) -> None:
        self.released.append(job[1])


def worker_of(jobs: Jobs, slots: int = 10, start: int = 2) -> Worker[Job]:
    return Worker(
        JobQueue("tests", jobs.claim, lambda job: job[0], jobs.work, jobs.release),
        slots=slots,
        concurrency=AdaptiveConcurrency(initial=start, maximum=4),
    )


async def test_all_due_jobs_are_run():
    jobs = Jobs(*((ONE, f"a{n}") for n in range(5)), (TWO, "b"))
    assert await worker_of(jobs).drain() == 6
    assert sorted(jobs.done) == ["a0", "a1", "a2", "a3", "a4", "b"]


async def test_a_slow_key_leaves_slots_to_others():
    jobs = Jobs(*((ONE, f"slow{n}") for n in range(5)), (TWO, "b0"), (TWO, "b1"), (TWO, "b2"))
    worker = worker_of(jobs)
    for _ in range(4):
        await worker.fill()
        await asyncio.sleep(0)
    assert jobs.done == ["b0", "b1", "b2"]
    assert len(jobs.waiting) == 3
    jobs.may_finish.set()
    await worker.wait_until_idle()


async def test_at_most_as_many_jobs_run_as_there_are_slots():
    jobs = Jobs(*((UUID(int=n), f"slow{n}") for n in range(1, 9)))
    worker = worker_of(jobs, slots=3)
    assert await worker.fill() == 3
    assert await worker.fill() == 0
    jobs.may_finish.set()
    assert await worker.drain() == 5


async def test_the_next_claim_starts_after_the_last_claimed_key():
    jobs = Jobs((ONE, "a"), (TWO, "b"))
    await worker_of(jobs).drain()
    assert [limits.after for limits in jobs.claims] == [UUID(int=0), TWO]


async def test_a_failed_job_does_not_affect_others():
    jobs = Jobs((ONE, "odd"), (ONE, "a"))
    assert await worker_of(jobs).drain() == 2
    assert jobs.done == ["a"]


async def test_stop_lets_quick_jobs_finish_and_releases_the_rest():
    jobs = Jobs((ONE, "slow"), (TWO, "b"))
    worker = worker_of(jobs)
    await worker.fill()
    await worker.stop(0.5)
    assert (jobs.done, jobs.released) == (["b"], ["slow"])
    assert await worker.fill() == 0


@pytest.mark.timeout(60)
async def test_it_continues_when_the_database_is_back(database_urls: Urls):
    db = DatabasePool(database_urls.app, min_size=1, max_size=2, timeout=30)
    await db.open()
    jobs = Jobs((ONE, "a"))
    jobs.unavailable = 1
    worker = worker_of(jobs)
    running = asyncio.create_task(worker.run(db))
    while not jobs.done:
        await asyncio.sleep(0.02)
    await worker.stop(1)
    await running
    await db.close()


@pytest.mark.timeout(60)
async def test_only_a_sleeping_worker_is_woken(database_urls: Urls):
    db = DatabasePool(database_urls.app, min_size=1, max_size=2, timeout=30)
    await db.open()
    wakeup, event = Wakeup(db, "tests"), asyncio.Event()

    async def wake() -> None:
        async with db.autocommit() as conn:
            await conn.execute("SELECT wake_workers('tests')")

    await wakeup.listen()
    sleeping = asyncio.create_task(wakeup.wait(event, 60))
    await asyncio.sleep(0.1)
    await wake()
    await asyncio.wait_for(sleeping, 30)
    assert event.is_set()
    event.clear()
    await wake()
    await wakeup.listen()
    await wakeup.wait(event, 0.2)
    assert not event.is_set(), "it was awake at that time"
    await wakeup.close()
    await db.close()
