"""The process `node`: the agent of a node, which does what needs root or a daemon's tool.

It answers the API's operations (`record/node_tasks`), and settles the history against the queue. Where a domain came,
went or changed its state it has Postfix forget what its processes remember of senders and recipients. When the database
is back it reloads Postfix and Dovecot, who would ask one that failed again only after a minute: so who hears of that
has a connection and a task of its own, and neither an operation under way nor a pool that has not noticed yet holds it
up.

It ends sessions that lost their access (`run/runtime/session_ends`), as soon as it is notified.

And it writes and removes where only root may: it seals and prunes the audit log, and notes the newest seal outside the
database; it removes the mail of mailboxes that are gone, and the first administrator's password file once it was
emptied. It has Dovecot count mailboxes (`run/processes/counting`) and Postfix try again what our own services held up
(`run/runtime/recovery`), rotates the logs (`run/runtime/log_rotation`), and reports what the API tells of health
(`run/runtime/node_health`).
"""

from __future__ import annotations

import asyncio
import contextlib
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
from mailkeep.features.directory.mailbox_usage.jobs import UsageCounter
from mailkeep.features.directory.mailboxes import jobs as mailboxes
from mailkeep.features.mailflow.delivery_status import service as fates
from mailkeep.features.mailflow.delivery_status.model import MissingMessage
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.tool import run
from mailkeep.mail.message import srs
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.processes import logs_agent
from mailkeep.run.runtime import node_health, tasks
from mailkeep.run.runtime.log_rotation import Rotation, RotationLimits
from mailkeep.run.runtime.process import Process
from mailkeep.run.runtime.recovery import Recovery
from mailkeep.run.runtime.session_ends import SessionEnder

log = structlog.get_logger("mailkeep.node")

_LOOK_SECONDS = 1.0
_AWAY_SECONDS = 0.1
_BETWEEN = 1.0  # changes of many domains in a row are told to Postfix once, or a few times; files' times are of seconds
_SETTLE_SECONDS = 600.0
_REMOVE_SECONDS = 10.0
_PATIENCE = 15  # looks for the log to be read as far as the listing
_GRACE = timedelta(minutes=10)


