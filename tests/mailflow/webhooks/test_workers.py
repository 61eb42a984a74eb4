"""Workers: concurrent, woken, stopped, dead and late ones."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest

from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.webhooks import delivery_store
from mailkeep.features.mailflow.webhooks.jobs import LEASE, DeliveryWorker
from mailkeep.features.record.events import service as events
from mailkeep.jobs import run
from mailkeep.jobs.run import ClaimLimits
from tests.mailflow.webhooks.conftest import Hooks
from tests.support.client import DOMAIN_IDS, EXAMPLE, START
from tests.support.events import sample_event

NOBODY = UUID(int=0)
_INTERRUPTED = "interrupted: The worker stopped during the attempt; the attempt is repeated."


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_a_shortened_schedule_in_real_time(hooks: Hooks):
    """By a running worker: first by wake-up, then by polling."""
    api, waits = hooks.api, (1, 1, 2)
    settings = replace(api.app.settings.webhooks, retry_seconds=waits)
    api.app = replace(api.app, clock=utc_now, settings=replace(api.app.settings, webhooks=settings))
    webhook = await hooks.webhook("/500")
    async with running(hooks):
        await emit_now(hooks)
        deadline = time.monotonic() + 60
        while (await hooks.delivery(webhook))["state"] != "abandoned":
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)
    at = [moment(each["at"]) for each in (await hooks.delivery(webhook))["attempts"]]
    gaps = [(after - before).total_seconds() for before, after in itertools.pairwise(at)]
    assert len(gaps) == len(waits)
    for gap, wait in zip(gaps, waits, strict=True):
        assert wait <= gap < 25, gaps  # the published schedule begins with 30


class running:  # noqa: N801
    """A running worker."""

    def __init__(self, hooks: Hooks) -> None:
        self.worker = DeliveryWorker(hooks.api.app)

    async def __aenter__(self) -> DeliveryWorker:
        self.task = asyncio.create_task(self.worker.run())
        return self.worker

    async def __aexit__(self, *error: object) -> None:
        await self.worker.stop(2.0)
        await asyncio.wait_for(self.task, 60)


async def emit_now(hooks: Hooks) -> None:
    async with hooks.api.app.db.tx() as conn:
        await events.emit(conn, utc_now(), sample_event("mail.sent", DOMAIN_IDS[EXAMPLE], None, {}))


async def asleep(hooks: Hooks, deliveries: DeliveryWorker) -> None:
    """Return when the worker is idle and listens for wake-ups."""
    worker = deliveries._worker
    statement = """
        SELECT 1 AS listener FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND d.datname = current_database()
        """
    async with asyncio.timeout(60):
        while worker._tasks or worker._wake.is_set() or not await hooks.api.sql(statement):
            await asyncio.sleep(0.02)


async def test_a_sleeping_worker_is_woken_by_the_event(hooks: Hooks, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "POLL_SECONDS", 300.0)
    hooks.api.app = replace(hooks.api.app, clock=utc_now)
    await hooks.webhook()
    async with running(hooks) as worker:
        for _ in range(5):
            await asleep(hooks, worker)
            heard = asyncio.Event()
            hooks.sink.on_request = lambda _, heard=heard: heard.set()
            await emit_now(hooks)
            await asyncio.wait_for(heard.wait(), 60)  # not by looking now and then


async def test_a_worker_survives_the_loss_of_its_connections(hooks: Hooks):
    hooks.api.app = replace(hooks.api.app, clock=utc_now)
    await hooks.webhook()
    async with running(hooks) as worker:
        await asleep(hooks, worker)
        await hooks.api.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        heard = asyncio.Event()
        hooks.sink.on_request = lambda _: heard.set()
        async with asyncio.timeout(60):
            while not heard.is_set():
                with suppress(Unavailable):  # the pool's connections were ended as well, or are about to be
                    await emit_now(hooks)
                    await heard.wait()


@pytest.mark.usefixtures("patient")
async def test_an_attempt_is_recorded_before_its_response(hooks: Hooks):
    webhook = await hooks.webhook("/200/later")
    gate = hooks.sink.gates["/200/later"] = asyncio.Event()
    await hooks.emit()
    draining = asyncio.create_task(hooks.deliver())
    async with asyncio.timeout(60):
        while not hooks.sink.posted:
            await asyncio.sleep(0.01)
    shown = await hooks.delivery(webhook)
    nothing = {"status": None, "duration_ms": None, "error": None, "response_excerpt": None}
    assert shown["attempts"] == [{"at": iso(START), **nothing}]
    assert (shown["state"], shown["next_attempt_at"]) == ("pending", None)
    gate.set()
    await draining


async def test_the_delivery_of_a_dead_worker_is_repeated_after_its_lease(hooks: Hooks):
    webhook = await hooks.webhook("/200")
    await hooks.emit()
    async with hooks.api.app.db.autocommit() as conn:
        at = hooks.api.clock()
        assert len(await delivery_store.claim(conn, at, at + LEASE, ClaimLimits(10, 10, {}, NOBODY))) == 1
    assert await hooks.deliver(LEASE.total_seconds() - 1) == 0
    assert await hooks.deliver(1) == 1
    shown = await hooks.delivery(webhook)
    assert [(each["at"], each["status"], each["error"]) for each in shown["attempts"]] == [
        (iso(START), None, _INTERRUPTED),
        (iso(START + LEASE), 200, None),
    ]


@pytest.mark.usefixtures("patient")
async def test_a_worker_whose_lease_has_ended_changes_nothing(hooks: Hooks):
    webhook = await hooks.webhook("/once")
    gate = hooks.sink.gates["/once"] = asyncio.Event()
    hooks.sink.statuses["/once"] = 500
    await hooks.emit()
    sleeper = DeliveryWorker(hooks.api.app)
    draining = asyncio.create_task(sleeper.drain())
    async with asyncio.timeout(60):
        while not hooks.sink.posted:
            await asyncio.sleep(0.01)
    del hooks.sink.gates["/once"]
    hooks.sink.statuses["/once"] = 200
    assert await hooks.deliver(LEASE.total_seconds()) == 1
    before = await hooks.delivery(webhook)
    assert before["state"] == "delivered"
    hooks.sink.statuses["/once"] = 500
    gate.set()
    await draining
    assert await hooks.delivery(webhook) == before, "another worker had claimed it by then"


async def test_two_workers_share_a_queue_and_post_each_event_once(hooks: Hooks):
    webhook = await hooks.webhook()
    for _ in range(60):
        await hooks.emit()
    assert sum(await asyncio.gather(*(DeliveryWorker(hooks.api.app).drain() for _ in range(3)))) == 60
    assert len({each.id for each in hooks.sink.posted}) == len(hooks.sink.posted) == 60
    assert {each["state"] for each in await hooks.deliveries(webhook, limit=100)} == {"delivered"}


@pytest.mark.usefixtures("patient")
async def test_a_worker_that_stops_releases_unfinished_deliveries(hooks: Hooks):
    webhook = await hooks.webhook("/200/later")
    hooks.sink.gates["/200/later"] = asyncio.Event()
    await hooks.emit()
    hooks.api.app = replace(hooks.api.app)
    worker = DeliveryWorker(hooks.api.app)
    running = asyncio.create_task(worker.run())
    async with asyncio.timeout(60):
        while not hooks.sink.posted:
            await asyncio.sleep(0.01)
    await worker.stop(0.1)
    await asyncio.wait_for(running, 60)
    shown = await hooks.delivery(webhook)
    assert shown["next_attempt_at"] == iso(START), "at once, not after the lease"
    assert [each["error"] for each in shown["attempts"]] == [_INTERRUPTED]
    hooks.sink.gates.clear()
    assert await hooks.deliver() == 1
    assert (await hooks.delivery(webhook))["state"] == "delivered"
