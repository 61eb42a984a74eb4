"""Node tasks that find and move copies in the full profile, and the digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.features.directory.mailbox_usage import service as mailbox_usage
from mailkeep.features.mailflow.filter_training import service as training
from mailkeep.features.mailflow.junk import rules, store
from mailkeep.features.mailflow.junk.model import INBOX, JUNK, CopyRequest, MovedCopy
from mailkeep.features.record.history import service as history
from mailkeep.features.record.history.model import MailSelection
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.mail.dovecot import copies
from mailkeep.mail.dovecot.copies import ALL_FOLDERS, FolderSearch, MailCopy

log = structlog.get_logger("mailkeep.junk")

_BATCH = 100


@dataclass(frozen=True, slots=True)
class JunkTasks:
    """Handlers of this feature's node tasks. `conf`: Dovecot's configuration file."""

    app: App
    conf: Path

    def handlers(self) -> Mapping[str, TaskHandler]:
        """The handlers by the kind of task."""
        return {"junk.find": self._find, "junk.release": self._release}

    async def _find(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        """The delivery IDs in Junk; none if Dovecot does not know the mailbox."""
        mailbox_id = UUID(argument["mailbox_id"])
        login = await self._find_login(mailbox_id)
        if login is None:
            return {"delivery_ids": []}
        since, before = (datetime.fromisoformat(argument[name]) for name in ("since", "before"))
        found = await copies.find_copies(self.conf, FolderSearch(login, JUNK, since, before))
        await self._check_unchanged(mailbox_id, login)
        return {"delivery_ids": sorted({copy.delivery_id for copy in found if copy.delivery_id})}

    async def _release(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        return msgspec.to_builtins(await self._move(msgspec.convert(argument, CopyRequest)))

    async def _move(self, request: CopyRequest) -> MovedCopy:
        """Move a copy from Junk to the inbox, unless it is somewhere else."""
        login = await self._find_login(request.mailbox_id)
        if login is None:
            return MovedCopy("inactive")
        search = FolderSearch(login, ALL_FOLDERS, request.since, request.before)
        copy = await self._find_copy(search, request.delivery_id)
        if copy is None:
            return MovedCopy("gone")
        if copy.folder not in (JUNK, INBOX):
            return MovedCopy("elsewhere", folder=copy.folder)
        content = await copies.read_copy(self.conf, login, copy)
        author = rules.find_author(content or b"") if request.needs_author else ""
        if content is None:
            return MovedCopy("gone")
        if request.needs_author and not author:
            return MovedCopy("no_author")
        await self._check_unchanged(request.mailbox_id, login)
        if copy.folder == INBOX:
            return MovedCopy("in_inbox", author=author)
        await copies.move_copy(self.conf, login, copy, INBOX)
        failpoint.reach("junk.moved")
        if not await copies.find_copies(self.conf, replace(search, folder=INBOX), request.delivery_id):
            return MovedCopy("gone")  # its owner has moved or deleted it meanwhile
        log.info("a message was released", taught=await training.teach(self.app, request.mailbox_id, "ham", content))
        return MovedCopy("moved", author=author)

    async def _find_copy(self, search: FolderSearch, delivery_id: str) -> MailCopy | None:
        """The copy of a delivery, preferably that in Junk, else that in the inbox."""
        found = await copies.find_copies(self.conf, search, delivery_id)
        found.sort(key=lambda copy: (copy.folder != JUNK, copy.folder != INBOX))
        return found[0] if found else None

    async def _find_login(self, mailbox_id: UUID) -> str | None:
        async with self.app.db.autocommit() as conn:
            return await mailbox_usage.find_login(conn, mailbox_id)

    async def _check_unchanged(self, mailbox_id: UUID, login: str) -> None:
        """Failure if the address may belong to another mailbox now."""
        if await self._find_login(mailbox_id) != login:
            raise Failure("The mailbox was renamed or deactivated meanwhile; try again.")


async def send_digests(app: App) -> int:
    """Queue the digests that are due, if this is the hour for it and no other worker does; returns how many."""
    queued = 0
    while True:
        looked_at, mailed = await _send_batch(app)
        queued += mailed
        if looked_at < _BATCH:
            return queued


async def _send_batch(app: App) -> tuple[int, int]:
    """Queue the digests of a batch of mailboxes, in one transaction; returns their number, and that of the digests."""
    at = app.clock()
    until = at - rules.SETTLING
    async with app.db.tx() as conn:
        if not await store.lock(conn):
            return 0, 0
        await store.track(conn, at)
        if not rules.is_digest_hour(until):
            return 0, 0
        day, week = rules.last_digest_time(until), rules.last_digest_time(until, weekly=True)
        due = await store.take_due(conn, until, day, week, _BATCH)
        selection = MailSelection(filtered=True, without_denied=True)
        mails = [each.mail for each in due]
        found = await history.list_of_mailboxes(conn, mails, selection, until, rules.MOST_COUNTED)
        listed = [ids[: rules.DIGEST_ROWS] for ids in found]
        rows = {row.id: row for row in await messages.find_all(conn, [each for ids in listed for each in ids])}
        items = [
            (each.address, rules.digest_item(each, [rows[row] for row in ids if row in rows], len(all_ids)))
            for each, ids, all_ids in zip(due, listed, found, strict=True)
            if ids
        ]
        await system_mail.notify_owners(conn, at, "junk_digest", items)
        failpoint.reach("junk.digests_queued")
    if items:
        log.info("digests of Junk are queued", digests=len(items))
    return len(due), len(items)
