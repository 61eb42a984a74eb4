"""The process `node`, for everything that needs root or a daemon's tool (the node agent). It

- performs the tasks that the API requests (`record/node_tasks`), among them operations on services
  (`run/runtime/orchestrator`);
- reconciles the history with Postfix's queue;
- clears Postfix's caches of senders and recipients when a domain was created, deleted or changed its state;
- reloads Postfix and Dovecot when the database is available again: otherwise they would retry a failed connection only
  after a minute. This uses its own connection, so that neither running tasks nor the pool delay it;
- writes the certificates that were ordered as files for the daemons (`run/runtime/certificate_files`);
- writes nginx's servers for the names of hosted domains (`run/runtime/edge_sites`);
- ends sessions that lost their access (`run/runtime/session_ends`);
- seals and prunes the audit log, and stores the newest seal outside the database;
- removes the mail of deleted mailboxes, and the first administrator's password file when it was emptied;
- lets Dovecot count mailboxes (`mailbox_usage/jobs`) and Postfix retry mail that waits for our own services
  (`run/runtime/recovery`);
- repairs search indexes that failed, and removes them when search is switched off (`run/runtime/search_indexes`);
- starts the child processes that render templates for the API (`run/runtime/render_children`);
- rotates the logs (`run/runtime/log_rotation`), and reports on the node for health (`run/runtime/node_health`), with
  the result of a probe message (`run/runtime/probe`) and of tests of the virus scanner and of DNS lists
  (`run/runtime/filter_watch`).
"""

from __future__ import annotations

import asyncio
import contextlib
import pwd
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import psycopg
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
from mailkeep.features.directory.client_setup import jobs as client_setup
from mailkeep.features.directory.mailbox_usage.folders import FolderTasks
from mailkeep.features.directory.mailbox_usage.jobs import UsageCounter
from mailkeep.features.directory.mailboxes import jobs as mailboxes
from mailkeep.features.directory.sieve.jobs import ScriptTasks
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.delivery_status.model import MissingMessage
from mailkeep.features.mailflow.junk.jobs import JunkTasks
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.features.operations.backup_contents import service as backup_contents
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons.paths import SERVED_CERTIFICATE, InstancePaths
from mailkeep.mail.daemons.tool import run
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli.install import MAIL_ACCOUNT
from mailkeep.run.processes import logs_agent
from mailkeep.run.runtime import edge_sites, node_health, tasks
from mailkeep.run.runtime.certificate_files import CertificateFiles
from mailkeep.run.runtime.filter_watch import FilterWatch
from mailkeep.run.runtime.log_rotation import Rotation, RotationLimits
from mailkeep.run.runtime.orchestrator import Orchestrator
from mailkeep.run.runtime.probe import Prober
from mailkeep.run.runtime.process import Process
from mailkeep.run.runtime.recovery import Recovery
from mailkeep.run.runtime.render_children import RenderChildren
from mailkeep.run.runtime.search_indexes import SearchIndexes
from mailkeep.run.runtime.services import reload_daemons
from mailkeep.run.runtime.session_ends import SessionEnder

log = structlog.get_logger("mailkeep.node")

_CHECK_SECONDS = 1.0
_RECONNECT_SECONDS = 0.1
_FLUSH_SECONDS = 1.0  # batches changes of many domains; modification times have a resolution of a second
_RECONCILE_SECONDS = 600.0
_REMOVE_MAIL_SECONDS = 10.0
_PRUNE_SESSIONS_SECONDS = 3600.0
_LOG_CHECKS = 15  # how often to check whether the log is read up to the time of the listing
_GRACE = timedelta(minutes=10)  # newer messages may be on their way into the queue


