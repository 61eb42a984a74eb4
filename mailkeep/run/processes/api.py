"""The process `api`: the HTTP API and the internal listener, on sockets that the supervisor holds.

There are `http.processes` of them. What belongs to the instance, not to requests, is done by the first.
"""

from __future__ import annotations

import contextlib
from functools import partial

from mailkeep.app import App
from mailkeep.features.access.admins import service as admins
from mailkeep.features.mailflow.sending import jobs as sending
from mailkeep.features.record.audit.service import record_summaries
from mailkeep.mail.daemons import node_report
from mailkeep.mail.message.parse_process import Parser
from mailkeep.mail.reports.reader import ReportReader
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.templates.render_process import Renderer
from mailkeep.run.profiles.embedded import background, serve_http
from mailkeep.run.runtime import process_group, service_status, tasks
from mailkeep.run.runtime.http import HttpListener
from mailkeep.run.runtime.process import Process
from mailkeep.web.metrics import Metrics
from mailkeep.web.metrics_files import MetricsFiles


async def serve(app: App, process: Process) -> None:
    """Serve until asked to stop."""
    async with contextlib.AsyncExitStack() as stack:
        app.parser = Parser(app.data_dir / "tmp", memory=app.memory)
        app.report_reader = ReportReader(memory=app.memory)
        admins.hashing.share(app.memory)
        app.running_services = partial(service_status.read_running, process.paths.run)
        app.node_report = partial(node_report.load, process.paths.run)
        stack.push_async_callback(app.parser.close)
        stack.push_async_callback(app.report_reader.close)
        if app.settings.is_full_profile:
            app.renderer = Renderer(process.paths.templates_socket, memory=app.memory)
            relay = Relay(str(process.paths.api_smtp), 0, helo=app.settings.server.name)
            app.mta = SmtpPool(relay)
            app.mta_restarts = lambda: not service_status.is_stopped(process.paths.run, "postfix")
            stack.push_async_callback(app.mta.close)
        stack.push_async_callback(app.renderer.close)
        is_first = app.memory.slot == 0
        if is_first:
            await sending.reconcile(app, app.clock() - sending.ABANDONED)
        public, internal = (HttpListener.on_socket(process.sockets[name]) for name in ("public", "internal"))
        public.add_unix_socket(process.sockets["edge"])
        metrics = Metrics()
        if app.memory.processes > 1:
            files = MetricsFiles(process.paths.metrics, app.memory.slot)
            stack.callback(files.close)
            metrics = Metrics(files, lambda: filter(None, app.memory.read(process_group.PID)))
        await serve_http(app, public, internal, metrics, stack)
        if is_first:
            stack.enter_context(background(tasks.run_housekeeping(app)))
        stack.push_async_callback(record_summaries, app, None)
        stack.enter_context(background(tasks.run_refusal_summaries(app)))
        process.report_ready()
        await process.stop_requested.wait()
