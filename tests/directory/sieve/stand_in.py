"""Scripts in memory instead of Dovecot's folder, for the browser tests. They are compiled by the real sievec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mailkeep.app import App
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import PreconditionFailed
from mailkeep.features.directory.sieve import rules
from mailkeep.features.directory.sieve.model import Script, ScriptChange, ScriptChangeResult
from mailkeep.features.record.node_tasks.service import TaskHandler
from mailkeep.mail.sieve.config import default_settings


class ScriptsInMemory:
    """The scripts of all mailboxes, by mailbox and name."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.scripts: dict[tuple[str, str], str] = {}
        self.active: dict[str, str] = {}

    def handlers(self) -> Mapping[str, TaskHandler]:
        """The handlers in place of those of `ScriptTasks`."""
        return {"sieve.list": self._list, "sieve.get": self._get, "sieve.change": self._change}

    async def _list(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        mailbox = argument["mailbox_id"]
        names = sorted(name for owner, name in self.scripts if owner == mailbox)
        return {"scripts": [{"name": name, "active": self.active.get(mailbox) == name} for name in names]}

    async def _get(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        mailbox, name = argument["mailbox_id"], argument["name"]
        text = self.scripts.get((mailbox, name))
        if text is None:
            return {"script": None}
        return {"script": Script(name, self.active.get(mailbox) == name, text, rules.script_tag(text.encode()))}

    async def _change(self, argument: Mapping[str, Any]) -> Mapping[str, Any]:
        change = msgspec.convert(argument, ScriptChange)
        return msgspec.to_builtins(await self._apply(change, str(change.mailbox_id)))

    async def _apply(self, change: ScriptChange, mailbox: str) -> ScriptChangeResult:
        key = mailbox, change.name
        current = self.scripts.get(key)
        tag = None if current is None else rules.script_tag(current.encode())
        try:
            IfMatch(change.expected).check_tag(tag)
        except PreconditionFailed:
            return ScriptChangeResult("other_version", tag=tag)
        is_active = self.active.get(mailbox) == change.name
        match change.kind:
            case "put":
                found = await self.app.sieve.check(change.text.encode(), default_settings())
                if found.errors:
                    return ScriptChangeResult("invalid", errors=found.errors)
                self.scripts[key] = change.text
                tag = rules.script_tag(change.text.encode())
                return ScriptChangeResult("done", active=is_active, tag=tag, warnings=found.warnings)
            case "activate":
                self.active[mailbox] = change.name
            case "deactivate":
                self.active.pop(mailbox, None)
            case "delete":
                if is_active:
                    return ScriptChangeResult("in_use")
                del self.scripts[key]
        return ScriptChangeResult("done")
