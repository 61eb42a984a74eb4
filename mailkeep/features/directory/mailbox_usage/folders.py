"""The folders of a mailbox, and the recalculation of its usage: the use cases, and the node tasks that they need."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.app import App
from mailkeep.core.errors import Conflict, Failure
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailbox_usage import store
from mailkeep.features.directory.mailbox_usage.model import MailboxUsage, MailFolder
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox, maildir_of
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.dovecot import count as dovecot_count
from mailkeep.mail.mailbox import maildir

_WAIT_SECONDS = 60.0  # a large mailbox is read completely
_INBOX = "INBOX"


async def list_folders(app: App, who: Principal, mailbox_id: UUID) -> list[MailFolder]:
    """The folders of a mailbox, INBOX first. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; CONFLICT `inactive`;
    UNAVAILABLE.
    """
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id)
    if not app.settings.is_full_profile:
        messages, unseen, size = await asyncio.to_thread(maildir.measure, maildir_of(app.data_dir, mailbox_id))
        return [MailFolder(_INBOX, messages, unseen, size)]
    result = await node_tasks.run(app, "mailbox.folders", {"mailbox_id": str(mailbox_id)})
    _refuse_inactive(result, mailbox)
    return msgspec.convert(result["folders"], list[MailFolder])


async def recalculate(app: App, who: Principal, mailbox_id: UUID) -> MailboxUsage:
    """Count a mailbox again and write its usage, which is returned. The refusals of `list_folders`."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id, "mailbox.write")
    if app.settings.is_full_profile:
        argument = {"mailbox_id": str(mailbox_id)}
        result = await node_tasks.run(app, "mailbox.recalculate", argument, _WAIT_SECONDS)
        _refuse_inactive(result, mailbox)
        usage = msgspec.convert(result["usage"], MailboxUsage)
    else:
        messages, _, size = await asyncio.to_thread(maildir.measure, maildir_of(app.data_dir, mailbox_id))
        usage = MailboxUsage(mailbox_id, at, size, messages)
    target = AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
    details = {"used_bytes": usage.used_bytes, "message_count": usage.message_count}
    async with app.db.tx() as conn:
        if not app.settings.is_full_profile:
            await store.set_usage(conn, usage)
        await audit.record(conn, who, at, AuditAction("mailbox.recalculate", target, details=details))
    return usage


def _refuse_inactive(result: Mapping[str, Any], mailbox: Mailbox) -> None:
    if result.get("inactive"):
        text = f"{mailbox.address} or its domain is inactive: Dovecot reads only active mailboxes."
        raise Conflict(text, reason="inactive")


@dataclass(frozen=True, slots=True)
class FolderTasks:
    """Handlers of this feature's node tasks. `conf`: Dovecot's configuration file."""

    app: App
    conf: Path

    def handlers(self) -> Mapping[str, TaskHandler]:
        """The handlers by the kind of task."""
        return {"mailbox.folders": self._list, "mailbox.recalculate": self._recalculate}

    async def _list(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        login = await self._find_login(argument)
        if login is None:
            return {"inactive": True}
        rows = await dovecot_count.list_folders(self.conf, login)
        await self._check_unchanged(argument, login)
        folders = [MailFolder(row.mailbox, int(row.messages), int(row.unseen), int(row.vsize)) for row in rows]
        folders.sort(key=lambda each: (each.name != _INBOX, each.name.casefold()))
        return {"folders": msgspec.to_builtins(folders)}

    async def _recalculate(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        login = await self._find_login(argument)
        if login is None:
            return {"inactive": True}
        await dovecot_count.recalculate(self.conf, login)
        at = self.app.clock()
        counted = (await dovecot_count.count_mailboxes(self.conf, [login])).get(login)
        if counted is None:
            raise Failure("Dovecot could not count the mailbox: see log/node.log and log/dovecot.log.")
        await self._check_unchanged(argument, login)
        usage = MailboxUsage(UUID(argument["mailbox_id"]), at, counted.size, counted.messages)
        async with self.app.db.tx() as conn:
            await store.write_counts(conn, [usage])
        return {"usage": msgspec.to_builtins(usage)}

    async def _find_login(self, argument: Mapping[str, Any]) -> str | None:
        async with self.app.db.autocommit() as conn:
            return await store.find_login(conn, UUID(argument["mailbox_id"]))

    async def _check_unchanged(self, argument: Mapping[str, Any], login: str) -> None:
        """Failure if the address may have belonged to another mailbox meanwhile."""
        if await self._find_login(argument) != login:
            raise Failure("The mailbox was renamed or deactivated meanwhile; try again.")
