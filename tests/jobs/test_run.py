"""A worker of a queue in memory: lanes, turns, slots, faults, and how it ends."""

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
    """A queue in memory, for one worker; `slow` jobs wait until they are let go."""

    def __init__(self, *jobs: Job) -> None:
        self.waiting = deque(jobs)
        self.done: list[str] = []
        self.cancelled: list[str] = []
        self.let_go = asyncio.Event()
        self.claims: list[ClaimLimits] = []
        self.away = 0

    async def claim(self, room: ClaimLimits) -> Sequence[Job]:
        self.claims.append(room)
        if self.away:
            self.away -= 1
            raise Unavailable
        taken: list[Job] = []
        for job in list(self.waiting):
            left = room.by_key.get(job[0], room.per_key) - sum(1 for lane, _ in taken if lane == job[0])
            if len(taken) < room.total and left > 0:
                taken.append(job)
                self.waiting.remove(job)
        return taken

    async def work(self, job: Job) -> bool:
        name = job[1]
        try:
            if name.startswith("slow"):
                await self.let_go.wait()
            if name.startswith("odd"):
                raise ValueError(name)
            self.done.append(name)
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        return not name.startswith("bad")


def worker_of(jobs: Jobs, slots: int = 10, start: int = 2) -> Worker[Job]:
    return Worker(
        JobQueue("tests", jobs.claim, lambda job: job[0], jobs.work),
        slots=slots,
        concurrency=AdaptiveConcurrency(initial=start, maximum=4),
    )


async def test_all_that_is_due_is_done():
    jobs = Jobs(*((ONE, f"a{n}") for n in range(5)), (TWO, "b"))
    assert await worker_of(jobs).drain() == 6
    assert sorted(jobs.done) == ["a0", "a1", "a2", "a3", "a4", "b"]


async def test_a_slow_lane_leaves_the_others_their_slots():
    jobs = Jobs(*((ONE, f"slow{n}") for n in range(5)), (TWO, "b0"), (TWO, "b1"), (TWO, "b2"))
    worker = worker_of(jobs)
    for _ in range(4):
        await worker.fill()
        await asyncio.sleep(0)
    assert jobs.done == ["b0", "b1", "b2"]
    assert len(jobs.waiting) == 3
    jobs.let_go.set()
    await worker.wait_until_idle()


async def test_there_are_never_more_at_once_than_slots():
    jobs = Jobs(*((UUID(int=n), f"slow{n}") for n in range(1, 9)))
    worker = worker_of(jobs, slots=3)
    assert await worker.fill() == 3
    assert await worker.fill() == 0
    jobs.let_go.set()
    assert await worker.drain() == 5


async def test_the_next_claim_begins_after_the_lane_that_was_last():
    jobs = Jobs((ONE, "a"), (TWO, "b"))
    await worker_of(jobs).drain()
    assert [room.after for room in jobs.claims] == [UUID(int=0), TWO]


async def test_a_job_that_stumbles_harms_no_other():
    jobs = Jobs((ONE, "odd"), (ONE, "a"))
    assert await worker_of(jobs).drain() == 2
    assert jobs.done == ["a"]


async def test_told_to_end_it_lets_end_what_is_quick_and_breaks_off_the_rest():
    jobs = Jobs((ONE, "slow"), (TWO, "b"))
    worker = worker_of(jobs)
    await worker.fill()
    await worker.stop(0.5)
    assert (jobs.done, jobs.cancelled) == (["b"], ["slow"])
    assert await worker.fill() == 0


@pytest.mark.timeout(60)
async def test_it_goes_on_when_the_database_is_back(database_urls: Urls):
    db = DatabasePool(database_urls.app, min_size=1, max_size=2, timeout=30)
    await db.open()
    jobs = Jobs((ONE, "a"))
    jobs.away = 1
    worker, bell = worker_of(jobs), Wakeup(db, "tests")
    running = asyncio.create_task(worker.run(bell))
    while not jobs.done:
        await asyncio.sleep(0.02)
    await worker.stop(1)
    await running
    await bell.close()
    await db.close()


@pytest.mark.timeout(60)
async def test_a_bell_is_rung_for_who_sleeps_only(database_urls: Urls):
    db = DatabasePool(database_urls.app, min_size=1, max_size=2, timeout=30)
    await db.open()
    bell, ring = Wakeup(db, "tests"), asyncio.Event()

    async def wake() -> None:
        async with db.autocommit() as conn:
            await conn.execute("SELECT wake_workers('tests')")

    await bell.listen()
    sleeping = asyncio.create_task(bell.wait(ring, 60))
    await asyncio.sleep(0.1)
    await wake()
    await asyncio.wait_for(sleeping, 30)
    assert ring.is_set()
    ring.clear()
    await wake()
    await bell.listen()
    await bell.wait(ring, 0.2)
    assert not ring.is_set(), "it was awake when it was called"
    await bell.close()
    await db.close()
