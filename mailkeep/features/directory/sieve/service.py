"""Use cases of Sieve scripts. The functions about a mailbox's scripts expect that the caller may access the mailbox
(`find_mailbox`), so that its owner can use them as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

import msgspec

from mailkeep.app import App
from mailkeep.core.concurrency import ConcurrencyLimit
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.sieve import rules
from mailkeep.features.directory.sieve.model import (
    ListedScript,
    Script,
    ScriptChange,
    ScriptChangeResult,
    ScriptTestMessage,
    ScriptTestResult,
)
from mailkeep.features.record.history import service as history
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.mail.sieve import config
from mailkeep.mail.sieve.checker import Envelope
from mailkeep.mail.sieve.config import SieveSettings
from mailkeep.mail.sieve.output import ScriptMessages

_WAIT_SECONDS = 30.0  # a script may take seconds to compile, and other tasks come first
_MAX_QUEUED = 16
# The process `node` performs one task at a time, and few checks run at a time. So that the owner of a mailbox can't
# occupy them, a mailbox's tasks and an account's checks are begun one by one, between those of others.
_turns: WeakValueDictionary[UUID | None, ConcurrencyLimit] = WeakValueDictionary()


async def find_mailbox(app: App, who: Principal, mailbox_id: UUID, *, write: bool) -> Mailbox:
    """The mailbox whose scripts the caller wants to read, or to change with `write`.

    NOT_FOUND, API_KEY_DOMAIN_SCOPE; FORBIDDEN, also to change those of an administrator of higher rank.
    """
    async with app.db.autocommit() as conn:
        if write:
            return await mailboxes.get_for_state_change(conn, who, mailbox_id, "sieve.write")
        return await mailboxes.get(conn, who, mailbox_id, "sieve.read")


async def list_scripts(app: App, mailbox: Mailbox) -> list[ListedScript]:
    """The scripts of a mailbox, by name. UNAVAILABLE."""
    _expect_full_profile(app)
    result = await _run(app, "sieve.list", mailbox.id, {"mailbox_id": mailbox.id})
    return msgspec.convert(result["scripts"], list[ListedScript])


async def get_script(app: App, mailbox: Mailbox, name: str) -> Script:
    """A script of a mailbox. NOT_FOUND, UNAVAILABLE."""
    _expect_full_profile(app)
    rules.expect_possible_name(name)
    result = await _run(app, "sieve.get", mailbox.id, {"mailbox_id": mailbox.id, "name": name})
    if result["script"] is None:
        raise NotFound
    return msgspec.convert(result["script"], Script)


async def write_script(
    app: App, who: Principal, mailbox: Mailbox, name: str, text: str, if_match: IfMatch = ANY_VERSION
) -> ScriptChangeResult:
    """Create or replace a script. An active script stays active.

    INVALID_FIELD, with the errors of one that does not compile; PRECONDITION_FAILED; CONFLICT `limit_reached`;
    NOT_FOUND if the mailbox was deleted meanwhile; UNAVAILABLE.
    """
    _expect_full_profile(app)
    rules.check_name(name)
    rules.check_text(text)
    return await _change(app, ScriptChange("put", mailbox.id, who, name, text, if_match.expected))


async def delete_script(app: App, who: Principal, mailbox: Mailbox, name: str, if_match: IfMatch = ANY_VERSION) -> None:
    """Delete a script. NOT_FOUND; PRECONDITION_FAILED; CONFLICT `in_use` if it is active; UNAVAILABLE."""
    _expect_full_profile(app)
    rules.expect_possible_name(name)
    await _change(app, ScriptChange("delete", mailbox.id, who, name, expected=if_match.expected))


async def activate_script(app: App, who: Principal, mailbox: Mailbox, name: str) -> None:
    """Let new mail be filtered by this script instead of another one. NOT_FOUND, UNAVAILABLE; CONFLICT
    `invalid_script` if it does not compile.
    """
    _expect_full_profile(app)
    rules.expect_possible_name(name)
    await _change(app, ScriptChange("activate", mailbox.id, who, name))


async def deactivate_scripts(app: App, who: Principal, mailbox: Mailbox) -> None:
    """Let no script filter new mail. UNAVAILABLE."""
    _expect_full_profile(app)
    await _change(app, ScriptChange("deactivate", mailbox.id, who))


async def _change(app: App, change: ScriptChange) -> ScriptChangeResult:
    done = await _run(app, "sieve.change", change.mailbox_id, msgspec.to_builtins(change), _WAIT_SECONDS)
    result = msgspec.convert(done, ScriptChangeResult)
    if refusal := rules.refusal_of(result, change):
        raise refusal
    return result


async def _run(
    app: App, kind: str, mailbox_id: UUID, argument: Mapping[str, Any], *seconds: float
) -> Mapping[str, Any]:
    """The result of a node task. RATE_LIMIT_EXCEEDED if many for the mailbox wait; UNAVAILABLE."""
    async with _turn(app, mailbox_id).acquire():
        return await node_tasks.run(app, kind, argument, *seconds)


def _turn(app: App, of: UUID | None) -> ConcurrencyLimit:
    return _turns.setdefault(of, ConcurrencyLimit(1, _MAX_QUEUED, app.memory, f"sieve {of}"))


async def check_script(app: App, who: Principal, text: str) -> ScriptMessages:
    """What is wrong with a script; without errors it is valid. INVALID_FIELD, RATE_LIMIT_EXCEEDED, UNAVAILABLE."""
    rules.check_text(text)
    async with _turn(app, who.account[1]).acquire():
        return await app.sieve.check(text.encode(), await _settings(app))


async def test_script(app: App, who: Principal, text: str, message: ScriptTestMessage) -> ScriptTestResult:
    """What a script would do with a message. Nothing is stored or sent.

    INVALID_FIELD; with a stored message the refusals and the audit entry of reading it; RATE_LIMIT_EXCEEDED,
    UNAVAILABLE.
    """
    rules.check_text(text)
    rules.check_test(message)
    content = (message.content or "").encode()
    if message.message_id is not None:
        content = partial(_read_message, app, who, message.message_id)
    envelope = Envelope(message.sender, message.recipient)
    async with _turn(app, who.account[1]).acquire():
        return ScriptTestResult(*await app.sieve.test(text.encode(), content, envelope, await _settings(app)))


async def _read_message(app: App, who: Principal, message_id: UUID) -> bytes:
    stored = await history.open_content(app, who, message_id)
    with stored.file:
        return await asyncio.to_thread(stored.file.read) or b""


async def _settings(app: App) -> SieveSettings:
    """Those of the running Dovecot, which the process `node` reports; otherwise those that Mailkeep renders."""
    report = await asyncio.to_thread(app.node_report) if app.node_report else None
    return report.sieve if report and report.sieve else config.default_settings()


def _expect_full_profile(app: App) -> None:
    if not app.settings.is_full_profile:
        raise Unavailable("Sieve scripts of mailboxes need Dovecot, in the full profile.", reason="needs_full_profile")
