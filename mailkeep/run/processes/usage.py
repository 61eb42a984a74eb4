"""The process `usage`: what a mailbox holds and who logged in to it last, as Dovecot tells it (docs/decisions/0020).

Dovecot tells on a Unix socket (dict `quota_clone`) what a mailbox holds after each change by a session, and by HTTP on
loopback each attempt to log in. Both go on with this process or the database away: what was told is kept in memory, and
written once a second, the last word of each mailbox alone. Where words of a mailbox come so close that one may have
overtaken the other, it is due for a count, which `run/processes/counting` has made. What is delivered is told by
`run/processes/arrivals`.
"""

from __future__ import annotations

import asyncio
import grp
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.ids import parse_uuid
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import MailboxLogin, MailboxUsage
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot.auth import Report, serve_reports
from mailkeep.mail.dovecot.dict import Written, serve_dict
from mailkeep.run.cli import install
from mailkeep.run.runtime.process import Process

TOKEN_FILE = "logins-token"

log = structlog.get_logger("mailkeep.usage")

_WRITE_SECONDS = 1.0
_AWAY_SECONDS = 5.0
_MOST = 100_000  # mailboxes that are remembered while the database is away
_AGAIN = timedelta(minutes=1)  # a login of the same kind that comes sooner is not written once more
_CLOSE = timedelta(seconds=5)  # words of two sessions that are closer may have overtaken each other
_PROTOCOLS = frozenset({"imap", "pop3", "sieve", "smtp"})
_MOST_BYTES = 2**53

Key = TypeVar("Key")


@dataclass(slots=True)
class UsageRecorder:
    """What Dovecot told and is not written yet."""

    app: App
    places: InstancePaths
    _told: dict[UUID, MailboxUsage] = field(default_factory=dict[UUID, MailboxUsage])
    _heard: OrderedDict[UUID, datetime] = field(default_factory=OrderedDict[UUID, datetime])
    _logins: dict[UUID, MailboxLogin] = field(default_factory=dict[UUID, MailboxLogin])
    _noted: OrderedDict[tuple[UUID, str, str], datetime] = field(
        default_factory=OrderedDict[tuple[UUID, str, str], datetime]
    )

    def record_usage(self, written: Written) -> None:
        """What a mailbox holds, as a session of Dovecot's says after a change."""
        mailbox_id = parse_uuid(written.name)
        size, messages = (
            _parse_count(written.values.get(f"priv/quota/{name}", "")) for name in ("storage", "messages")
        )
        if mailbox_id is None or size is None or messages is None:
            log.warning("what Dovecot told of a mailbox was not understood", name=written.name)
            return
        at = self.app.clock()
        last, before = self._told.get(mailbox_id), self._heard.get(mailbox_id)
        doubtful = (last is not None and last.may_be_stale) or (before is not None and at - before < _CLOSE)
        if last or len(self._told) < _MOST:
            self._told[mailbox_id] = MailboxUsage(mailbox_id, at, size, messages, doubtful)
            _remember(self._heard, mailbox_id, at)

    def record_login(self, report: Report) -> None:
        """An attempt to log in, as Dovecot reports it."""
        mailbox_id = self._mailbox(report.home) if report.success else None
        if mailbox_id is None or report.protocol not in _PROTOCOLS:
            return
        at, kind = self.app.clock(), (mailbox_id, report.protocol, report.remote[:64])
        if at - self._noted.get(kind, at - _AGAIN) < _AGAIN:
            return
        if mailbox_id in self._logins or len(self._logins) < _MOST:
            self._logins[mailbox_id] = MailboxLogin(mailbox_id, at, kind[1], kind[2])
            _remember(self._noted, kind, at)

    def _mailbox(self, folder: str) -> UUID | None:
        """Whose folder it is."""
        root, _, name = folder.rpartition("/")
        return parse_uuid(name) if root == str(self.places.mail_root) else None

    async def write(self) -> None:
        """Write what was told; what can't be written now stays, unless something newer was told since."""
        told, self._told = self._told, {}
        logins, self._logins = self._logins, {}
        try:
            if told:
                async with self.app.db.tx() as conn:
                    held = await mailboxes.report_usage(conn, list(told.values()))
                told = {each: told[each] for each in held}
            if logins:
                async with self.app.db.tx() as conn:
                    held = await mailboxes.set_logins(conn, list(logins.values()))
                logins = {each: logins[each] for each in held}
        finally:
            self._told = told | self._told
            self._logins = logins | self._logins

    async def keep_writing(self) -> None:
        """Write once a second until cancelled."""
        away = False
        while True:
            try:
                await self.write()
                away = False
            except Unavailable:
                if not away:
                    log.warning("figures wait for the database")
                away = True
            except Exception:
                log.exception("figures could not be written")
                away = True
            await asyncio.sleep(_AWAY_SECONDS if away else _WRITE_SECONDS)


def _remember(times: OrderedDict[Key, datetime], key: Key, at: datetime) -> None:
    """Note a time, and let the oldest go where there are too many."""
    times[key] = at
    times.move_to_end(key)
    if len(times) > _MOST:
        times.popitem(last=False)


def _parse_count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 17 and int(text) < _MOST_BYTES else None


async def serve(app: App, process: Process) -> None:
    """Listen and write until told to end; what was told last is written then, if it can be."""
    keeper = UsageRecorder(app, process.places)
    try:
        token = (process.places.run / TOKEN_FILE).read_text("ascii").strip()
        group = grp.getgrnam(install.MAIL_ACCOUNT).gr_gid
        told = await serve_dict(process.places.usage_socket, keeper.record_usage, mode=0o660, group=group)
    except (OSError, KeyError) as error:
        raise Failure(f"The figures' process can't listen: {error}", permanent=True) from error
    reports = await serve_reports(process.sockets["logins"], token, keeper.record_login)
    writing = asyncio.create_task(keeper.keep_writing())
    process.report_ready()
    await process.stop_requested.wait()
    told.close()
    reports.close()
    await cancel_all(writing)
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(1.0):
            await keeper.write()
