"""The worker that checks DNS records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from mailkeep.app import App
from mailkeep.features.directory.dns_checks import service, store
from mailkeep.features.directory.dns_checks.model import DnsCheck
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.run import JobQueue, QueueWorker

_CHECKS = 16  # at a time
_EXPECTED_QUESTIONS = 20  # of a check, before it is known; the budget gets or gives back the difference


class DnsCheckWorker(QueueWorker[DnsCheck]):
    """The checks that are due, as far as the budget allows."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._slots = asyncio.Semaphore(service.QUERIES)
        queue = JobQueue("dns_checks", lambda limits: self.claim(limits.total), _key, self.work, self._release)
        super().__init__(app.db, queue, slots=_CHECKS, concurrency=AdaptiveConcurrency(initial=1, maximum=1))

    async def claim(self, most: int = _CHECKS) -> Sequence[DnsCheck]:
        """Claim due checks, as far as the budget allows."""
        app, at = self._app, self._app.clock()
        settings = app.settings.dns
        budget = settings.lookups_per_second, self._expected_lookups()
        async with app.db.autocommit() as conn:
            return await store.claim(conn, at, at + service.LEASE, most, budget, regular=settings.check_minutes > 0)

    async def work(self, check: DnsCheck) -> bool:
        """Carry out a claimed check, and write its results."""
        app, expected = self._app, self._expected_lookups()
        lookups = service.make_lookups(app, check.domain_id, self._slots)
        try:
            domain, outcome = await service.run(app, check, lookups)
            await service.write(app, check, domain, outcome, expected)
        finally:
            await lookups.close()
        return True

    async def _release(self, check: DnsCheck) -> None:
        async with self._app.db.autocommit() as conn:
            await store.release(conn, check, self._app.clock())

    def _expected_lookups(self) -> int:
        return _EXPECTED_QUESTIONS * max(1, len(self._app.dns_query.servers()))


def _key(check: DnsCheck) -> UUID:
    return check.id