@dataclass(slots=True)
class NodeAgent:
    """The state that the tasks of this process share."""

    app: App
    paths: InstancePaths
    reconcile_seconds: float = _RECONCILE_SECONDS
    grace: timedelta = _GRACE
    session_ender: SessionEnder = field(init=False)
    orchestrator: Orchestrator = field(init=False)
    certificates: CertificateFiles = field(init=False)
    _is_database_away: bool = False
    _domains_changed: bool = True  # changes before the start are unknown
    _flushed_at: float = 0.0
    _task_requested: asyncio.Event = field(default_factory=asyncio.Event)
    sites_requested: asyncio.Event = field(default_factory=asyncio.Event)
    _missing: frozenset[UUID] = field(default_factory=frozenset[UUID])

    def __post_init__(self) -> None:
        self.session_ender = SessionEnder(self.app, self.paths)
        self.orchestrator = Orchestrator(self.app, self.paths)
        self.certificates = CertificateFiles(self.app, self.paths, self._use_certificates)

    async def _use_certificates(self) -> None:
        """Let Postfix, Dovecot and nginx read new certificates; a name that has its first one gets it in nginx."""
        await reload_daemons(self.paths)
        edge_sites.reload(self.paths)
        self.sites_requested.set()

    async def watch_database(self) -> None:
        """Handle notifications, and reload the daemons after an outage, until cancelled."""
        while True:
            try:
                async with self.app.db.listen("mailkeep_node") as conn:
                    if self._is_database_away:
                        log.info("the database is available again")
                        self._is_database_away = False
                        await reload_daemons(self.paths)
                    await self._handle_notifications(conn)
            except (Unavailable, psycopg.OperationalError):
                if not self._is_database_away:
                    log.warning("the database is not available; reconnecting")
                self._is_database_away = True
            except Exception:
                log.exception("handling notifications failed")
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _handle_notifications(self, conn: Conn) -> None:
        # Notifications before this connection were missed.
        self._task_requested.set()
        self.session_ender.wake()
        self.certificates.wake()
        while True:
            if self._domains_changed and asyncio.get_running_loop().time() - self._flushed_at >= _FLUSH_SECONDS:
                await self._flush_postfix_caches()
            async for notification in conn.notifies(timeout=_CHECK_SECONDS, stop_after=1):
                if notification.payload == "domains":
                    self._domains_changed = True
                    self.sites_requested.set()
                elif notification.payload in ("session_ends", "app_passwords", "key_sessions"):
                    self.session_ender.wake()
                elif notification.payload == "certificates":
                    self.certificates.wake()
                else:
                    self._task_requested.set()

    async def keep_performing_tasks(self) -> None:
        """Perform tasks until cancelled; checks every second, in case a notification was missed."""
        queue_tasks = queue.task_handlers(self.app, self.paths)
        mail_account = pwd.getpwnam(MAIL_ACCOUNT)
        script_tasks = ScriptTasks(
            self.app, (mail_account.pw_uid, mail_account.pw_gid), partial(node_health.read_sieve_settings, self.paths)
        )
        handlers: Mapping[str, TaskHandler] = {
            **queue_tasks,
            **script_tasks.handlers(),
            **FolderTasks(self.app, self.paths.dovecot_conf / "dovecot.conf").handlers(),
            **JunkTasks(self.app, self.paths.dovecot_conf / "dovecot.conf").handlers(),
            **client_setup.task_handlers(self.app, self.paths.data / SERVED_CERTIFICATE),
            **self.orchestrator.task_handlers(),
            **backup_contents.task_handlers(self.app),
        }
        are_earlier_ended = False
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._task_requested.wait()
            self._task_requested.clear()
            _remove_if_empty(self.app.data_dir / INITIAL_ADMIN_FILE)
            try:
                if not are_earlier_ended:
                    await node_tasks.fail_interrupted(self.app)
                    are_earlier_ended = True
                while await node_tasks.run_next(self.app, handlers):
                    pass
            except Unavailable:
                pass  # waiting tasks are found again when the database is back
            except Exception:
                log.exception("a task failed")

    async def _flush_postfix_caches(self) -> None:
        self._domains_changed, self._flushed_at = False, asyncio.get_running_loop().time()
        try:
            await postfix_queue.clear_caches(self.paths.postfix_conf)
        except Failure as error:
            log.warning("Postfix's caches were not cleared after a change of domains", why=str(error))

    async def keep_reconciling(self) -> None:
        """Reconcile the history with the queue every ten minutes, until cancelled."""
        while True:
            await asyncio.sleep(self.reconcile_seconds)
            try:
                await self.reconcile_once()
                await node_tasks.clean_up(self.app)
            except Unavailable:
                log.info("waiting for the database", task="reconciliation")
            except Exception:
                log.exception("the history was not reconciled with the queue")

    async def reconcile_once(self) -> None:
        """Set messages to `unknown` that two queue listings in a row lack and that have no outcome in the log."""
        listed_at: datetime = self.app.clock()
        queued = await asyncio.to_thread(postfix_queue.list_queue_ids, self.paths.postfix_queue)
        missing = await self._find_missing(queued, listed_at)
        if missing is not None:
            await delivery_status.end_missing(self.app, [each for each in missing if each.id in self._missing])
            self._missing = frozenset(each.id for each in missing)
            await delivery_status.free_unaccepted(self.app, queued, listed_at)

    async def _find_missing(self, queued: Collection[str], listed_at: datetime) -> list[MissingMessage] | None:
        """Messages that are not in the queue but should be; None if the log is not read up to `listed_at` in time."""
        for _ in range(_LOG_CHECKS):
            await asyncio.sleep(_CHECK_SECONDS)
            missing = await delivery_status.find_missing(self.app, queued, listed_at, self.grace)
            if missing is not None:
                return missing
        return None


