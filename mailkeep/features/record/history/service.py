"""Lists, timelines and contents of messages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, Forbidden, NotFound
from mailkeep.core.ids import uuid7_floor
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history import mailbox_store, rules, store, wire
from mailkeep.features.record.history.model import (
    HistoryFilter,
    MailboxMail,
    MailSelection,
    MessageContent,
    MessageTotals,
    SearchTerm,
    Slice,
    TimelineEntry,
)
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.content import content_path
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.scheduled import service as scheduled

MessageResponse, to_message = wire.MessageResponse, wire.to_message
SpamRule = wire.SpamRule
to_spam_rule = wire.to_spam_rule
"""The JSON of a message, and of the rule that decided, for the features whose endpoints return them."""
_NO_DOMAIN = UUID(int=0)
_CHUNK = 256 << 10


async def get(conn: Conn, who: Principal, message_id: UUID, action: str = "message.read") -> Message:
    """The message with this ID. NOT_FOUND; FORBIDDEN if the caller may not do that with it."""
    message = await _require_message(conn, message_id)
    _permit(who, action, message)
    return message


async def find_changed_at(conn: Conn, message: Message) -> datetime | None:
    """The time of a scheduled message's entity tag; None for others, which nobody can change."""
    waiting = await scheduled.find_waiting(conn, message.id) if message.status == "scheduled" else None
    return waiting.changed_at if waiting else None


async def _require_message(conn: Conn, message_id: UUID) -> Message:
    message = await messages.find(conn, message_id)
    if message is None:
        raise NotFound
    return message


def _permit(who: Principal, action: str, message: Message) -> None:
    # Only administrators of all domains see messages without a managed domain (relaying denied).
    allow_on(who, action, message.domain_id or _NO_DOMAIN)
    if who.own_messages_of not in (None, message.api_key_id):
        raise Forbidden("This API key may only see the messages that were sent with it.", reason="key_permissions")


async def page(conn: Conn, who: Principal, filters: HistoryFilter, page_request: PageRequest) -> Page[Message]:
    """A page of the messages that the caller may see. DOMAIN_NOT_FOUND if no domain has or had this ID."""
    await _check_domain(conn, who, filters)
    after: UUID | None = page_request.after[0] if page_request.after else None
    ids = await _ids(conn, filters, after, page_request.limit + 1, descending=page_request.order == "desc")
    rows = await messages.find_all(conn, ids[: page_request.limit])
    return Page(rows, (ids[page_request.limit - 1],) if len(ids) > page_request.limit else None)


async def get_totals(conn: Conn, who: Principal, filters: HistoryFilter) -> MessageTotals:
    """How many messages that the caller may see are in each status. DOMAIN_NOT_FOUND if no domain has or had the ID."""
    await _check_domain(conn, who, filters)
    by_status = await store.count_by_status(conn, filters, rules.COUNTED_STATUSES, rules.MOST_COUNTED)
    return MessageTotals(filters.since, by_status, rules.MOST_COUNTED)


async def _check_domain(conn: Conn, who: Principal, filters: HistoryFilter) -> None:
    if filters.domain_id is not None:
        if not await messages.knows_domain(conn, filters.domain_id):
            raise DomainNotFound
        allow_on(who, "message.list", filters.domain_id)


async def page_of_mailbox(
    conn: Conn, mail: MailboxMail, selection: MailSelection, page_request: PageRequest
) -> Page[Message]:
    """A page of the mail for a mailbox. Does not check a permission."""
    after: UUID | None = page_request.after[0] if page_request.after else None
    limit, descending = page_request.limit, page_request.order == "desc"
    [ids] = await mailbox_store.list_of_mailboxes(conn, [mail], selection, Slice(after, limit + 1, descending))
    rows = await messages.find_all(conn, ids[:limit])
    return Page(rows, (ids[limit - 1],) if len(ids) > limit else None)


async def find_of_mailbox(conn: Conn, mail: MailboxMail, selection: MailSelection, message_id: UUID) -> Message | None:
    """The message with this ID if it is mail for the mailbox. Does not check a permission."""
    window = Slice(UUID(int=max(message_id.int, 1) - 1), 1, descending=False)
    [ids] = await mailbox_store.list_of_mailboxes(conn, [mail], selection, window)
    return await messages.find(conn, message_id) if ids == [message_id] else None


