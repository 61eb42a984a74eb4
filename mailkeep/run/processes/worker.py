"""The process `worker`: sends scheduled messages, delivers webhooks, carries out bulk operations, checks and writes DNS
records, rotates DKIM keys, orders certificates, reports problems of backups, mails alerts, counts mail, checks senders,
reads reports, warns owners of full mailboxes, and sends digests of Junk; that of an instance also records the health.

Any number of workers can share one database.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import structlog
import uvloop

from mailkeep.app import App
from mailkeep.features.directory.bulk.jobs import BulkWorker
from mailkeep.features.directory.dkim_rotation.jobs import DkimWorker
from mailkeep.features.directory.dns_checks.jobs import DnsCheckWorker
from mailkeep.features.directory.dns_updates.jobs import DnsUpdateWorker
from mailkeep.features.mailflow.scheduling.jobs import ScheduledWorker
from mailkeep.features.mailflow.webhooks.jobs import DeliveryWorker
from mailkeep.features.operations.certificates.jobs import CertificateWorker
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.daemons import node_report
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.run.runtime import logs, service_status, tasks
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.metrics_flush import flush_counters
from mailkeep.settings import load_settings

log = structlog.get_logger("mailkeep")

_GRACE_SECONDS = 2.0


class WorkerProcess(Protocol):
    """The part of `Process` that a worker uses."""

    @property
    def paths(self) -> InstancePaths:
        """The paths of the instance."""
        ...

    @property
    def stop_requested(self) -> asyncio.Event:
        """Set when the worker is to stop."""
        ...

    def report_ready(self) -> None:
        """Report that the worker is running."""
        ...


class BackgroundWorker(Protocol):
    """The worker of a queue."""

    async def run(self) -> None:
        """Run jobs until `stop` is called."""
        ...

    async def stop(self, grace_seconds: float) -> None:
        """Begin no further job, and wait for those in progress."""
        ...


@contextlib.asynccontextmanager
async def running(worker: BackgroundWorker) -> AsyncGenerator[None]:
    """Run a worker while the block lasts. Jobs in progress then have two seconds; the rest is repeated."""
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        await worker.stop(_GRACE_SECONDS)
        await task


def deliver_webhooks(app: App) -> contextlib.AbstractAsyncContextManager[None]:
    """Deliver webhooks while the block lasts."""
    return running(DeliveryWorker(app))


@contextlib.asynccontextmanager
async def send_scheduled(app: App) -> AsyncGenerator[None]:
    """Send scheduled messages while the block lasts, if this process can submit mail."""
    if app.mta is None:
        yield
        return
    async with running(ScheduledWorker(app)):
        yield


@contextlib.asynccontextmanager
async def work(app: App) -> AsyncGenerator[None]:
    """Do the work of this process while the block lasts."""
    warnings = asyncio.create_task(tasks.run_quota_warnings(app))
    digests = asyncio.create_task(tasks.run_junk_digests(app))
    refusals = asyncio.create_task(tasks.run_refusal_summaries(app))
    backups = asyncio.create_task(tasks.run_backup_alerts(app))
    alert_mail = asyncio.create_task(tasks.run_alert_mail(app))
    counting = asyncio.create_task(tasks.run_counting(app))
    senders = asyncio.create_task(tasks.run_sender_checks(app))
    abuse = asyncio.create_task(tasks.run_abuse_checks(app))
    reports = asyncio.create_task(tasks.run_reports(app))
    names = asyncio.create_task(tasks.run_source_names(app))
    settling = asyncio.create_task(tasks.run_scheduled_settling(app))
    try:
        async with (
            deliver_webhooks(app),
            running(BulkWorker(app)),
            running(DnsCheckWorker(app)),
            running(DkimWorker(app)),
            running(DnsUpdateWorker(app)),
            running(CertificateWorker(app)),
            send_scheduled(app),
        ):
            yield
    finally:
        await cancel_all(
            warnings, digests, refusals, backups, alert_mail, counting, senders, abuse, reports, names, settling
        )
        await app.report_reader.close()


async def serve(app: App, process: WorkerProcess) -> None:
    """Work until asked to stop; in the full profile with the socket of Postfix for the API's mail."""
    async with contextlib.AsyncExitStack() as stack:
        if app.settings.is_full_profile:
            app.running_services = partial(service_status.read_running, process.paths.run)
            app.node_report = partial(node_report.load, process.paths.run)
            app.mta = SmtpPool(Relay(str(process.paths.api_smtp), 0, helo=app.settings.server.name))
            app.mta_restarts = lambda: not service_status.is_stopped(process.paths.run, "postfix")
            stack.push_async_callback(app.mta.close)
        await stack.enter_async_context(work(app))
        health = asyncio.create_task(tasks.run_health(app))
        stack.push_async_callback(cancel_all, health)
        process.report_ready()
        await process.stop_requested.wait()


def run(data_dir: Path, on_start: Callable[[], None]) -> int:
    """Work for a running instance, in the foreground, until SIGTERM or SIGINT; the exit code."""
    logs.configure(load_settings(data_dir).settings.log.level)
    uvloop.run(_run(data_dir, on_start))
    return 0


async def _run(data_dir: Path, on_start: Callable[[], None]) -> None:
    stop_requested = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop_requested.set)
    async with attach(data_dir, "worker") as app, flush_counters(app), work(app):
        log.info("the worker has started")
        on_start()
        await stop_requested.wait()
        log.info("the worker is stopping")
