"""Counting mailboxes behind what Dovecot tells of them (`run/figures`): the node's agent does it, for it needs root.

What was told can be wrong: two sessions overtake each other, and what is told while nobody listens is lost. So all
mailboxes are walked through, at least a minute a round, and by the times of their folders Dovecot counts anew

- at once: who was never counted or of whom two words came close to each other; in the first round also where a folder
  changed and nothing was told;
- ten minutes after the last count: where a folder changed and nothing was told (flags and a first look change it too);
- a day after the last count: where a folder changed.
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
from mailkeep.features.mailboxes import service as mailboxes
from mailkeep.features.mailboxes.model import Figures, Kept, mail_folder
from mailkeep.mail import dovecot_count
from mailkeep.mail.places import Places

log = structlog.get_logger("mailkeep.counting")

_ROUND_SECONDS = 60.0
_PAGE = 200
_PAGE_SECONDS = 1.0
_SLACK = timedelta(seconds=1)  # a directory's time is that of the kernel's tick before
_UNTOLD, _TOLD = timedelta(minutes=10), timedelta(days=1)

Count = Callable[[Path, Collection[str]], Awaitable[Mapping[str, dovecot_count.Holds]]]
"""Counts what mailboxes hold: `dovecot_count.count`."""


@dataclass(slots=True)
class Walk:
    """The walk through all mailboxes, again and again."""

    app: App
    places: Places
    count: Count = dovecot_count.count
    _is_first: bool = True  # who has just begun does not know how long nobody listened

    async def keep_going(self) -> None:
        """Walk until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                await self.round()
            except Unavailable:
                log.info("waiting for the database", task="counting")
            except Exception:
                log.exception("mailboxes could not be counted")
            await asyncio.sleep(max(_PAGE_SECONDS, _ROUND_SECONDS - (loop.time() - began)))

    async def round(self) -> None:
        """One round: count anew what is due."""
        last: UUID | None = None
        while True:
            async with self.app.db.autocommit() as conn:
                page = await mailboxes.kept(conn, last, _PAGE)
            await self._count(page)
            if len(page) < _PAGE:
                self._is_first = False
                return
            last = page[-1].mailbox_id
            await asyncio.sleep(_PAGE_SECONDS)

    async def _count(self, page: list[Kept]) -> None:
        at = self.app.clock()
        due, gone = await asyncio.to_thread(self._due, page)
        counted = await self.count(self.places.dovecot_conf / "dovecot.conf", [each.login for each in due])
        found = [Figures(each.mailbox_id, at, 0, 0) for each in gone]
        found += [
            Figures(each.mailbox_id, at, holds.size, holds.messages)
            for each in due
            if (holds := counted.get(each.login))
        ]
        if found:
            async with self.app.db.tx() as conn:
                await mailboxes.count_figures(conn, found)

    def _due(self, page: list[Kept]) -> tuple[list[Kept], list[Kept]]:
        """Who is to be counted, and whose folder is gone though something should be in it."""
        due: list[Kept] = []
        gone: list[Kept] = []
        for each in page:
            changed = dovecot_count.changed_at(mail_folder(self.app.data_dir, each.mailbox_id))
            if changed is None:
                if each.holds_any:
                    gone.append(each)
            elif self._is_due(each, datetime.fromtimestamp(changed, UTC)):
                due.append(each)
        return due, gone

    def _is_due(self, kept: Kept, changed: datetime) -> bool:
        """Whether a mailbox is to be counted now, by when its folder last changed."""
        if kept.counted_at is None:
            return True
        if changed < kept.counted_at - _SLACK:
            return False
        since = self.app.clock() - kept.counted_at
        if kept.told_at and changed <= kept.told_at:
            return since >= _TOLD
        return self._is_first or since >= _UNTOLD
