"""`mailkeep up`: the embedded profile, all in one process; its children are PostgreSQL and the message parsers.

Order of start: lock, secret, database, schema, first administrator, sandbox, SMTP listener, HTTP. It stops in the
reverse order within 10 seconds of SIGTERM or SIGINT: requests in progress may finish, new ones are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping
from pathlib import Path
from typing import Any

import structlog
import uvloop

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.core.clock import iso, utc_now
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock, ensure_own_folder, run_folder, write_atomically
from mailkeep.db.migrate import migrate
from mailkeep.db.pool import DatabasePool
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
from mailkeep.features.directory.mailboxes.model import mail_root
from mailkeep.features.mailflow.sandbox.jobs import run_queue
from mailkeep.features.mailflow.scheduling import jobs as scheduling
from mailkeep.features.mailflow.sending import jobs as sending
from mailkeep.features.mailflow.sending.routes import body_limit
from mailkeep.features.mailflow.system_mail_delivery.jobs import SystemMailWorker
from mailkeep.features.operations.backups import jobs as backups
from mailkeep.features.operations.health import service as health
from mailkeep.features.operations.restores import service as restores
from mailkeep.features.operations.wal_archive import jobs as wal_archive
from mailkeep.features.record.audit.service import record_summaries
from mailkeep.features.record.events import jobs as events
from mailkeep.features.record.metrics import service as counters
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.mailbox.homes import separate_homes
from mailkeep.mail.message.parse_process import Parser
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.net.client import OutboundClient
from mailkeep.run.processes import sandbox, sendmail, smtp, worker
from mailkeep.run.runtime import (
    descriptors,
    full_restore,
    http,
    log_rotation,
    logs,
    node_health,
    state,
    stored_settings,
    tasks,
    upgrade_record,
)
from mailkeep.run.runtime.connection_limits import HttpLimits
from mailkeep.run.runtime.context import RESTORED, audit_database, audit_url_of, make_data_dir, open_vault
from mailkeep.run.runtime.http import HttpListener
from mailkeep.run.runtime.listener_certificate import ListenerCertificate
from mailkeep.run.runtime.metrics_flush import flush_counters
from mailkeep.run.runtime.process_group import create_memory
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS, NOT_FOUND_PAGES
from mailkeep.settings import FirstStart, LoadedSettings, load_settings, parse_dns_servers, parse_endpoint
from mailkeep.web.metrics import Metrics, internal_app
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router

log = structlog.get_logger("mailkeep")

_HTTP_GRACE_SECONDS = 4
_SMTP_GRACE_SECONDS = 3.0


def run(data_dir: Path, options: Mapping[str, str]) -> int:
    """Run an instance in the foreground until SIGTERM or SIGINT; the exit code."""
    loaded = load_settings(data_dir, options=options)
    logs.configure(loaded.settings.log.level)
    uvloop.run(_run(data_dir, loaded))
    return 0


async def _run(data_dir: Path, loaded: LoadedSettings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        make_data_dir(data_dir)
        stack.callback(acquire_lock(data_dir).release)
        separate_homes(mail_root(data_dir), is_restored=(data_dir / RESTORED).exists())
        # Ports first: the operator sees an error before anything has started.
        settings = loaded.settings
        public = HttpListener.on_socket(http.bind(*parse_endpoint(settings.http.listen), http.API))
        internal = HttpListener.on_socket(http.bind_internal(loaded))
        app = await stack.enter_async_context(_open_application(data_dir, loaded))
        await stack.enter_async_context(flush_counters(app))
        admin_line = await ensure_first_admin(app, loaded.first_start)
        wake = asyncio.Event()
        # No other process sends: unfinished sends are reconciled before their delivery outcomes arrive.
        await scheduling.end_processes(app, app.clock())
        await sending.reconcile(app, app.clock())
        await _open_outbound_mail(app, wake, stack)
        address = await _listen(app, public, internal, stack)
        if app.mta:
            paths = InstancePaths(data_dir, run_folder(data_dir))
            ensure_own_folder(paths.program_sockets, 0o755)
            await stack.enter_async_context(sendmail.listen(app, paths.sendmail_socket))
        settings = app.settings
        stack.enter_context(background(stored_settings.keep_current(app, saves_copy=True)))
        stack.enter_context(background(tasks.run_forwards(app)))
        stack.enter_context(background(tasks.run_sealing(app)))
        stack.enter_context(background(tasks.run_audit_pruning(app)))
        stack.push_async_callback(record_summaries, app, None)
        stack.enter_context(background(tasks.run_housekeeping(app)))
        stack.enter_context(background(tasks.run_health(app)))
        if not settings.database.url:  # the database server's log is the only one in the data directory
            stack.enter_context(background(log_rotation.for_database(data_dir, lambda: app.settings).run()))
        await _work(app, stack)
        state.write(
            data_dir, state.InstanceState(os.getpid(), __version__, iso(app.clock()), public.url, internal.url, address)
        )
        stack.callback(state.remove, data_dir)
        gc.collect()
        gc.freeze()  # a full collection over all imported objects would block the event loop for 60 ms
        print_banner(public.url, address, admin_line)
        await stop.wait()
        log.info("Mailkeep is stopping")


async def _work(app: App, stack: contextlib.AsyncExitStack) -> None:
    """Do the work of the processes `worker`, `reinjection` and `backup` until the stack ends."""
    await stack.enter_async_context(worker.work(app))
    await stack.enter_async_context(worker.running(SystemMailWorker(app)))
    await stack.enter_async_context(backups.working(app, {**backups.HANDLERS, **restores.HANDLERS}))
    await stack.enter_async_context(wal_archive.archiving(app))


@contextlib.asynccontextmanager
async def _open_application(data_dir: Path, loaded: LoadedSettings) -> AsyncGenerator[App]:
    """The App with a migrated database. A private database server runs as long as the block."""
    settings = loaded.settings
    vault = open_vault(data_dir, loaded)
    shutil.rmtree(data_dir / "tmp", ignore_errors=True)
    (data_dir / "tmp").mkdir(mode=0o700)
    async with contextlib.AsyncExitStack() as stack:
        if settings.database.url:
            owner, url = settings.database.owner_url or settings.database.url, settings.database.url
            audit_url = audit_url_of(settings.database)
        else:
            server = await postgres.start(data_dir)
            stack.push_async_callback(server.stop)
            stack.enter_context(background(server.supervise()))
            if server.notice:
                print_line(server.notice)
            owner, url, audit_url = server.urls.owner, server.urls.app, server.urls.audit
        await migrate(owner, utc_now)
        db = DatabasePool(url, max_size=settings.database.pool_size)
        await db.open()
        stack.push_async_callback(db.close)
        async with db.tx() as conn:
            newest, _ = await stored_settings.apply_newest(conn, data_dir, vault, loaded)
        settings = newest.settings
        logs.set_level(settings.log.level)
        outbound = OutboundClient(parse_dns_servers(settings.dns.servers))
        memory = create_memory(settings.http.max_connections)
        parser = Parser(data_dir / "tmp")
        app = App(settings, data_dir, utc_now, vault, db, loaded, parser=parser, outbound=outbound, memory=memory)
        app.audit_db = await stack.enter_async_context(audit_database(audit_url))
        stack.push_async_callback(app.parser.close)
        stack.push_async_callback(app.renderer.close)
        stack.push_async_callback(outbound.close)
        if line := await full_restore.complete_at_start(app):
            print_line(line)
        await upgrade_record.settle_at_start(app)
        async with db.tx() as conn:
            await tasks.prepare(app, conn)
        yield app


async def ensure_first_admin(app: App, start: FirstStart) -> str | None:
    """Create the first administrator if there is none; returns the line to print about it, None if there is one."""
    path = app.data_dir / INITIAL_ADMIN_FILE
    admin = await admins.ensure_first_admin(
        app, start.admin_email, start.admin_password, lambda password: write_atomically(path, password + "\n", 0o600)
    )
    if admin is None:
        return None
    if not admin.generated:
        return f"First administrator: {admin.email}, with the password of MAILKEEP_ADMIN_PASSWORD or its file."
    # Without a terminal the output may go to a log that others can read.
    if not sys.stdout.isatty():
        return f"First administrator: {admin.email}. Its password is in {path} until the first login."
    return f"First administrator: {admin.email}, password {admin.password} (also in {path} until the first login)"


async def _open_outbound_mail(app: App, wake: asyncio.Event, stack: contextlib.AsyncExitStack) -> None:
    """Connect the App to the server for outbound mail: the sandbox's port, a smarthost, or none."""
    mta = app.settings.mta
    hostname = app.settings.server.name
    if mta.mode == "none":
        return
    if mta.mode == "sandbox":
        server = await sandbox.start(app, wake)
        stack.push_async_callback(server.close, _SMTP_GRACE_SECONDS)
        stack.enter_context(background(run_queue(app, wake)))
        relay = Relay("127.0.0.1", server.port, helo=hostname)
    else:
        relay = Relay(
            mta.host, mta.port, tls=mta.tls, username=mta.username or None, password=mta.password or None, helo=hostname
        )
    app.mta = SmtpPool(relay)
    stack.push_async_callback(app.mta.close)
    stack.push_async_callback(app.relay_pools.close)


