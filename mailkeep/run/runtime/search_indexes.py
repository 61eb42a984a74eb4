"""Keeps search indexes correct (`search.full_text`), in the process `node`.

While search is on, the mailboxes whose index failed are rescanned, a second after Dovecot's log shows it: the next
search builds the index again. While it is off, indexes are removed: files, note, then folder, so that a removal that
was interrupted is repeated.
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
from mailkeep.mail.dovecot.search_index import IndexErrorReader

log = structlog.get_logger("mailkeep.search")

_SECONDS = 1.0
_PAUSE = 60  # calls; a session from before a switch may have written an index again


class SearchIndexes:
    """Repairs or removes indexes."""

    def __init__(self, app: App, paths: InstancePaths) -> None:
        self._app, self._paths = app, paths
        self._conf = paths.dovecot_conf / "dovecot.conf"
        self._failures = IndexErrorReader(paths.log / "dovecot.log")
        self._failed: set[str] = set()
        self._was_on: bool | None = None
        self._pause = 0  # calls until the next attempt

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
        if not is_on:
            self._failed.clear()
        if is_on != self._was_on:
            self._was_on, self._pause = is_on, 0
            if is_on:  # a removal may have been interrupted
                names = await to_thread(search_index.list_emptied, self._paths.mail_root)
                self._failed |= {login for name in names if (login := await self._find_login(name))}
        if self._pause:
            self._pause -= 1
        elif is_on:
            await self._repair()
        else:
            await self._remove_all()

    async def _repair(self) -> None:
        for login in sorted(self._failed):
            try:
                await search_index.rescan(self._conf, login)
            except Failure as error:
                log.error("the failed search index of a mailbox can't be repaired yet", mailbox=login, why=str(error))
                self._pause = _PAUSE
                continue
            self._failed.discard(login)
            log.warning("the search index of a mailbox failed and is built again", mailbox=login)

    async def _remove_all(self) -> None:
        names = await to_thread(search_index.list_indexed, self._paths.mail_root)
        removed = 0
        for name in names:
            if await to_thread(search_index.is_on, self._conf):
                break
            removed += await self._remove(name)
        self._pause = _PAUSE
        if removed:
            log.info("search indexes are removed", mailboxes=removed)

    async def _find_login(self, name: str) -> str | None:
        """The login of a home's mailbox; None for the home of a deleted one, which is about to be removed."""
        mailbox_id = parse_uuid(name)
        async with self._app.db.autocommit() as conn:
            mailbox = await mailboxes.find(conn, mailbox_id) if mailbox_id else None
        return mailbox.address.text if mailbox else None

    async def _remove(self, name: str) -> bool:
        """Remove the index of a home; False without a mailbox, or after an error."""
        login = await self._find_login(name)
        if login is None:
            return False
        home = self._paths.mail_root / name
        try:
            await to_thread(search_index.empty, home)
            await search_index.rescan(self._conf, login)
            await to_thread(search_index.remove_empty, home)
        except (Failure, OSError) as error:
            log.warning("a search index could not be removed", mailbox=login, why=str(error))
            return False
        return True
