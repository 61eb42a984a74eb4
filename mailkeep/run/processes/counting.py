"""Counting mailboxes behind what is told of them (`run/processes/usage`, `run/processes/arrivals`): the node's agent
does it, as root.

What was told can be wrong: what becomes of a delivery is Dovecot's to know, two sessions overtake each other, and what
is told while nobody listens is lost. Dovecot counts anew

- within seconds: who is due by what was told, the longest due first, some at a time, and for no more than a tenth of
  the time (one that can't be counted is tried again after a minute);
- in rounds through all mailboxes, each of a minute at least, by the times of their folders: who was never counted;
  where a folder changed and nothing was told, ten minutes after the last count, in the first round at once (flags and a
  first look change it too); where a folder changed, a day after the last count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import MailboxUsage, TrackedMailbox, maildir_of
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import count as dovecot_count

log = structlog.get_logger("mailkeep.counting")

_ROUND_SECONDS = 60.0
_PAGE = 200
_PAGE_SECONDS = 1.0
_LOOK_SECONDS = 2.0
_MOST_SECONDS = 60.0  # where Dovecot does not answer
_DUE = 50  # so many are counted in some tenths of a second
_REST = 9  # times what counting took
_AGAIN = timedelta(minutes=1)
_SLACK = timedelta(seconds=1)  # a directory's time is that of the kernel's tick before
_UNTOLD, _TOLD = timedelta(minutes=10), timedelta(days=1)

Count = Callable[[Path, Collection[str]], Awaitable[Mapping[str, dovecot_count.Holds]]]
"""Counts what mailboxes hold: `dovecot_count.count`."""


@dataclass(slots=True)
class UsageCounter:
    """Counts who is due, and walks through all mailboxes, again and again."""

    app: App
    places: InstancePaths
    count: Count = dovecot_count.count
    _is_first: bool = True  # who has just begun does not know how long nobody listened

    async def keep_counting_due(self) -> None:
        """Count who is due until cancelled."""
        while True:
            took = 0.0
            try:
                took = await self.count_due()
            except Unavailable:
                pass  # who is due is found again when the database is back
            except Exception:
                log.exception("mailboxes that are due could not be counted")
            await asyncio.sleep(min(_MOST_SECONDS, max(_LOOK_SECONDS, took * _REST)))

    async def count_due(self) -> float:
        """Count who is due now; how many seconds it took."""
        loop = asyncio.get_running_loop()
        async with self.app.db.autocommit() as conn:
            due = await mailboxes.list_due_for_count(conn, self.app.clock(), _DUE)
        if not due:
            return 0.0
        began = loop.time()
        folders = await asyncio.to_thread(lambda: {each: self._folder(each).exists() for each in due})
        gone = [each for each in due if not folders[each]]
        uncounted = await self._count([each for each in due if folders[each]], gone)
        if uncounted:
            async with self.app.db.tx() as conn:
                await mailboxes.defer_count(conn, uncounted, self.app.clock() + _AGAIN)
        return loop.time() - began

    async def keep_counting_all(self) -> None:
        """Walk until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                await self.count_all()
            except Unavailable:
                log.info("waiting for the database", task="counting")
            except Exception:
                log.exception("mailboxes could not be counted")
            await asyncio.sleep(max(_PAGE_SECONDS, _ROUND_SECONDS - (loop.time() - began)))

    async def count_all(self) -> None:
        """One round: count anew what is due."""
        last: UUID | None = None
        while True:
            async with self.app.db.autocommit() as conn:
                page = await mailboxes.list_tracked(conn, last, _PAGE)
            await self._count(*await asyncio.to_thread(self._due, page))
            if len(page) < _PAGE:
                self._is_first = False
                return
            last = page[-1].mailbox_id
            await asyncio.sleep(_PAGE_SECONDS)

    async def _count(self, due: Collection[TrackedMailbox], gone: Collection[TrackedMailbox]) -> list[UUID]:
        """Have these counted, and write that nothing is where the folder is gone; answers who could not be counted."""
        at = self.app.clock()
        counted = await self.count(self.places.dovecot_conf / "dovecot.conf", [each.address for each in due])
        found = [MailboxUsage(each.mailbox_id, at, 0, 0) for each in gone]
        found += [
            MailboxUsage(each.mailbox_id, at, holds.size, holds.messages)
            for each in due
            if (holds := counted.get(each.address))
        ]
        if found:
            async with self.app.db.tx() as conn:
                await mailboxes.write_counted_usage(conn, found)
        return [each.mailbox_id for each in due if each.address not in counted]

    def _folder(self, kept: TrackedMailbox) -> Path:
        return maildir_of(self.app.data_dir, kept.mailbox_id)

    def _due(self, page: list[TrackedMailbox]) -> tuple[list[TrackedMailbox], list[TrackedMailbox]]:
        """Who is to be counted, and whose folder is gone though something should be in it."""
        due: list[TrackedMailbox] = []
        gone: list[TrackedMailbox] = []
        for each in page:
            changed = dovecot_count.changed_at(self._folder(each))
            if changed is None:
                if each.has_mail:
                    gone.append(each)
            elif self._is_due(each, datetime.fromtimestamp(changed, UTC)):
                due.append(each)
        return due, gone

    def _is_due(self, kept: TrackedMailbox, changed: datetime) -> bool:
        """Whether a mailbox is to be counted now, by when its folder last changed."""
        if kept.counted_at is None:
            return True
        if changed < kept.counted_at - _SLACK:
            return False
        since = self.app.clock() - kept.counted_at
        if kept.reported_at and changed <= kept.reported_at:
            return since >= _TOLD
        return self._is_first or since >= _UNTOLD
