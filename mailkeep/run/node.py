"""The process `node`: the agent of a node, which does what needs root or a daemon's tool.

It answers the API's operations (`features/operations`), reloads Postfix where a domain came, went or changed its state
and when the database is back, then Dovecot as well, and settles the history against the queue. Postfix remembers what
it was told of a sender and recipient for as long as its process lives; both daemons ask a database that failed again
only after a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.pool import Conn
from mailkeep.features.fates import service as fates
from mailkeep.features.fates.model import Missing
from mailkeep.features.operations import service as operations
from mailkeep.features.operations.service import Perform
from mailkeep.features.queue import service as queue
from mailkeep.mail import postfix_queue
from mailkeep.mail.places import Places
from mailkeep.mail.tool import run
from mailkeep.run.process import Process

log = structlog.get_logger("mailkeep.node")

_LOOK_SECONDS = 1.0
_AWAY_SECONDS = 0.2
_BETWEEN_RELOADS = 1.0  # changes of many domains in a row are one reload, or a few
_SETTLE_SECONDS = 600.0
_PATIENCE = 15  # looks for the log to be read as far as the listing
_GRACE = timedelta(minutes=10)


@dataclass(slots=True)
class Node:
    """The agent; one on each node."""

    app: App
    places: Places
    settle_seconds: float = _SETTLE_SECONDS
    grace: timedelta = _GRACE
    _away: bool = False
    _stale: bool = False
    _reloaded: float = 0.0
    _missing: frozenset[UUID] = field(default_factory=frozenset[UUID])

    async def run(self) -> None:
        """Listen and work until cancelled; a database that is away is waited for."""
        while True:
            try:
                async with self.app.db.listening("mailkeep_node") as conn:
                    if self._away:
                        log.info("the database is back")
                        self._stale, self._away = True, False
                        await self._reload_dovecot()
                    await self._work(conn)
            except (Unavailable, psycopg.OperationalError):
                if not self._away:
                    log.warning("waiting for the database")
                self._away = True
            except Exception:
                log.exception("the node's agent stumbled")
            await asyncio.sleep(_AWAY_SECONDS)

    async def _work(self, conn: Conn) -> None:
        performers = self._performers()
        while True:
            if self._stale:
                await self._reload()
            while await operations.perform_next(self.app, performers):
                pass
            async for told in conn.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                self._stale = self._stale or told.payload == "domains"

    def _performers(self) -> Mapping[str, Perform]:
        return queue.performers(self.places.postfix_conf, self.places.postfix_queue)

    async def _reload(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._reloaded < _BETWEEN_RELOADS:
            return
        self._stale, self._reloaded = False, now
        try:
            await postfix_queue.reload(self.places.postfix_conf)
        except Failure as error:
            # It is not running, then, and knows nothing stale when it starts.
            log.warning("Postfix was not reloaded", why=str(error))

    async def _reload_dovecot(self) -> None:
        try:
            await run("doveadm", "-c", str(self.places.dovecot_conf / "dovecot.conf"), "reload")
        except Failure as error:
            log.warning("Dovecot was not reloaded", why=str(error))

    async def settle(self) -> None:
        """Settle the history against the queue, again and again, until cancelled."""
        while True:
            await asyncio.sleep(self.settle_seconds)
            try:
                await self.settle_once()
                await operations.tidy(self.app)
            except Unavailable:
                log.info("waiting for the database", task="settling")
            except Exception:
                log.exception("the history was not settled against the queue")

    async def settle_once(self) -> None:
        """What is missing in this listing of the queue and was in the last one has an unknown outcome."""
        listed_at: datetime = self.app.clock()
        queued = {each.queue_id for each in await postfix_queue.listing(self.places.postfix_conf)}
        found = await self._missing_from(queued, listed_at)
        if found is None:
            return
        await fates.settle_missing(self.app, [each for each in found if each.id in self._missing])
        self._missing = frozenset(each.id for each in found)

    async def _missing_from(self, queued: Collection[str], listed_at: datetime) -> list[Missing] | None:
        """What should be in the listing and is not, once the log is read as far; None where it does not get there."""
        for _ in range(_PATIENCE):
            await asyncio.sleep(_LOOK_SECONDS)
            found = await fates.missing(self.app, queued, listed_at, self.grace)
            if found is not None:
                return found
        return None


async def serve(app: App, process: Process) -> None:
    """Serve until told to end."""
    node = Node(app, process.places)
    tasks = [asyncio.create_task(node.run()), asyncio.create_task(node.settle())]
    process.ready()
    await process.ended.wait()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
