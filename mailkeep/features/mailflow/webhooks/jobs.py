"""The worker that delivers events to webhooks, and the removal of old deliveries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.webhooks import delivery_store, rules, service, store
from mailkeep.features.mailflow.webhooks.model import (
    TIMEOUT_SECONDS,
    DeliveryJob,
    EventContent,
    WebhookAttempt,
    WebhookOutcome,
)
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.batches import BatchWriter
from mailkeep.jobs.run import ClaimLimits, JobQueue, QueueWorker

log = structlog.get_logger("mailkeep.webhooks")

LEASE = timedelta(seconds=30)
"""Three times the longest attempt. After it, another worker may claim the deliveries of a worker that died."""
_CONCURRENCY = 256
_START_CONCURRENCY, _MAX_CONCURRENCY = 8, 64
_FULL_KIND = "mail.received.full"
_MAX_FULL_CONCURRENCY = 4
_MIN_LEASE_LEFT = timedelta(seconds=TIMEOUT_SECONDS + 5)
_DELETE_BATCH, _MAX_BATCHES = 5000, 40


class DeliveryWorker(QueueWorker[DeliveryJob]):
    """The deliveries that are due."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._outcomes = BatchWriter(self._write_outcomes)
        self._full_slots = asyncio.Semaphore(_MAX_FULL_CONCURRENCY)
        queue = JobQueue("webhooks", self._claim, _key, self._work, self._interrupt)
        concurrency = AdaptiveConcurrency(initial=_START_CONCURRENCY, maximum=_MAX_CONCURRENCY)
        super().__init__(app.db, queue, slots=_CONCURRENCY, concurrency=concurrency)

    async def _claim(self, limits: ClaimLimits) -> Sequence[DeliveryJob]:
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            jobs = await delivery_store.claim(conn, at, at + LEASE, limits)
        if jobs:
            failpoint.reach("webhook.claimed")
        return jobs

    async def _work(self, job: DeliveryJob) -> bool:
        """Attempt a delivery. Returns False if the attempt failed, which lowers the concurrency of the webhook."""
        try:
            outcome = await self._attempt(job)
        except Unavailable:
            raise
        except Exception:
            # A bug of ours counts as a failed attempt: it is retried on the same schedule.
            log.exception("webhook delivery failed", delivery=str(job.id))
            outcome = self._outcome(job, rules.attempt_without_answer(self._app.clock(), rules.INTERNAL, None))
        if outcome is None:
            with suppress(Unavailable):
                await self._release(job, None)
            return True
        await self._outcomes.add(outcome)
        return outcome.state == "delivered"

    async def _attempt(self, job: DeliveryJob) -> WebhookOutcome | None:
        """The outcome of an attempt; None if too little of the lease is left for one."""
        if job.content is None:
            return self._outcome(job, rules.attempt_without_answer(self._app.clock(), rules.EVENT_GONE, None))
        if job.content.kind != _FULL_KIND:
            body = rules.body(job.content, msgspec.Raw(job.content.data.encode()))
            return self._outcome(job, await self._post(job, job.content, body))
        async with self._full_slots:
            if self._app.clock() > job.until - _MIN_LEASE_LEFT:
                return None
            body = await self._full_body(job.content)
            return self._outcome(job, await self._post(job, job.content, body))

    async def _full_body(self, content: EventContent) -> bytes:
        """The body with the content of the mail, which is kept for three days."""
        data = msgspec.json.decode(content.data, type=dict[str, Any])
        async with self._app.db.autocommit() as conn:
            full = await receiving.load_full_data(conn, data)
        if full is data:
            full = {**data, "truncated": True}
        return await asyncio.to_thread(rules.body, content, full)

    async def _post(self, job: DeliveryJob, content: EventContent, body: bytes) -> WebhookAttempt:
        return await service.post(self._app, job.webhook_id, job.url, job.encrypted_secrets, content, body)

    def _outcome(self, job: DeliveryJob, attempt: WebhookAttempt) -> WebhookOutcome:
        return rules.outcome(job, attempt, self._app.clock(), self._app.settings.webhooks.retry_seconds)

    async def _write_outcomes(self, outcomes: Sequence[WebhookOutcome]) -> Sequence[None]:
        at, hours = self._app.clock(), self._app.settings.webhooks.disable_after_hours
        failing_before = at - timedelta(hours=hours)
        async with self._app.db.autocommit() as conn:
            failing = await delivery_store.write_outcomes(conn, outcomes, at, failing_before)
        for outcome in outcomes:
            self._app.counters.add("webhook_attempts", outcome.state)
            if outcome.attempt.duration_ms is not None:
                self._app.counters.add_latency("webhook_attempt_seconds", outcome.attempt.duration_ms)
        failpoint.reach("webhook.outcome_written")
        for webhook_id in failing:
            async with self._app.db.tx() as conn:
                if await service.disable(conn, at, webhook_id, failing_before):
                    log.warning(
                        "webhook disabled: all attempts have failed for hours", webhook=str(webhook_id), hours=hours
                    )
        return [None] * len(outcomes)

    async def _interrupt(self, job: DeliveryJob) -> None:
        await self._release(job, rules.attempt_without_answer(self._app.clock(), rules.INTERRUPTED, None))

    async def _release(self, job: DeliveryJob, interrupted: WebhookAttempt | None) -> None:
        async with self._app.db.autocommit() as conn:
            await delivery_store.release(conn, job, self._app.clock(), interrupted)


def _key(job: DeliveryJob) -> UUID:
    return job.webhook_id


async def prune(app: App) -> None:
    """Delete deliveries of removed events and webhooks, in batches and a part per call, and secrets that no longer
    sign.
    """
    async with app.db.tx() as conn:
        confirmed = await confirm_prune_time(conn, "events", app.clock())
    before = confirmed and confirmed - timedelta(days=app.settings.retention.event_days)
    for _ in range(_MAX_BATCHES):
        async with app.db.autocommit() as conn:
            old = await delivery_store.delete_before(conn, before, _DELETE_BATCH) if before else 0
            deleted = old + await delivery_store.delete_orphans(conn, _DELETE_BATCH)
        if not deleted:
            break
    async with app.db.autocommit() as conn:
        await store.delete_old_secrets(conn, app.clock())
