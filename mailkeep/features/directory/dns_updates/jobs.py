"""The worker that writes DNS records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.features.directory.dns_updates import rules, service, store
from mailkeep.features.directory.dns_updates.model import JobState, UpdateJob
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker
from mailkeep.net.dns_update import DnsUpdateError

log = structlog.get_logger("mailkeep.dns_updates")

_LEASE = timedelta(minutes=15)
_CONCURRENCY = 4


class DnsUpdateWorker(QueueWorker[UpdateJob]):
    """The updates that are due."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._settings: object = None  # those of DNS at the last claim
        queue = JobQueue("dns_updates", self._claim, _key, self._work, self._release)
        super().__init__(app.db, queue, slots=_CONCURRENCY)

    async def _claim(self, limits: ClaimLimits) -> Sequence[UpdateJob]:
        at = self._app.clock()
        settings = (self._app.settings.dns, self._app.settings.server.mail_domain)
        if settings != self._settings:
            await service.add_server_job(self._app)
            if self._settings is not None:
                async with self._app.db.autocommit() as conn:
                    await store.request_all(conn, at)
            self._settings = settings
        async with self._app.db.autocommit() as conn:
            return await store.claim(conn, at, at + _LEASE, limits.total)

    async def _work(self, job: UpdateJob) -> bool:
        try:
            outcome = await self._attempt(job)
        except service.JobLost:
            return True
        at = self._app.clock()
        pause = rules.pause_after(job.failures) if outcome[0] == "error" else rules.CHECK_INTERVAL
        async with self._app.db.autocommit() as conn:
            if outcome[0] != "ok" or not await store.delete(conn, job):
                await store.finish(conn, job, at, outcome, at + pause)
        return outcome[0] != "error"

    async def _release(self, job: UpdateJob) -> None:
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            await store.finish(conn, job, at, (job.state, job.problem), at)

    async def _attempt(self, job: UpdateJob) -> tuple[JobState, str]:
        try:
            return await service.write(self._app, job)
        except DnsUpdateError as error:
            log.warning("DNS records can't be written", subject=job.subject, reason=str(error))
            return "error", str(error)


def _key(job: UpdateJob) -> UUID:
    return job.id
