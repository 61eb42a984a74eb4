"""`cancel_all` ends also a task that loses its first cancellation."""

from __future__ import annotations

import asyncio

from mailkeep.jobs.cancellation import cancel_all


async def test_a_task_that_loses_its_cancellation_is_cancelled_again() -> None:
    lost: list[str] = []

    async def ignore_cancellation(times: int) -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost.append("one")
                if len(lost) > times:
                    raise

    task = asyncio.create_task(ignore_cancellation(2))
    other = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    await asyncio.wait_for(cancel_all(task, other, retry_seconds=0.01), 30)
    assert task.cancelled()
    assert other.cancelled()
    assert len(lost) == 3


async def test_a_finished_task_is_not_waited_for() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    await task
    await cancel_all(task)
    await cancel_all()
