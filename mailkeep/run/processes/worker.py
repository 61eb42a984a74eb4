"""The process `worker`: deliveries to webhooks. Any number of them may work on one database."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Protocol

import structlog
import uvloop

from mailkeep.app import App
from mailkeep.features.mailflow.webhooks.jobs import DeliveryWorker
from mailkeep.run.runtime import logs
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.metrics_flush import flush_counters
from mailkeep.settings import load_settings

log = structlog.get_logger("mailkeep")

_GRACE_SECONDS = 2.0


class WorkerProcess(Protocol):
    """What the process needs to know: when to end, and whom to tell that it works."""

    @property
    def stop_requested(self) -> asyncio.Event:
        """Set when it is to end."""
        ...

    def report_ready(self) -> None:
        """Tell that it works."""
        ...


@contextlib.asynccontextmanager
async def deliver_webhooks(app: App) -> AsyncGenerator[None]:
    """Deliver for as long as the block lasts; what is under way then may end within seconds, or is given back."""
    deliveries = DeliveryWorker(app)
    task = asyncio.create_task(deliveries.run())
    try:
        yield
    finally:
        await deliveries.stop(_GRACE_SECONDS)
        await task


async def serve(app: App, process: WorkerProcess) -> None:
    """Work until told to end."""
    async with deliver_webhooks(app):
        process.report_ready()
        await process.stop_requested.wait()


def run(data_dir: Path, on_start: Callable[[], None]) -> int:
    """Work beside a running instance, in the foreground, until told to end; the exit code. `begun` is called once
    it works.
    """
    logs.configure(load_settings(data_dir).settings.log.level)
    uvloop.run(_run(data_dir, on_start))
    return 0


async def _run(data_dir: Path, begun: Callable[[], None]) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with attach(data_dir, "worker") as app, flush_counters(app), deliver_webhooks(app):
        log.info("working")
        begun()
        await ended.wait()
        log.info("ending")