@dataclass(slots=True)
class NodeAgent:
    """The agent; one on each node."""

    app: App
    paths: InstancePaths
    settle_seconds: float = _SETTLE_SECONDS
    grace: timedelta = _GRACE
    session_ender: SessionEnder = field(init=False)
    _database_away: bool = False
    _domains_changed: bool = True  # who starts anew does not know what was missed
    _flushed_at: float = 0.0
    _task_requested: asyncio.Event = field(default_factory=asyncio.Event)
    _missing: frozenset[UUID] = field(default_factory=frozenset[UUID])

    def __post_init__(self) -> None:
        self.session_ender = SessionEnder(self.app, self.paths)

    async def watch_database(self) -> None:
        """Listen, and keep the daemons from what they remember wrongly, until cancelled."""
        while True:
            try:
                async with self.app.db.listen("mailkeep_node") as conn:
                    if self._database_away:
                        log.info("the database is back")
                        self._database_away = False
                        await asyncio.gather(self._reload(), self._reload_dovecot())
                    await self._handle_notifications(conn)
            except (Unavailable, psycopg.OperationalError):
                if not self._database_away:
                    log.warning("waiting for the database")
                self._database_away = True
            except Exception:
                log.exception("the node's agent stumbled")
            await asyncio.sleep(_AWAY_SECONDS)

    async def _handle_notifications(self, conn: Conn) -> None:
        # Perhaps while nobody listened.
        self._task_requested.set()
        self.session_ender.wake()
        while True:
            if self._domains_changed and asyncio.get_running_loop().time() - self._flushed_at >= _BETWEEN:
                await self._flush_postfix_caches()
            async for told in conn.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                if told.payload == "domains":
                    self._domains_changed = True
                elif told.payload == "session_ends":
                    self.session_ender.wake()
                else:
                    self._task_requested.set()

    async def keep_performing_tasks(self) -> None:
        """Do what is asked for, until cancelled; looked for every second, should a call be missed."""
        performers = self._performers()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._task_requested.wait()
            self._task_requested.clear()
            _remove_where_empty(self.app.data_dir / INITIAL_ADMIN_FILE)
            try:
                while await node_tasks.run_next(self.app, performers):
                    pass
            except Unavailable:
                pass  # what waits is found again when the database is back
            except Exception:
                log.exception("an operation stumbled")

    def _performers(self) -> Mapping[str, TaskHandler]:
        original = srs.rewriter(self.app.vault, self.app.settings).restore
        return queue.task_handlers(self.paths.postfix_conf, self.paths.postfix_queue, original)

    async def _flush_postfix_caches(self) -> None:
        self._domains_changed, self._flushed_at = False, asyncio.get_running_loop().time()
        try:
            await postfix_queue.clear_caches(self.paths.postfix_conf)
        except Failure as error:
            log.warning("Postfix was not told of changed domains", why=str(error))

    async def _reload(self) -> None:
        try:
            await postfix_queue.reload(self.paths.postfix_conf)
        except Failure as error:
            # It is not running, then, and knows nothing stale when it starts.
            log.info("Postfix was not reloaded", why=str(error))

    async def _reload_dovecot(self) -> None:
        try:
            await run("doveadm", "-c", str(self.paths.dovecot_conf / "dovecot.conf"), "reload")
        except Failure as error:
            log.warning("Dovecot was not reloaded", why=str(error))

    async def keep_settling(self) -> None:
        """Settle the history against the queue, again and again, until cancelled."""
        while True:
            await asyncio.sleep(self.settle_seconds)
            try:
                await self.settle_once()
                await node_tasks.clean_up(self.app)
            except Unavailable:
                log.info("waiting for the database", task="settling")
            except Exception:
                log.exception("the history was not settled against the queue")

    async def settle_once(self) -> None:
        """What is not in the queue now and was not the last time, and has no end in the log, is unknown."""
        looked_at: datetime = self.app.clock()
        queued = await asyncio.to_thread(postfix_queue.list_queue_ids, self.paths.postfix_queue)
        found = await self._missing_from(queued, looked_at)
        if found is not None:
            await fates.settle_missing(self.app, [each for each in found if each.id in self._missing])
            self._missing = frozenset(each.id for each in found)

    async def _missing_from(self, queued: Collection[str], looked_at: datetime) -> list[MissingMessage] | None:
        """What should be in the queue and is not, once the log is read as far; None where it does not get there."""
        for _ in range(_PATIENCE):
            await asyncio.sleep(_LOOK_SECONDS)
            found = await fates.find_missing(self.app, queued, looked_at, self.grace)
            if found is not None:
                return found
        return None


def _remove_where_empty(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


def rotation_of(app: App, paths: InstancePaths) -> Rotation:
    """All logs of the instance. Postfix renames its own, and the agent `logs` reads that one to its end."""

    async def is_read(path: Path) -> bool:
        return not path.name.startswith(paths.mail_log.name) or await fates.is_read(app, logs_agent.NAME, path)

    return Rotation(
        paths.log,
        RotationLimits.from_settings(app.settings),
        own_rotation={paths.mail_log.name: partial(postfix_queue.rotate_log, paths.postfix_conf)},
        reopen={
            "dovecot.log": partial(run, "doveadm", "-c", str(paths.dovecot_conf / "dovecot.conf"), "log", "reopen")
        },
        is_read=is_read,
    )


async def serve(app: App, process: Process) -> None:
    """Serve until told to end."""
    node = NodeAgent(app, process.paths)
    removing = repeat(_REMOVE_SECONDS, "mail of mailboxes that are gone", lambda: mailboxes.remove_mail(app))
    walk = UsageCounter(app, process.paths)
    counting = (walk.keep_counting_due(), walk.keep_counting_all())
    audit = (tasks.run_sealing(app), tasks.run_audit_pruning(app))
    recovering, rotating = Recovery(app, process.paths).run(), rotation_of(app, process.paths).run()
    answering = (node.watch_database(), node.session_ender.run(), node.keep_performing_tasks(), node.keep_settling())
    works = (
        *answering,
        removing,
        recovering,
        rotating,
        node_health.keep_reporting(app, process.paths),
        *counting,
        *audit,
    )
    running = [asyncio.create_task(work) for work in works]
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(*running)
