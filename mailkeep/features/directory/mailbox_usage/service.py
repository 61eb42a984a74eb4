"""Recorders of deliveries, usage reports and logins: they keep the newest of each mailbox and write once a second."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import parse_uuid
from mailkeep.db.pool import Conn
from mailkeep.features.directory.app_passwords import service as app_passwords
from mailkeep.features.directory.app_passwords.model import AppPasswordUse
from mailkeep.features.directory.login_history import service as login_history
from mailkeep.features.directory.login_history.model import MailboxSignIn
from mailkeep.features.directory.mailbox_usage import rules, store
from mailkeep.features.directory.mailbox_usage.model import Arrivals, MailboxLogin, MailboxUsage
from mailkeep.features.directory.mailboxes.model import parse_mail_folder
from mailkeep.features.record.events import service as events
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.jobs.repeat import repeat
from mailkeep.mail.dovecot.auth import LoginReport
from mailkeep.mail.dovecot.dict import DictWrite

log = structlog.get_logger("mailkeep.usage")

_WRITE_SECONDS = 1.0
_LAST_WRITE_SECONDS = 1.0
_WARN_BATCH = 100

Key = TypeVar("Key")


async def find_login(conn: Conn, mailbox_id: UUID) -> str | None:
    """The address by which Dovecot knows a mailbox; None if it does not know it: it or its domain is inactive."""
    return await store.find_login(conn, mailbox_id)


async def warn_owners(app: App) -> int:
    """Emit `mailbox.quota`, and send mail to the owner, for each mailbox whose usage has reached another level; returns
    how many. All of it is one transaction for a batch of mailboxes.
    """
    total, batch = 0, _WARN_BATCH
    while batch == _WARN_BATCH:
        at = app.clock()
        async with app.db.tx() as conn:
            changes = await store.take_quota_changes(conn, _WARN_BATCH)
            warnings = [each for each in changes if each.level > each.before and each.in_use]
            await events.emit_all(conn, at, [rules.quota_event(each) for each in warnings])
            for each in warnings:  # by address
                await system_mail.notify_owner(conn, at, "quota_warning", each.address, rules.quota_item(each))
        batch = len(changes)
        total += len(warnings)
    return total


@dataclass(slots=True)
class ArrivalRecorder:
    """Delivered messages that are not added to their mailboxes yet.

    Dovecot does not report deliveries, because counting all folders would delay them. The lmtp process knows the
    mailbox and the approximate size. A mailbox with added arrivals is due for a count.
    """

    app: App
    _arrivals: dict[UUID, Arrivals] = field(default_factory=dict[UUID, Arrivals])

    def add(self, mailbox_id: UUID, size: int) -> None:
        """Record a message of `size` bytes that was delivered to a mailbox now."""
        self._merge(Arrivals(mailbox_id, self.app.clock(), size, 1))

    def _merge(self, new: Arrivals) -> None:
        before = self._arrivals.get(new.mailbox_id)
        if before:
            at = max(before.at, new.at)
            new = replace(new, at=at, size=before.size + new.size, messages=before.messages + new.messages)
        if before or len(self._arrivals) < rules.MAX_REMEMBERED:
            self._arrivals[new.mailbox_id] = new

    async def write(self) -> None:
        """Write the arrivals; those that can't be written now are kept.

        Arrivals that are lost, or added twice after a lost commit, are corrected by the count that follows.
        """
        arrivals, self._arrivals = self._arrivals, {}
        if not arrivals:
            return
        unwritten = list(arrivals)
        try:
            async with self.app.db.autocommit() as conn:
                unwritten = await store.add_arrivals(conn, list(arrivals.values()))
        finally:
            for mailbox_id in unwritten:
                self._merge(arrivals[mailbox_id])

    async def keep_writing(self) -> None:
        """Write once a second until cancelled, and once more then."""
        await _keep_writing("adding delivered messages to mailboxes", self.write)


@dataclass(slots=True)
class FailureLog:
    """Logs failed logins to mailboxes that accept only app passwords, at most once a minute for each name, client and
    protocol.
    """

    app: App
    _failed: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    _times: OrderedDict[tuple[str, str, str], datetime] = field(
        default_factory=OrderedDict[tuple[str, str, str], datetime]
    )

    def add(self, report: LoginReport) -> None:
        """Remember a failed login for `write`."""
        try:
            address = parse_address(report.login).key
        except AddressError:
            return
        key = (address, report.protocol[:16], report.remote[:64])
        if len(self._failed) < rules.MAX_FAILURES:
            self._failed.add(key)

    async def write(self) -> None:
        """Log the failures for which there is this reason, and forget the others, also if the database is away."""
        failed, self._failed = self._failed, set()
        if not failed:
            return
        async with self.app.db.autocommit() as conn:
            requiring = await app_passwords.filter_requiring(conn, {address for address, _, _ in failed})
        for address, protocol, remote in failed:
            if address in requiring and _is_due(self._times, (address, protocol, remote), self.app.clock()):
                log.warning(
                    "a login failed: the mailbox accepts only app passwords, and this was none for the protocol",
                    login=address,
                    protocol=protocol,
                    ip=remote,
                )


@dataclass(slots=True)
class UsageRecorder:
    """Dovecot's reports that are not written yet: usage by the dict `quota_clone`, logins by HTTP.

    Only the newest report of each mailbox is kept. When two reports of a mailbox are so close that one may have
    overtaken the other, the mailbox becomes due for a count.
    """

    app: App
    _usage: dict[UUID, MailboxUsage] = field(default_factory=dict[UUID, MailboxUsage])
    _reported_at: OrderedDict[UUID, datetime] = field(default_factory=OrderedDict[UUID, datetime])
    _logins: dict[UUID, MailboxLogin] = field(default_factory=dict[UUID, MailboxLogin])
    _login_times: OrderedDict[tuple[UUID, str, str, str], datetime] = field(
        default_factory=OrderedDict[tuple[UUID, str, str, str], datetime]
    )
    _sign_ins: dict[tuple[UUID, str, str, str], MailboxSignIn] = field(
        default_factory=dict[tuple[UUID, str, str, str], MailboxSignIn]
    )
    _uses: dict[int, AppPasswordUse] = field(default_factory=dict[int, AppPasswordUse])
    _failures: FailureLog = field(init=False)

    def __post_init__(self) -> None:
        self._failures = FailureLog(self.app)

    def record_usage(self, report: DictWrite) -> None:
        """Record the usage that a Dovecot session reports after a change."""
        mailbox_id = parse_uuid(report.name)
        values = [report.values.get(f"priv/quota/{name}", "") for name in ("storage", "messages")]
        size, messages = map(rules.parse_count, values)
        if mailbox_id is None or size is None or messages is None:
            log.warning("malformed usage report from Dovecot", name=report.name)
            return
        at = self.app.clock()
        unwritten = self._usage.get(mailbox_id)
        stale = rules.may_be_stale(at, unwritten, self._reported_at.get(mailbox_id))
        if unwritten or len(self._usage) < rules.MAX_REMEMBERED:
            self._usage[mailbox_id] = MailboxUsage(mailbox_id, at, size, messages, stale)
            _remember(self._reported_at, mailbox_id, at)

    def record_login(self, report: LoginReport) -> None:
        """Record a login that Dovecot reports: the last one of its mailbox and of its app password, and in the history.

        Failed logins are only logged, and only those to mailboxes that accept nothing but app passwords: the client
        does not get the reason.
        """
        if not report.success:
            self._failures.add(report)
        mailbox_id = parse_mail_folder(self.app.data_dir, report.home) if report.success else None
        if mailbox_id is None or report.protocol not in rules.LOGIN_PROTOCOLS:
            return
        at, number, remote = self.app.clock(), report.app_password, report.remote[:64]
        key = (mailbox_id, report.protocol, remote, str(number))
        if not _is_due(self._login_times, key, at):
            return
        if key in self._sign_ins or len(self._sign_ins) < rules.MAX_REMEMBERED:
            self._sign_ins[key] = MailboxSignIn(mailbox_id, at, report.protocol, remote, number=number)
        if mailbox_id in self._logins or len(self._logins) < rules.MAX_REMEMBERED:
            self._logins[mailbox_id] = MailboxLogin(mailbox_id, at, report.protocol, remote)
        if number is not None and (number in self._uses or len(self._uses) < rules.MAX_REMEMBERED):
            self._uses[number] = AppPasswordUse(number, at, remote)

    async def write(self) -> None:
        """Write the reports; those that can't be written now are kept, unless a newer one has arrived since."""
        await self._failures.write()
        usage, self._usage = self._usage, {}
        logins, self._logins = self._logins, {}
        uses, self._uses = self._uses, {}
        sign_ins, self._sign_ins = self._sign_ins, {}
        try:
            if usage:
                async with self.app.db.tx() as conn:
                    unwritten = await store.report(conn, list(usage.values()))
                usage = {each: usage[each] for each in unwritten}
            if logins:
                async with self.app.db.tx() as conn:
                    unwritten = await store.set_logins(conn, list(logins.values()))
                logins = {each: logins[each] for each in unwritten}
            if uses:
                async with self.app.db.tx() as conn:
                    locked = await app_passwords.record_uses(conn, list(uses.values()))
                uses = {each: uses[each] for each in locked}
            if sign_ins:
                async with self.app.db.tx() as conn:
                    unrecorded = await login_history.record(conn, list(sign_ins.values()))
                sign_ins = {key: each for key, each in sign_ins.items() if each.mailbox_id in unrecorded}
        finally:
            self._usage = usage | self._usage
            self._logins = logins | self._logins
            self._uses = uses | self._uses
            self._sign_ins = sign_ins | self._sign_ins

    async def keep_writing(self) -> None:
        """Write once a second until cancelled, and once more then."""
        await _keep_writing("writing mailbox usage and logins", self.write)


async def _keep_writing(task: str, write: Callable[[], Awaitable[None]]) -> None:
    try:
        await repeat(_WRITE_SECONDS, task, write)
    finally:
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(_LAST_WRITE_SECONDS):
                await write()


def _is_due(times: OrderedDict[Key, datetime], key: Key, at: datetime) -> bool:
    """Whether `key` was last due at least LOGIN_INTERVAL ago; remembers it as due now."""
    if at - times.get(key, at - rules.LOGIN_INTERVAL) < rules.LOGIN_INTERVAL:
        return False
    _remember(times, key, at)
    return True


def _remember(times: OrderedDict[Key, datetime], key: Key, at: datetime) -> None:
    """Set the time of `key`; above MAX_REMEMBERED, drop the oldest."""
    times[key] = at
    times.move_to_end(key)
    if len(times) > rules.MAX_REMEMBERED:
        times.popitem(last=False)
