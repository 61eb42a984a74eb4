"""The worker that sends scheduled messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.db.liveness import LivenessLock
from mailkeep.features.mailflow.scheduling import service
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.features.record.scheduled.model import ClaimedMessage
from mailkeep.jobs.run import POLL_SECONDS, ClaimLimits, JobQueue, QueueWorker

LEASE = timedelta(minutes=1)  # from the claim to the attempt, which ends it
LONGEST_SUBMISSION = timedelta(minutes=15)  # with all timeouts
_GROUPS = 5  # so that some are prepared and recorded while others are submitted
_SHORTEST_PAUSE = 0.005
_KEY = UUID(int=0)  # all groups share one limit


class ScheduledWorker(QueueWorker[Sequence[ClaimedMessage]]):
    """The messages that are due, in groups."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._liveness = LivenessLock(app.db)
        self._stopping = False
        queue = JobQueue("scheduled", self._claim, lambda _: _KEY, self._work, self._release, self._pause)
        super().__init__(app.db, queue, slots=_GROUPS)

    async def run(self) -> None:
        """Send until `stop` is called."""
        try:
            await super().run()
        finally:
            await self._liveness.release()

    async def stop(self, grace_seconds: float) -> None:
        """Submit no further message: those that are claimed wait for the next worker."""
        self._stopping = True
        await super().stop(grace_seconds)

    async def drain(self) -> int:
        """Send what is due now; returns the number of groups."""
        try:
            return await super().drain()
        finally:
            await self._liveness.release()

    async def _claim(self, limits: ClaimLimits) -> Sequence[Sequence[ClaimedMessage]]:
        process = await self._liveness.hold()
        return await service.claim(self._app, process, limits.total * service.GROUP_MESSAGES, LEASE)

    async def _pause(self) -> float:
        """Seconds until the next message is due, at most `POLL_SECONDS`."""
        next_due = await service.find_next_due(self._app)
        if next_due is None:
            return POLL_SECONDS
        return min(POLL_SECONDS, max(_SHORTEST_PAUSE, (next_due - self._app.clock()).total_seconds()))

    async def _work(self, group: Sequence[ClaimedMessage]) -> bool:
        await service.send_group(self._app, group, lambda: self._stopping)
        return True

    async def _release(self, group: Sequence[ClaimedMessage]) -> None:
        await service.release(self._app, group)


async def end_processes(app: App, begun_before: datetime) -> int:
    """Free what processes had claimed that have ended. Returns how many of their submissions, begun before
    `begun_before`, are left to be ended by `sending.jobs.reconcile`.
    """
    liveness = LivenessLock(app.db)
    left = 0
    async with app.db.autocommit() as conn:
        processes = await scheduled.list_processes(conn)
    for process in processes:
        async with app.db.tx() as conn:
            if await liveness.is_process_gone(conn, process):
                left += await scheduled.end_process(conn, process, app.clock(), begun_before)
    return left