def _remove_if_empty(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def create_rotation(app: App, paths: InstancePaths) -> Rotation:
    """The rotation of all logs. Postfix renames its own log, which is compressed when `logs` has read all of it."""

    async def is_read(path: Path) -> bool:
        return not path.name.startswith(paths.mail_log.name) or await delivery_status.is_read(
            app, logs_agent.LOG_NAME, path
        )

    return Rotation(
        paths.log,
        lambda: RotationLimits.from_settings(app.settings),
        own_rotation={paths.mail_log.name: partial(postfix_queue.rotate_log, paths.postfix_conf)},
        reopen={
            "dovecot.log": partial(run, "doveadm", "-c", str(paths.dovecot_conf / "dovecot.conf"), "log", "reopen")
        },
        is_read=is_read,
    )


async def serve(app: App, process: Process) -> None:
    """Run all tasks of the agent until asked to stop."""
    node = NodeAgent(app, process.paths)
    usage = UsageCounter(app, process.paths)
    prober = Prober(app, process.paths)
    filters = FilterWatch(app, process.paths)
    loops = (
        node.watch_database(),
        node.session_ender.run(),
        node.orchestrator.run(),
        node.certificates.run(),
        edge_sites.keep_current(app, process.paths, node.sites_requested),
        node.keep_performing_tasks(),
        node.keep_reconciling(),
        repeat(_REMOVE_MAIL_SECONDS, "mail of deleted mailboxes", lambda: mailboxes.remove_mail(app)),
        Recovery(app, process.paths).run(),
        create_rotation(app, process.paths).run(),
        prober.run(),
        filters.run(),
        SearchIndexes(app, process.paths).run(),
        node_health.keep_reporting(app, process.paths, node_health.Watches(prober, filters, node.certificates)),
        usage.keep_counting_due(),
        usage.keep_counting_all(),
        repeat(_PRUNE_SESSIONS_SECONDS, "submission sessions that have ended", node.session_ender.prune_key_sessions),
        RenderChildren(process.sockets["templates"]).run(),
        tasks.run_sealing(app),
        tasks.run_audit_pruning(app),
    )
    running = [asyncio.create_task(loop) for loop in loops]
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(*running)
