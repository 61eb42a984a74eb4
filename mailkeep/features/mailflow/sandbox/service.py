"""Taking outbound mail, showing it, and seeing to its recipients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import IO
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import NotFound, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.receiving.model import InboundMail
from mailkeep.features.mailflow.sandbox import rules, store
from mailkeep.features.mailflow.sandbox.model import DueRecipient, SandboxContent, SandboxMessage, content_path
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome
from mailkeep.mail.message import content_file
from mailkeep.mail.message.dkim import sign
from mailkeep.mail.message.header_fields import MAX_HEAD, MessageHeader, parse_head
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import AttachedFile, ParsedMessage
from mailkeep.mail.smtp.spool import ReceivedMessage

_CHUNK = 256 << 10
_LISTED_HEAD = 32 << 10  # our own signatures stand before the subject
_ORPHAN_AGE = timedelta(hours=36)  # what is older is no message that is just being taken


@dataclass(frozen=True, slots=True)
class NoSigningKey(Exception):
    """A managed domain has no key that opens: the message must wait rather than leave unsigned."""

    domain: str


async def accept(app: App, mail_from: str, rcpt_to: list[str], content: ReceivedMessage) -> SandboxMessage:
    """Sign, keep and queue a message; it is on disk when this answers."""
    at = app.clock()
    head = parse_head(content.head(MAX_HEAD))
    signatures = await _signatures(app, head, content)
    caught_id = uuid7(at)
    path = content_path(app.data_dir, caught_id)
    size = await asyncio.to_thread(content_file.write, path, _content_with(signatures, content))
    failpoint.reach("sandbox.written")
    caught = SandboxMessage(caught_id, caught_id.hex, mail_from, rcpt_to, head.message_id, size, at)
    sent = await _enqueue(app, caught)
    failpoint.reach("sandbox.taken")
    if sent is not None:
        await asyncio.to_thread(messages.keep_file, app.data_dir, sent, path)
    return caught


async def _enqueue(app: App, caught: SandboxMessage) -> UUID | None:
    """Take it into the queue; the id of the sent message that it is. Where the database's answer is lost, it is done
    again, which changes nothing where it was done: who is told otherwise must find nothing taken.
    """
    for pause in (0.5, 2.0, None):
        asked = False
        try:
            async with app.db.autocommit() as conn:
                sent = await messages.find_outbound(conn, caught.message_id)
                asked = True
                await store.insert(conn, caught)
                return sent
        except Unavailable:
            if not asked or pause is None:
                raise
            await asyncio.sleep(pause)
    return None


async def _signatures(app: App, head: MessageHeader, content: ReceivedMessage) -> bytes:
    """DKIM-Signature fields by the From domain's keys; none for a domain that is not ours (a forwarded message)."""
    domain = _domain_of(head.from_address)
    if domain is None:
        return b""
    async with app.db.autocommit() as conn:
        keys = await dkim.list_signing_keys(conn, app.vault, domain)
        if not keys and await domains.find_by_name(conn, domain):
            raise NoSigningKey(domain)
    if not keys:
        return b""
    return await asyncio.to_thread(sign, content.chunks(), domain, keys, app.clock())


def _domain_of(address: str) -> str | None:
    try:
        return parse_address(address).domain
    except AddressError:
        return None


def _content_with(signatures: bytes, content: ReceivedMessage) -> Iterator[bytes]:
    yield signatures
    yield from content.chunks()


async def deliver_due(app: App, most: int = 100) -> int:
    """See to the recipients whose next try has come; how many there were."""
    async with app.db.autocommit() as conn:
        found = await store.list_due(conn, app.clock(), most)
    for due in found:
        await _attempt(app, due)
    return len(found)


async def _attempt(app: App, due: DueRecipient) -> None:
    attempts = due.attempts + 1
    fate = await _deliver(app, due, attempts)
    at = app.clock()
    again = at + timedelta(seconds=rules.RETRY_SECONDS)
    try:
        async with app.db.tx() as conn:
            # The message first, which is locked by this: events stand in the order in which their transactions began to
            # write, and whoever wrote down the acceptance meanwhile would come behind.
            tries = await _record_outcome(conn, due, fate, attempts, at, again)
            if fate.status == "deferred":
                await store.defer(conn, due.message.id, due.recipient, attempts, again)
            elif not await store.remove_recipient(conn, due.message.id, due.recipient):
                raise _AlreadyDone
    except _AlreadyDone:
        return
    for each in tries:
        app.counters.add("deliveries", "outbound", each.kind)


class _AlreadyDone(Exception):
    """Somebody else has seen to it."""


async def _record_outcome(
    conn: Conn, due: DueRecipient, fate: rules.SandboxOutcome, attempts: int, at: datetime, again: datetime
) -> list[DeliveryAttempt]:
    message_id = await messages.find_outbound(conn, due.message.message_id)
    if message_id is None:
        return []
    next_at = again if fate.status == "deferred" else None
    told = DeliveryOutcome(message_id, due.recipient, fate.status, attempts, fate.reply, next_at, due.message.queue_id)
    return await messages.record_outcome(conn, at, told)


