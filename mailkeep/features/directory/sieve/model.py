"""Scripts of a mailbox, requests for changes of them, and the results of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.core.principal import Principal
from mailkeep.mail.sieve.output import ScriptActions, ScriptMessage, ScriptMessages

ChangeKind = Literal["put", "delete", "activate", "deactivate"]
Outcome = Literal["done", "mailbox_deleted", "not_found", "in_use", "other_version", "limit_reached", "invalid"]


@dataclass(frozen=True, slots=True)
class ListedScript:
    """A script in the list."""

    name: str
    active: bool


@dataclass(frozen=True, slots=True)
class Script:
    """A script. `tag`: its entity tag. Bytes that are not UTF-8 are replaced in `text`."""

    name: str
    active: bool
    text: str
    tag: str


@dataclass(frozen=True, slots=True)
class ScriptChange:
    """A change that the process `node` makes, on behalf of `who`. `expected`: the value of If-Match."""

    kind: ChangeKind
    mailbox_id: UUID
    who: Principal
    name: str = ""
    text: str = ""
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptChangeResult:
    """How a change ended. `tag`: of the script that exists now; `errors` and `warnings` of its compiler."""

    outcome: Outcome
    active: bool = False
    tag: str | None = None
    errors: Sequence[ScriptMessage] = ()
    warnings: Sequence[ScriptMessage] = ()


@dataclass(frozen=True, slots=True)
class ScriptTestMessage:
    """The message of a test: its text, or the ID of a stored one. The envelope is that of its header fields if None."""

    content: str | None = None
    message_id: UUID | None = None
    sender: str | None = None
    recipient: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptTestResult:
    """What a script does with a message. If there are errors, they say why it failed."""

    messages: ScriptMessages
    actions: ScriptActions
