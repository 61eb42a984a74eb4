"""The worker of deliveries, and their house-keeping."""

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
from mailkeep.features.mailflow.webhooks import rules, service, store
from mailkeep.features.mailflow.webhooks.model import (
    TIMEOUT_SECONDS,
    DeliveryJob,
    EventContent,
    WebhookAttempt,
    WebhookOutcome,
)
from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency
from mailkeep.jobs.batches import BatchWriter
from mailkeep.jobs.run import ClaimLimits, JobQueue, Worker
from mailkeep.jobs.wakeup import Wakeup

log = structlog.get_logger("mailkeep.webhooks")

LEASE = timedelta(seconds=30)
"""Three times an attempt's time: what a worker that died has held is another's after it."""
_SLOTS = 256
_START_CONCURRENCY, _MAX_CONCURRENCY = 8, 64
_FULL = "mail.received.full"
_FULL_AT_A_TIME = 4
_LEFT_FOR_AN_ATTEMPT = timedelta(seconds=TIMEOUT_SECONDS + 5)
_SLICE, _SLICES = 5000, 40


class DeliveryWorker:
    """One worker of deliveries: `run` until `stop`, or `drain` what is due."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._outcomes = BatchWriter(self._settle)
        self._full = asyncio.Semaphore(_FULL_AT_A_TIME)
        queue = JobQueue("webhooks", self._claim, _key, self._work)
        self._worker = Worker(
            queue, slots=_SLOTS, concurrency=AdaptiveConcurrency(initial=_START_CONCURRENCY, maximum=_MAX_CONCURRENCY)
        )

    async def run(self) -> None:
        """Deliver until `stop` was called."""
        bell = Wakeup(self._app.db, "webhooks")
        try:
            await self._worker.run(bell)
        finally:
            await bell.close()

    async def stop(self, grace_seconds: float) -> None:
        """Begin nothing more; what doesn't end in time is given back, to be tried again at once."""
        await self._worker.stop(grace_seconds)

    async def drain(self) -> int:
        """Deliver what is due now; how many attempts that took."""
        return await self._worker.drain()

    async def _claim(self, room: ClaimLimits) -> Sequence[DeliveryJob]:
        at = self._app.clock()
        async with self._app.db.autocommit() as conn:
            found = await store.claim(conn, at, at + LEASE, room.after, (room.total, room.per_key, room.by_key))
        if found:
            failpoint.reach("webhook.claimed")
        return found

    async def _work(self, job: DeliveryJob) -> bool:
        """Try a delivery; whether it arrived."""
        try:
            outcome = await self._attempt(job)
        except asyncio.CancelledError:
            await self._release(job, rules.attempt_without_answer(self._app.clock(), rules.INTERRUPTED, None))
            raise
        except Unavailable:
            raise
        except Exception:
            # A fault of ours, too, is tried again on the schedule, and given up in the end.
            log.exception("a delivery stumbled", delivery=str(job.id))
            outcome = self._outcome(job, rules.attempt_without_answer(self._app.clock(), rules.INTERNAL, None))
        if outcome is None:
            await self._release(job, None)
            return True
        await self._outcomes.add(outcome)
        return outcome.state == "delivered"

    async def _attempt(self, job: DeliveryJob) -> WebhookOutcome | None:
        """What an attempt has made of it; None where its lease is too near its end to begin one."""
        if job.content is None:
            return self._outcome(job, rules.attempt_without_answer(self._app.clock(), rules.EVENT_GONE, None))
        if job.content.kind != _FULL:
            body = rules.body(job.content, msgspec.Raw(job.content.data.encode()))
            return self._outcome(job, await self._post(job, job.content, body))
        async with self._full:
            if self._app.clock() > job.until - _LEFT_FOR_AN_ATTEMPT:
                return None
            body = await self._full_body(job.content)
            return self._outcome(job, await self._post(job, job.content, body))

    async def _full_body(self, content: EventContent) -> bytes:
        """The body with the mail's content, while that is kept (three days)."""
        shown = msgspec.json.decode(content.data, type=dict[str, Any])
        async with self._app.db.autocommit() as conn:
            whole = await receiving.load_full_data(conn, shown)
        if whole is shown:
            whole = {**shown, "truncated": True}
        return await asyncio.to_thread(rules.body, content, whole)

    async def _post(self, job: DeliveryJob, content: EventContent, body: bytes) -> WebhookAttempt:
        return await service.post(self._app, job.webhook_id, job.url, job.sealed, content, body)

    def _outcome(self, job: DeliveryJob, attempt: WebhookAttempt) -> WebhookOutcome:
        return rules.outcome(job, attempt, self._app.clock(), self._app.settings.webhooks.retry_seconds)

    async def _settle(self, outcomes: Sequence[WebhookOutcome]) -> Sequence[None]:
        at = self._app.clock()
        failing_before = at - timedelta(hours=self._app.settings.webhooks.disable_after_hours)
        async with self._app.db.autocommit() as conn:
            failing = await store.settle(conn, outcomes, at, failing_before)
        for outcome in outcomes:
            self._app.counters.add("webhook_attempts", outcome.state)
        failpoint.reach("webhook.settled")
        for webhook_id in failing:
            async with self._app.db.tx() as conn:
                if await service.disable(conn, at, webhook_id, failing_before):
                    log.warning("a webhook has failed for too long, and is inactive now", webhook=str(webhook_id))
        return [None] * len(outcomes)

    async def _release(self, job: DeliveryJob, broken_off: WebhookAttempt | None) -> None:
        with suppress(Unavailable):
            async with self._app.db.autocommit() as conn:
                await store.release(conn, job, self._app.clock(), broken_off)


def _key(job: DeliveryJob) -> UUID:
    return job.webhook_id


async def prune(app: App) -> None:
    """Let go of deliveries whose events are no longer kept, or whose webhooks are gone, and of secrets that were
    replaced; some at a time, and the rest the next time.
    """
    async with app.db.tx() as conn:
        confirmed = await confirm_prune_time(conn, "events", app.clock())
    before = confirmed and confirmed - timedelta(days=app.settings.retention.event_days)
    for _ in range(_SLICES):
        async with app.db.autocommit() as conn:
            forgotten = await store.delete_before(conn, before, _SLICE) if before else 0
            gone = forgotten + await store.delete_orphans(conn, _SLICE)
        if not gone:
            break
    async with app.db.autocommit() as conn:
        await store.delete_old_secrets(conn, app.clock())
