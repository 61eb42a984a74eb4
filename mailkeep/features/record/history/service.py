"""Showing the history."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, NotFound
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history import rules, store
from mailkeep.features.record.history.model import HistoryFilter, MessageContent, TimelineEntry
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message, content_path

_NO_DOMAIN = UUID(int=0)
_CHUNK = 256 << 10


async def get(conn: Conn, who: Principal, message_id: UUID) -> Message:
    """The message with this id; NOT_FOUND, or FORBIDDEN where it belongs to a domain that the caller does not see."""
    found = await _existing(conn, message_id)
    _permit(who, "message.read", found)
    return found


async def _existing(conn: Conn, message_id: UUID) -> Message:
    found = await messages.find(conn, message_id)
    if found is None:
        raise NotFound
    return found


def _permit(who: Principal, action: str, message: Message) -> None:
    # What belongs to no managed domain (relaying refused) is nobody's but the administrators' of all domains.
    allow_on(who, action, message.domain_id or _NO_DOMAIN)


async def page(conn: Conn, who: Principal, wanted: HistoryFilter, asked: PageRequest) -> Page[Message]:
    """A page of the messages that the caller may see; DOMAIN_NOT_FOUND for the id of what never was a domain."""
    if wanted.domain_id is not None:
        if not await messages.knows_domain(conn, wanted.domain_id):
            raise DomainNotFound
        allow_on(who, "message.list", wanted.domain_id)
    after: UUID | None = asked.after[0] if asked.after else None
    ids = await _ids(conn, wanted, after, asked.limit + 1, down=asked.order == "desc")
    rows = await messages.find_all(conn, ids[: asked.limit])
    return Page(rows, (ids[asked.limit - 1],) if len(ids) > asked.limit else None)


async def _ids(conn: Conn, wanted: HistoryFilter, after: UUID | None, most: int, *, down: bool) -> list[UUID]:
    """The ids of a page: walked, and where hits are rare taken from the index of trigrams."""
    parts = rules.search_terms(wanted)
    if not parts:
        return await store.list_in_order(conn, wanted, after, most, down=down)
    pieces = rules.index_terms(parts)
    found: list[UUID] = []
    seen, rows = 0, rules.FIRST_WALK
    while True:
        stretch = await store.walk(conn, wanted, store.Slice(after, most - len(found), down), rows, pieces)
        found += stretch.hits
        if len(found) >= most or stretch.seen < rows:
            return found
        seen, after = seen + stretch.seen, stretch.last
        further = rules.next_walk(seen, len(found), most - len(found))
        if further is None and pieces:
            span, asked = store.Slice(after, most - len(found), down), rules.rarest_terms(pieces, stretch.counts)
            if not rules.is_narrow(wanted) or rules.index_pays(*await store.estimate_rows(conn, wanted, span, asked)):
                return found + await store.search_index(conn, wanted, span, asked)
            pieces = []  # the list is shorter than what others have of this: walk to its end
        rows = further or rules.LONGEST_WALK


async def timeline(conn: Conn, who: Principal, message_id: UUID, asked: PageRequest) -> Page[TimelineEntry]:
    """A page of what happened to a message."""
    message = await get(conn, who, message_id)
    after: UUID | None = asked.after[0] if asked.after else None
    down = asked.order == "desc"
    tries = await store.attempts(conn, message_id, after, asked.limit + 1, down=down)
    entries = rules.timeline(message, tries, after, down=down)
    if len(entries) <= asked.limit:
        return Page(entries, None)
    return Page(entries[: asked.limit], (entries[asked.limit - 1].id,))


async def content(app: App, who: Principal, message_id: UUID) -> MessageContent:
    """The content of a message; reading that of inbound mail takes `message.raw_inbound` and is recorded.

    NOT_FOUND with `reason` expired where it was removed, not_kept where there never was any (refused at SMTP, not
    accepted by the MTA, the disk full).
    """
    async with app.db.tx() as conn:
        message = await _existing(conn, message_id)
        inbound = message.direction == "inbound"
        _permit(who, "message.raw_inbound" if inbound else "message.read", message)
        found = await asyncio.to_thread(_open, app.data_dir, message)
        if found is None:
            lifetime = timedelta(days=app.settings.retention.content_days)
            expired = app.clock() - message.created_at >= lifetime
            raise NotFound("The content is not kept.", reason="expired" if expired else "not_kept")
        if inbound:
            target = AuditTarget("message", message.id, message.domain_id, message.domain_name)
            await audit.record(conn, who, app.clock(), AuditAction("message.read_raw", target))
    return found


def _open(data_dir: Path, message: Message) -> MessageContent | None:
    try:
        file = content_path(data_dir, message.id).open("rb", buffering=0)
    except FileNotFoundError:
        return None
    return MessageContent(message.id, os.fstat(file.fileno()).st_size, file)


async def chunks(found: MessageContent) -> AsyncIterator[bytes]:
    """The content in pieces; the file is closed at the end."""
    with found.file:
        while piece := await asyncio.to_thread(found.file.read, _CHUNK):
            yield piece