async def list_of_mailboxes(
    conn: Conn, mails: Sequence[MailboxMail], selection: MailSelection, before: datetime, limit: int
) -> list[list[UUID]]:
    """The newest messages for each mailbox before a time, at most `limit` for each. One statement."""
    return await mailbox_store.list_of_mailboxes(conn, mails, selection, Slice(uuid7_floor(before), limit, True))


async def _ids(conn: Conn, filters: HistoryFilter, after: UUID | None, limit: int, *, descending: bool) -> list[UUID]:
    """The IDs of a page, by walks and, if hits are rare, by the trigram index."""
    terms = rules.search_terms(filters)
    if not terms:
        return await store.list_in_order(conn, filters, after, limit, descending=descending)
    terms = rules.index_terms(terms)
    hits: list[UUID] = []
    rows_read, rows = 0, rules.FIRST_WALK
    while True:
        walk = await store.walk(conn, filters, Slice(after, limit - len(hits), descending), rows, terms)
        hits += walk.hits
        if len(hits) >= limit or walk.rows_read < rows:
            return hits
        rows_read, after = rows_read + walk.rows_read, walk.last
        next_rows = rules.next_walk(rows_read, len(hits), limit - len(hits))
        if next_rows is None and terms:
            window = Slice(after, limit - len(hits), descending)
            rarest = rules.rarest_terms(terms, walk.counts)
            if not rules.is_narrow(filters) or await _index_pays(conn, filters, window, rarest):
                return hits + await store.search_index(conn, filters, window, rarest)
            terms = []  # the list has fewer rows than the index has hits: walk to its end
        rows = next_rows or rules.LONGEST_WALK


async def _index_pays(conn: Conn, filters: HistoryFilter, window: Slice, terms: Sequence[SearchTerm]) -> bool:
    return rules.index_pays(*await store.estimate_rows(conn, filters, window, terms))


async def get_timeline(conn: Conn, who: Principal, message_id: UUID, page_request: PageRequest) -> Page[TimelineEntry]:
    """A page of the timeline of a message. NOT_FOUND, FORBIDDEN."""
    message = await get(conn, who, message_id)
    after: UUID | None = page_request.after[0] if page_request.after else None
    descending = page_request.order == "desc"
    attempts = await store.list_attempts(conn, message_id, after, page_request.limit + 1, descending=descending)
    entries = rules.timeline(message, attempts, after, descending=descending)
    if len(entries) <= page_request.limit:
        return Page(entries, None)
    return Page(entries[: page_request.limit], (entries[page_request.limit - 1].id,))


async def open_content(app: App, who: Principal, message_id: UUID, part: str | None = None) -> MessageContent:
    """The content of a message; reading inbound mail requires `message.raw_inbound` and is recorded in
    the audit log, with the part that is read (None: the whole message).

    NOT_FOUND with `reason` expired if it was deleted, not_kept if it was never stored (refused at SMTP, not accepted by
    the MTA, disk full).
    """
    async with app.db.tx() as conn:
        message = await _require_message(conn, message_id)
        inbound = message.direction == "inbound"
        _permit(who, "message.raw_inbound" if inbound else "message.read", message)
        content = await asyncio.to_thread(_open, app.data_dir, message)
        if content is None:
            days = app.settings.retention.content_days
            if app.clock() - (message.submitted_at or message.created_at) >= timedelta(days=days):
                raise NotFound(f"The content was deleted after {days} days (retention.content_days).", reason="expired")
            text = "The content was never stored: the message is not sent, was refused, or the disk was full."
            raise NotFound(text, reason="not_kept")
        if inbound:
            target = AuditTarget("message", message.id, message.domain_id, message.domain_name)
            action = AuditAction("message.read_content", target, details={"part": part})
            if part is None:
                action = AuditAction("message.read_raw", target)
            await audit.record(conn, who, app.clock(), action)
    return content


def _open(data_dir: Path, message: Message) -> MessageContent | None:
    try:
        file = content_path(data_dir, message.id, message.submitted_at).open("rb", buffering=0)
    except FileNotFoundError:
        return None
    return MessageContent(message.id, os.fstat(file.fileno()).st_size, file)


async def read_chunks(content: MessageContent) -> AsyncIterator[bytes]:
    """The content in chunks; closes the file."""
    with content.file:
        while chunk := await asyncio.to_thread(content.file.read, _CHUNK):
            yield chunk