async def _deliver(app: App, due: DueRecipient, attempts: int) -> rules.SandboxOutcome:
    async with app.db.autocommit() as conn:
        route = await routing.route(conn, due.recipient)
    if route.decision == "not_managed":
        return rules.remote_outcome(due.recipient, attempts)
    decision: str = route.decision
    if decision == "deliver":
        caught, path = due.message, content_path(app.data_dir, due.message.id)
        arrived = InboundMail(
            queue_id=caught.queue_id,
            mail_from=caught.mail_from,
            recipients=[(due.recipient, route)],
            head=parse_head(await asyncio.to_thread(_first_bytes, path)),
            size=caught.size,
            content=lambda: content_file.read(path),
            source="system",
        )
        decision = await receiving.deliver(app, arrived)
    return rules.local_outcome(decision, attempts)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_HEAD)


async def page(app: App, asked: PageRequest) -> tuple[Page[SandboxMessage], list[str]]:
    """A page of what was caught, and the subject of each."""
    async with app.db.autocommit() as conn:
        found = await store.page(conn, asked)
    return found, await asyncio.to_thread(_subjects, app.data_dir, [row.id for row in found.rows])


def _subjects(data_dir: Path, ids: list[UUID]) -> list[str]:
    return [_subject(content_path(data_dir, caught_id)) for caught_id in ids]


def _subject(path: Path) -> str:
    """Empty where the content is gone; by the first bytes only, as a list has many."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return parse_head(file.read(_LISTED_HEAD)).subject
    return ""


async def raw(app: App, caught_id: UUID) -> tuple[int, AsyncIterator[bytes]]:
    """A caught message as it would have left, signatures and all: its size in bytes, and its content in pieces."""
    path = await _find_content(app, caught_id)
    return path.stat().st_size, _read_chunks(partial(path.open, "rb", buffering=0))


async def attachment(app: App, caught_id: UUID, place: int) -> tuple[AttachedFile, AsyncIterator[bytes]]:
    """An attachment of a caught message by its place (from 0), and its content in pieces; NOT_FOUND where there is no
    such one, or the message can't be taken apart.
    """
    path = await _find_content(app, caught_id)
    try:
        found = await app.parser.attachment(lambda: content_file.read(path), place)
    except UnparsableMessage:
        raise NotFound from None
    if found is None:
        raise NotFound
    return found, _read_chunks(lambda: found.file)


async def _find_content(app: App, caught_id: UUID) -> Path:
    """Where a caught message lies; NOT_FOUND where it doesn't."""
    async with app.db.autocommit() as conn:
        found = await store.find(conn, caught_id)
    path = content_path(app.data_dir, caught_id)
    if found is None or not path.exists():
        raise NotFound
    return path


@asynccontextmanager
async def open_message(app: App, caught_id: UUID) -> AsyncGenerator[SandboxContent]:
    """A caught message taken apart, for as long as it is needed."""
    path = await _find_content(app, caught_id)
    head = parse_head(await asyncio.to_thread(_first_bytes, path))
    async with AsyncExitStack() as stack:
        try:
            held = app.parser.hold(lambda: content_file.read(path), path.stat().st_size)
            apart: ParsedMessage | UnparsableMessage = await stack.enter_async_context(held)
        except UnparsableMessage as error:
            apart = error
        yield SandboxContent(caught_id, head, apart)


async def _read_chunks(opening: Callable[[], IO[bytes]]) -> AsyncIterator[bytes]:
    """Few at a time: who reads slowly must not make us hold all of it."""
    with await asyncio.to_thread(opening) as file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            yield piece


async def clear(app: App, who: Principal) -> int:
    """Remove what was caught and is seen to; how many messages."""
    async with app.db.tx() as conn:
        removed = await store.clear(conn, app.clock())
        audit_action = AuditAction("sandbox.clear", AuditTarget("sandbox", None), more={"removed": len(removed)})
        await audit.record(conn, who, app.clock(), audit_action)
    for caught_id in removed:
        await asyncio.to_thread(content_file.remove, content_path(app.data_dir, caught_id))
    return len(removed)


def _list_contents(data_dir: Path, before: float) -> set[UUID]:
    """The messages whose content was written before a time (Unix)."""
    paths = (data_dir / "sandbox").glob("*/*.eml")
    return {UUID(path.stem) for path in paths if path.stat().st_mtime < before}


async def prune(app: App, before: datetime) -> int:
    """Remove what was caught before an instant and is seen to, and content that was never queued; how many messages."""
    abandoned = (app.clock() - _ORPHAN_AGE).timestamp()
    old = await asyncio.to_thread(_list_contents, app.data_dir, abandoned)
    async with app.db.tx() as conn:
        orphans = old - await store.filter_existing(conn, old)
        removed = [*orphans, *await store.clear(conn, before)]
    for caught_id in removed:
        await asyncio.to_thread(content_file.remove, content_path(app.data_dir, caught_id))
    return len(removed)
