"""Counts the messages and bytes of mailboxes. Runs in the process `node`, as root, and asks Dovecot for the counts.

- Mailboxes that reports or deliveries made due are counted within seconds: the longest due first, in batches, for at
  most a tenth of the time. One that can't be counted is tried again after a minute.
- All mailboxes are checked in rounds of at least a minute, and counted if their folders changed (`rules.needs_count`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.mailbox_usage import rules, store
from mailkeep.features.directory.mailbox_usage.model import MailboxUsage, TrackedMailbox
from mailkeep.features.directory.mailboxes.model import maildir_of
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import count as dovecot_count

log = structlog.get_logger("mailkeep.counting")

_ROUND_SECONDS = 60.0
_PAGE = 200
_PAGE_SECONDS = 1.0
_DUE_SECONDS = 2.0
_MAX_PAUSE_SECONDS = 60.0  # when Dovecot does not answer
_DUE_BATCH = 50  # mailboxes; counting them takes some tenths of a second
_PAUSE_FACTOR = 9  # the pause lasts this many times the duration of the count

Count = Callable[[Path, Collection[str]], Awaitable[Mapping[str, dovecot_count.CountedMailbox]]]
"""Counts what mailboxes hold: `dovecot_count.count_mailboxes`."""


@dataclass(slots=True)
class UsageCounter:
    """Counts mailboxes that are due, and goes through all mailboxes in rounds."""

    app: App
    paths: InstancePaths
    count: Count = dovecot_count.count_mailboxes
    _is_first_round: bool = True  # before it, changes may have been missed while `node` did not run

    async def keep_counting_due(self) -> None:
        """Count mailboxes that are due, until cancelled."""
        while True:
            duration = 0.0
            try:
                duration = await self.count_due()
            except Unavailable:
                pass  # the mailboxes are still due when the database is back
            except Exception:
                log.exception("mailboxes that are due could not be counted")
            await asyncio.sleep(min(_MAX_PAUSE_SECONDS, max(_DUE_SECONDS, duration * _PAUSE_FACTOR)))

    async def count_due(self) -> float:
        """Count a batch of the mailboxes that are due now; returns how many seconds that took."""
        loop = asyncio.get_running_loop()
        async with self.app.db.autocommit() as conn:
            due = await store.list_due(conn, self.app.clock(), _DUE_BATCH)
        if not due:
            return 0.0
        began = loop.time()
        has_folder = await asyncio.to_thread(lambda: {each: self._folder(each).exists() for each in due})
        missing = [each for each in due if not has_folder[each]]
        uncounted = await self._count([each for each in due if has_folder[each]], missing)
        if uncounted:
            async with self.app.db.tx() as conn:
                await store.defer_count(conn, uncounted, self.app.clock() + rules.COUNT_RETRY)
        return loop.time() - began

    async def keep_counting_all(self) -> None:
        """Go through all mailboxes in rounds, until cancelled."""
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
        """One round: count the mailboxes whose folders changed."""
        last: UUID | None = None
        while True:
            async with self.app.db.autocommit() as conn:
                page = await store.list_tracked(conn, last, _PAGE)
            await self._count(*await asyncio.to_thread(self._select, page))
            if len(page) < _PAGE:
                self._is_first_round = False
                return
            last = page[-1].mailbox_id
            await asyncio.sleep(_PAGE_SECONDS)

    async def _count(self, due: Collection[TrackedMailbox], missing: Collection[TrackedMailbox]) -> list[UUID]:
        """Count mailboxes and write the result, zero for `missing` folders; returns those that could not be counted."""
        at = self.app.clock()
        counted = await self.count(self.paths.dovecot_conf / "dovecot.conf", [each.address for each in due])
        usage = [MailboxUsage(each.mailbox_id, at, 0, 0) for each in missing]
        usage += [
            MailboxUsage(each.mailbox_id, at, count.size, count.messages)
            for each in due
            if (count := counted.get(each.address))
        ]
        if usage:
            async with self.app.db.tx() as conn:
                await store.write_counts(conn, usage)
        return [each.mailbox_id for each in due if each.address not in counted]

    def _folder(self, mailbox: TrackedMailbox) -> Path:
        return maildir_of(self.app.data_dir, mailbox.mailbox_id)

    def _select(self, page: list[TrackedMailbox]) -> tuple[list[TrackedMailbox], list[TrackedMailbox]]:
        """The mailboxes to count, and those whose folder is missing although they have usage. Blocks."""
        due: list[TrackedMailbox] = []
        missing: list[TrackedMailbox] = []
        for each in page:
            changed = dovecot_count.find_last_change(self._folder(each))
            if changed is None:
                if each.has_mail:
                    missing.append(each)
            elif rules.needs_count(
                each, datetime.fromtimestamp(changed, UTC), self.app.clock(), first_round=self._is_first_round
            ):
                due.append(each)
        return due, missing