async def _listen(app: App, public: HttpListener, internal: HttpListener, stack: contextlib.AsyncExitStack) -> str:
    """Open the listeners; returns the address of the SMTP listener."""
    metrics = Metrics()
    inbound = smtp.InboundHandler(app, metrics)
    certificate = ListenerCertificate(app.settings, app.data_dir, app.clock)
    server = await smtp.start(app, inbound, certificate)
    stack.enter_context(background(certificate.renewal.keep_renewing(asyncio.Event())))
    stack.enter_context(background(repeat(smtp.END_SECONDS, "ending SMTP sessions", inbound.end_sessions)))
    stack.enter_context(background(inbound.hits.run()))
    stack.push_async_callback(inbound.wait_for_records)
    stack.push_async_callback(server.close, _SMTP_GRACE_SECONDS)
    app.served_certificate = lambda: node_health.find_certificate(app.settings, app.data_dir / "tls", app.clock())
    app.smtp_address = f"{parse_endpoint(app.settings.smtp.listen)[0]}:{server.port}"
    await serve_http(app, public, internal, metrics, stack)
    return app.smtp_address


async def serve_http(
    app: App, public: HttpListener, internal: HttpListener, metrics: Metrics, stack: contextlib.AsyncExitStack
) -> None:
    """Serve the API, the internal listener and event streams until the stack ends."""
    pipeline = Pipeline(app, Router(ENDPOINTS, not_found=NOT_FOUND_PAGES), ACCESS_CONTROL, metrics)
    stack.push_async_callback(pipeline.close)
    metrics_app = internal_app(
        metrics,
        lambda: health.ready(app),
        lambda: counters.read_sums(app),
        lambda: health.read_gauges(app),
        token=app.settings.http.metrics_token,
    )
    await internal.start(metrics_app, grace_seconds=1)
    stack.push_async_callback(internal.stop)
    await public.start(pipeline, grace_seconds=_HTTP_GRACE_SECONDS, limits=_http_limits(app), memory=app.memory)
    stack.push_async_callback(public.stop)
    stack.enter_context(background(events.watch(app)))
    stack.callback(app.streams.close)


