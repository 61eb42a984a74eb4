"""Keeps search indexes correct (`search.full_text`), in the process `node`.

While search is on, the mailboxes whose index failed are rescanned, a second after Dovecot's log shows it: the next
search builds the index again. While it is off, indexes are removed: files, note, then folder, so that a removal that was
interrupted is repeated.
"""

from __future__ import annotations

from asyncio import to_thread

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.core.ids import parse_uuid
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import search_index
from mailkeep.mail.dovecot.search_index import FailureLog

log = structlog.get_logger("mailkeep.search")

_SECONDS = 1.0
_LIST_EVERY = 60  # calls: a session from before may have written an index


class SearchIndexes:
    """Repairs or removes indexes."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app, self._paths = app, paths
        self._conf = paths.dovecot_conf / "dovecot.conf"
        self._failures = FailureLog(paths.log / "dovecot.log")
        self._failed: set[str] = set()
        self._calls_until_list = 0

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await repeat(_SECONDS, "search indexes", self.check)
        finally:
            self._failures.close()

    async def check(self) -> None:
        """Repair or remove now what is due."""
        is_on = await to_thread(search_index.is_on, self._conf)
        self._failed |= await to_thread(self._failures.read)
        if is_on:
            self._calls_until_list = 0
            for login in sorted(self._failed):
                await search_index.rescan(self._conf, login)
                self._failed.discard(login)
                log.warning("the search index of a mailbox failed and is built again", mailbox=login)
            return
        self._failed.clear()
        if self._calls_until_list:
            self._calls_until_list -= 1
            return
        names = await to_thread(search_index.list_indexed, self._paths.mail_root)
        removed = [name for name in names if await self._remove(name)]
        self._calls_until_list = _LIST_EVERY
        if removed:
            log.info("search indexes are removed", mailboxes=len(removed))

    async def _remove(self, name: str) -> bool:
        """Remove the index of a home; False for a home of no mailbox, which is about to be removed, or an error."""
        mailbox_id = parse_uuid(name)
        async with self._app.db.autocommit() as conn:
            mailbox = await mailboxes.find(conn, mailbox_id) if mailbox_id else None
        if mailbox is None:
            return False
        home = self._paths.mail_root / name
        try:
            await to_thread(search_index.empty, home)
            await search_index.rescan(self._conf, mailbox.address.text)
            await to_thread(search_index.remove_empty, home)
        except (Failure, OSError) as error:
            log.warning("a search index could not be removed", mailbox=mailbox.address.text, why=str(error))
            return False
        return True
