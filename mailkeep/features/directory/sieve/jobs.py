"""Node tasks of Sieve scripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.app import App
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import PreconditionFailed
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox, mail_folder
from mailkeep.features.directory.sieve import rules
from mailkeep.features.directory.sieve.model import ListedScript, Script, ScriptChange, ScriptChangeResult
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.sieve.config import MAX_SCRIPTS, SieveSettings
from mailkeep.mail.sieve.storage import ScriptStorage

_AUDIT_ACTIONS = {"put": "update"}


@dataclass(frozen=True, slots=True)
class ScriptTasks:
    """Handlers of this feature's node tasks. `account`: user and group ID of the mailboxes; `settings` returns those of
    the running Dovecot.
    """

    app: App
    account: tuple[int, int]
    settings: Callable[[], SieveSettings]

    def handlers(self) -> Mapping[str, TaskHandler]:
        """The handlers by the kind of task."""
        return {"sieve.list": self._list, "sieve.get": self._get, "sieve.change": self._change}

    async def _list(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        names = await self._list_names(UUID(argument["mailbox_id"]))
        return {"scripts": [ListedScript(name, active) for name, active in sorted(names.items())]}

    async def _get(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        mailbox_id, name = UUID(argument["mailbox_id"]), argument["name"]
        names = await self._list_names(mailbox_id)
        content = await self._storage(mailbox_id).get(name) if name in names else None
        if content is None:
            return {"script": None}
        text = content.decode("utf-8", "replace").replace("\0", "\ufffd")  # PostgreSQL stores no NUL
        return {"script": Script(name, names[name], text, rules.script_tag(content))}

    async def _list_names(self, mailbox_id: UUID) -> dict[str, bool]:
        # A mailbox without mail and scripts has no home yet.
        return await self._storage(mailbox_id).list() if mail_folder(self.app.data_dir, mailbox_id).exists() else {}

    async def _change(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        change = msgspec.convert(argument, ScriptChange)
        async with self.app.db.tx() as conn:
            # Its folder is removed after the mailbox is deleted, so it must not be created again meanwhile.
            mailbox = await mailboxes.find_and_prevent_purge(conn, change.mailbox_id)
            if mailbox is None:
                return msgspec.to_builtins(ScriptChangeResult("mailbox_deleted"))
            result = await self._apply(change)
            if result.outcome == "done":
                await audit.record(conn, change.who, self.app.clock(), _audit_action(change, mailbox))
        return msgspec.to_builtins(result)

    async def _apply(self, change: ScriptChange) -> ScriptChangeResult:
        storage, name = self._storage(change.mailbox_id), change.name
        self._create_home(change.mailbox_id)
        names = await storage.list()
        active = names.get(name, False)
        if change.kind == "deactivate":
            await storage.deactivate()
            return ScriptChangeResult("done")
        if change.kind != "put" and name not in names:
            return ScriptChangeResult("not_found")
        if change.kind == "activate":
            messages = await storage.activate(name)
            if messages is None:
                return ScriptChangeResult("not_found")
            return ScriptChangeResult("invalid" if messages.errors else "done", errors=messages.errors)
        current = await storage.get(name) if name in names else None
        tag = None if current is None else rules.script_tag(current)
        try:
            IfMatch(change.expected).check_tag(tag)
        except PreconditionFailed:
            return ScriptChangeResult("other_version", tag=tag)
        if change.kind == "put":
            return await self._put(storage, change, len(names) - (name in names), active=active)
        if active:
            return ScriptChangeResult("in_use")
        return ScriptChangeResult("done" if await storage.delete(name) else "not_found")

    async def _put(
        self, storage: ScriptStorage, change: ScriptChange, others: int, *, active: bool
    ) -> ScriptChangeResult:
        if others >= MAX_SCRIPTS:
            return ScriptChangeResult("limit_reached")
        messages = await storage.put(change.name, change.text.encode())
        if messages.errors:
            return ScriptChangeResult("invalid", errors=messages.errors, warnings=messages.warnings)
        tag = rules.script_tag(change.text.encode())
        return ScriptChangeResult("done", active=active, tag=tag, warnings=messages.warnings)

    def _storage(self, mailbox_id: UUID) -> ScriptStorage:
        return ScriptStorage(mail_folder(self.app.data_dir, mailbox_id), self.account, self.settings())

    def _create_home(self, mailbox_id: UUID) -> None:
        home = mail_folder(self.app.data_dir, mailbox_id)
        with suppress(FileExistsError):
            home.mkdir(mode=0o700)
            os.chown(home, *self.account, follow_symlinks=False)  # the account may replace it


def _audit_action(change: ScriptChange, mailbox: Mailbox) -> AuditAction:
    target = AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
    details: dict[str, Any] = {"script": change.name} if change.name else {}
    if change.kind == "put":
        details["bytes"] = len(change.text.encode())
    return AuditAction(f"sieve.{_AUDIT_ACTIONS.get(change.kind, change.kind)}", target, details=details)
