"""JSON of Sieve scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.features.directory.sieve.model import (
    ListedScript,
    Script,
    ScriptChangeResult,
    ScriptTestMessage,
    ScriptTestResult,
)
from mailkeep.mail.sieve.output import ActionKind, ScriptAction, ScriptMessage, ScriptMessages
from mailkeep.web.fields import MAY_BE_EMPTY, MULTILINE, Body, MultiLine

ScriptText = Annotated[str, Meta(max_length=262144, extra=MULTILINE | MAY_BE_EMPTY, description="At most 256 KiB")]
Address = Annotated[str, Meta(max_length=320, extra_json_schema={"format": "email"})]


class ListedScriptResponse(Struct, frozen=True):
    """A script of a mailbox. At most one is `active`: it filters new mail."""

    name: str
    active: bool


class ScriptMessageResponse(Struct, frozen=True):
    """An error or warning about a script; `line` is null if it concerns no line."""

    line: int | None
    message: str


class ScriptResponse(Struct, frozen=True):
    """A script with its text."""

    name: str
    active: bool
    script: str


class ScriptWriteResponse(Struct, frozen=True):
    """The stored script, and warnings of its compiler."""

    name: str
    active: bool
    script: str
    warnings: list[ScriptMessageResponse]


class ScriptDeletion(Struct, frozen=True):
    """A script was deleted."""

    message: str
    name: str


class ScriptsDeactivation(Struct, frozen=True):
    """No script of the mailbox is active."""

    message: str


class ScriptWrite(Body, frozen=True):
    """The text of a script."""

    script: ScriptText


class ScriptValidate(Body, frozen=True):
    """A script to check."""

    script: ScriptText


class ScriptTest(Body, frozen=True):
    """A script and a message: `message` is its text, `message_id` that of a stored one.

    `sender` and `recipient` are the envelope; by default they are taken from the message's header fields.
    """

    one_of: ClassVar[tuple[str, ...]] = ("message", "message_id")

    script: ScriptText
    message: MultiLine | UnsetType = UNSET
    message_id: UUID | UnsetType = UNSET
    sender: Address | UnsetType = UNSET
    recipient: Address | UnsetType = UNSET


class ScriptValidation(Struct, frozen=True):
    """Whether a script is valid; if not, the errors with their lines."""

    ok: bool
    errors: list[ScriptMessageResponse]
    warnings: list[ScriptMessageResponse]


class ScriptActionResponse(Struct, frozen=True):
    """What a script does with the message. Only the fields of its `action` have a value; `text` is that of a reply.

    `folder`, `create` (if it does not exist) and `flags`: keep, fileinto; `address`: redirect; `text`: reject and
    vacation; `subject`: vacation. `description` is what Pigeonhole prints.
    """

    action: ActionKind
    folder: str | None
    create: bool
    flags: list[str]
    address: str | None
    subject: str | None
    text: str | None
    description: str


class ScriptTestResponse(Struct, frozen=True):
    """What a script does with a message. `implicit_keep`: the message also stays in the inbox, because no action
    replaces that. With errors `ok` is false: the script is invalid, or failed with this message.
    """

    ok: bool
    errors: list[ScriptMessageResponse]
    warnings: list[ScriptMessageResponse]
    actions: list[ScriptActionResponse]
    implicit_keep: bool


def read_test(body: ScriptTest) -> ScriptTestMessage:
    """The message of a test."""
    return ScriptTestMessage(
        None if body.message is UNSET else body.message,
        None if body.message_id is UNSET else body.message_id,
        None if body.sender is UNSET else body.sender,
        None if body.recipient is UNSET else body.recipient,
    )


def to_listed(script: ListedScript) -> ListedScriptResponse:
    """The JSON of a script in a list."""
    return ListedScriptResponse(script.name, script.active)


def to_script(script: Script) -> ScriptResponse:
    """The JSON of a script."""
    return ScriptResponse(script.name, script.active, script.text)


def to_write(name: str, text: str, result: ScriptChangeResult) -> ScriptWriteResponse:
    """The JSON of a stored script."""
    return ScriptWriteResponse(name, result.active, text, _messages(result.warnings))


def to_validation(messages: ScriptMessages) -> ScriptValidation:
    """The JSON of a check."""
    return ScriptValidation(not messages.errors, _messages(messages.errors), _messages(messages.warnings))


def to_test(result: ScriptTestResult) -> ScriptTestResponse:
    """The JSON of a test."""
    return ScriptTestResponse(
        ok=not result.messages.errors,
        errors=_messages(result.messages.errors),
        warnings=_messages(result.messages.warnings),
        actions=[_action(each) for each in result.actions.actions],
        implicit_keep=result.actions.implicit_keep,
    )


def _messages(messages: Sequence[ScriptMessage]) -> list[ScriptMessageResponse]:
    return [ScriptMessageResponse(each.line, each.message) for each in messages]


def _action(action: ScriptAction) -> ScriptActionResponse:
    return ScriptActionResponse(
        action=action.kind,
        folder=action.folder,
        create=action.create,
        flags=list(action.flags),
        address=action.address,
        subject=action.subject,
        text=action.text,
        description=action.description,
    )