def _http_limits(app: App) -> HttpLimits:
    """The limits for HTTP clients; in each process at most as many connections as there are descriptors for."""
    settings, http_settings = app.settings, app.settings.http
    limit = descriptors.raise_limit()
    available = descriptors.available_for_http(
        limit, smtp_sessions=settings.smtp.max_sessions, pool_size=settings.database.pool_size
    )
    if available < http_settings.max_connections:
        log.warning("fewer HTTP connections than http.max_connections", connections=available, descriptors=limit)
    return HttpLimits(
        connections=http_settings.max_connections,
        per_process=available,
        per_address=http_settings.max_connections_per_address,
        trusted=http_settings.trusted_proxies,
        header_seconds=http_settings.header_timeout_seconds,
        body_seconds=http_settings.body_timeout_seconds,
        unread_bytes=2 * body_limit(settings),
        read_seconds=http_settings.read_timeout_seconds,
        slowest_bytes_per_second=http_settings.slowest_bytes_per_second,
    )


@contextlib.contextmanager
def background(work: Coroutine[Any, Any, None]) -> Generator[None]:
    """Run this as a task while the block lasts."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()


def print_banner(url: str, smtp_address: str, admin_line: str | None) -> None:
    """Print the addresses and the line about the first administrator."""
    print_line(f"Mailkeep {__version__} is up: {url} (dashboard, API, documentation at /docs), SMTP {smtp_address}")
    if admin_line:
        print_line(admin_line)


def print_line(line: str) -> None:
    """Print a line for people."""
    print(line, file=sys.stdout, flush=True)  # noqa: T201
