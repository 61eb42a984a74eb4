"""List junk, and release it to the inbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Conflict, NotFound, Unavailable
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox, maildir_of
from mailkeep.features.directory.owners import rules as owner_rules
from mailkeep.features.mailflow.filtering import rules as filtering_rules, service as filtering
from mailkeep.features.mailflow.filtering.model import OwnerRef, Subject
from mailkeep.features.mailflow.junk import rules
from mailkeep.features.mailflow.junk.model import (
    DEFAULT_PERIOD,
    LONGEST_PERIOD,
    CopyRequest,
    JunkMessage,
    JunkResult,
    MovedCopy,
    Release,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history import service as history
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.node_tasks import service as node_tasks
from mailkeep.mail.mailbox import maildir
from mailkeep.mail.message.header_fields import MAX_HEAD

log = structlog.get_logger("mailkeep.junk")

_LOOK_UP_SECONDS = 3.0
_MOVE_SECONDS = 30.0


async def page(
    app: App,
    who: Principal,
    mailbox_id: UUID,
    result: JunkResult | None,
    since: datetime | None,
    page_request: PageRequest,
) -> Page[JunkMessage]:
    """A page of what the filter filed in Junk or refused for a mailbox. NOT_FOUND, FORBIDDEN, INVALID_FIELD."""
    start = owner_rules.period_start(since, app.clock(), DEFAULT_PERIOD, LONGEST_PERIOD)
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.get(conn, who, mailbox_id, "filter.read")
        mail = owner_rules.mail_of(mailbox, start)
        found = await history.page_of_mailbox(conn, mail, rules.select(result), page_request)
    in_junk = await _find_in_junk(app, mailbox_id, [each for each in found.rows if each.status != "rejected"])
    rows = [JunkMessage(each, each.status != "rejected" and each.queue_id in in_junk) for each in found.rows]
    return Page(rows, found.next_key)


async def _find_in_junk(app: App, mailbox_id: UUID, messages: Sequence[Message]) -> set[str]:
    """The delivery IDs in the folder Junk, at least those of these messages."""
    if not messages:
        return set()
    if not app.settings.is_full_profile:
        folder = maildir_of(app.data_dir, mailbox_id) / maildir.JUNK_FOLDER
        return await asyncio.to_thread(maildir.list_deliveries, folder)
    since, before = rules.copy_period(messages)
    argument = {"mailbox_id": str(mailbox_id), "since": since.isoformat(), "before": before.isoformat()}
    try:
        result = await node_tasks.run(app, "junk.find", argument, _LOOK_UP_SECONDS)
    except Unavailable as error:  # nothing can be released now
        log.warning("the folder Junk of a mailbox can't be read", mailbox=str(mailbox_id), why=error.message)
        return set()
    return set(result["delivery_ids"])


async def release(app: App, who: Principal, mailbox_id: UUID, message_id: UUID, *, allow: bool) -> Release:
    """Move a message from Junk to the inbox, and add its author to the allow list. Idempotent.

    NOT_FOUND; FORBIDDEN, also if an administrator of higher rank owns the mailbox; CONFLICT `refused`, `moved`,
    `deleted`, `inactive`; INVALID_FIELD for a message without one author; UNAVAILABLE.
    """
    at = app.clock()
    async with app.db.autocommit() as conn:
        mailbox = await mailboxes.get_for_state_change(conn, who, mailbox_id, "filter.write")
        mail = owner_rules.mail_of(mailbox, at - LONGEST_PERIOD)
        message = await history.find_of_mailbox(conn, mail, rules.select(), message_id)
    if message is None:
        raise NotFound
    if message.status == "rejected":
        text = "The message was refused, and the server did not keep it. Its sender got an error and can send it again."
        raise Conflict(text, reason="refused")
    moved = await _move_to_inbox(app, rules.copy_request(message, mailbox_id, needs_author=allow))
    if refusal := rules.refusal(moved, str(mailbox.address)):
        raise refusal
    if moved.outcome == "moved":
        target = AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
        details = {"message_id": str(message.id), "from": message.from_address, "allow": allow}
        async with app.db.tx() as conn:
            await audit.record(conn, who, at, AuditAction("junk.release", target, details=details))
    if not allow:
        return Release(message.id, None, [])
    return await _allow_author(app, who, mailbox, message, moved.author)


async def _move_to_inbox(app: App, request: CopyRequest) -> MovedCopy:
    if app.settings.is_full_profile:
        result = await node_tasks.run(app, "junk.release", msgspec.to_builtins(request), _MOVE_SECONDS)
        return msgspec.convert(result, MovedCopy)
    return await asyncio.to_thread(_move_file, app, request)


def _move_file(app: App, request: CopyRequest) -> MovedCopy:
    inbox = maildir_of(app.data_dir, request.mailbox_id)
    junk = inbox / maildir.JUNK_FOLDER
    author = ""
    if request.needs_author:
        path = maildir.find(junk, request.delivery_id) or maildir.find(inbox, request.delivery_id)
        if path is None:
            return MovedCopy("gone")
        try:
            with path.open("rb") as file:
                author = rules.find_author(file.read(MAX_HEAD))
        except FileNotFoundError:  # moved or deleted meanwhile
            return _move_file(app, request)
        if not author:
            return MovedCopy("no_author")
    if maildir.move(request.delivery_id, junk, inbox):
        return MovedCopy("moved", author=author)
    return MovedCopy("in_inbox" if maildir.find(inbox, request.delivery_id) else "gone", author=author)


async def _allow_author(app: App, who: Principal, mailbox: Mailbox, message: Message, author: str) -> Release:
    """Add the author to the mailbox's allow list. The message is released already, also if the list is full."""
    new = filtering_rules.parse_entry("allow", "address", author, enforced=False)
    try:
        async with app.db.tx() as conn:
            ref = OwnerRef("mailbox", mailbox.id)
            entry_id = (await filtering.create(conn, who, app.clock(), ref, new)).id
    except Conflict as conflict:
        details = conflict.details or {}
        if details.get("reason") == "limit_reached":
            return Release(message.id, None, [f"{author} was not added to the allow list. {conflict.message}"])
        if details.get("reason") != "exists":
            raise
        entry_id = UUID(details["entry_id"])
    subject, facts = Subject(mailbox.domain_id, mailbox.id), rules.facts_of(message, author)
    async with app.db.autocommit() as conn:
        policies = await filtering.find_policies(conn, [subject], facts)
    return Release(message.id, entry_id, rules.list_warnings(filtering.decide(policies[subject], facts), author))
