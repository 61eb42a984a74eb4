"""Accept outbound mail, show it, and deliver it to its recipients."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
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
from mailkeep.features.mailflow.bounce_reports import service as bounce_reports
from mailkeep.features.mailflow.receiving import service as receiving
from mailkeep.features.mailflow.receiving.model import InboundMail
from mailkeep.features.mailflow.sandbox import rules, store
from mailkeep.features.mailflow.sandbox.model import DueRecipient, SandboxMessage, content_path
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history.model import MessageContent
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.content import link_content
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome, OutboundMessage
from mailkeep.mail.message import content_file
from mailkeep.mail.message.dkim import sign
from mailkeep.mail.message.header_fields import MAX_HEAD, MessageHeader, parse_head
from mailkeep.mail.smtp.spool import ReceivedMessage

_SUBJECT_HEAD = 32 << 10  # bytes to read for the subject: our signatures precede it
_ORPHAN_AGE = timedelta(hours=36)  # a file of this age does not belong to a message that is still being accepted


class NoSigningKey(Exception):
    """A managed domain has no usable signing key; its mail must wait instead of being sent unsigned."""

    def __init__(self, domain: str) -> None:
        super().__init__(f"{domain} has no usable DKIM key")
        self.domain = domain


async def accept(app: App, mail_from: str, rcpt_to: list[str], content: ReceivedMessage) -> SandboxMessage:
    """Sign, store and queue a message; it is on disk on return. Raises NoSigningKey."""
    at = app.clock()
    head = parse_head(content.head(MAX_HEAD))
    signatures = await _sign(app, head, content)
    sandbox_id = uuid7(at)
    path = content_path(app.data_dir, sandbox_id)
    size = await asyncio.to_thread(content_file.write, path, chain((signatures,), content.chunks()))
    failpoint.reach("sandbox.written")
    message = SandboxMessage(sandbox_id, sandbox_id.hex, mail_from, rcpt_to, head.message_id, size, at)
    sent = await _enqueue(app, message)
    failpoint.reach("sandbox.queued")
    if sent is not None:
        await asyncio.to_thread(link_content, app.data_dir, sent.id, path, sent.submitted_at)
    return message


async def _enqueue(app: App, message: SandboxMessage) -> OutboundMessage | None:
    """Queue a message; returns it as in the history, None if it is not there. If the result of the insert is lost, the
    insert, which is idempotent, is repeated: a client that gets an error must be sure that nothing was queued.
    """
    for pause in (0.5, 2.0, None):  # seconds before the next attempt
        insert_started = False
        try:
            async with app.db.autocommit() as conn:
                sent = await messages.find_outbound(conn, message.message_id, message.mail_from)
                insert_started = True
                await store.insert(conn, message)
                return sent
        except Unavailable:
            if not insert_started or pause is None:
                raise
            await asyncio.sleep(pause)
    return None


async def _sign(app: App, head: MessageHeader, content: ReceivedMessage) -> bytes:
    """DKIM-Signature fields by the keys of the From domain; empty if the domain is not managed (forwarded mail)."""
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


retry = store.retry


async def deliver_due(app: App, limit: int = 100) -> int:
    """Deliver to the recipients whose next attempt is due; returns how many there were."""
    async with app.db.autocommit() as conn:
        due_recipients = await store.list_due(conn, app.clock(), limit)
    for due in due_recipients:
        await _attempt_delivery(app, due)
    return len(due_recipients)


async def _attempt_delivery(app: App, due: DueRecipient) -> None:
    attempt = due.attempts + 1
    outcome = await _deliver(app, due, attempt)
    at = app.clock()
    retry_at = at + timedelta(seconds=rules.RETRY_SECONDS)
    try:
        async with app.db.tx() as conn:
            # The first statement, since it locks the message in the history: events are ordered by the first write of
            # their transactions, and the event of its acceptance must precede those of its delivery.
            delivery_attempts = await _record_outcome(conn, due, outcome, attempt, at, retry_at)
            if outcome.status == "deferred":
                await store.defer(conn, due.message.id, due.recipient, attempt, retry_at)
            elif not await store.remove_recipient(conn, due.message.id, due.recipient):
                raise _AlreadyDone
    except _AlreadyDone:
        return
    for each in delivery_attempts:
        app.counters.add("deliveries", "outbound", each.kind)


class _AlreadyDone(Exception):
    """Another process has removed the recipient."""


async def _record_outcome(
    conn: Conn, due: DueRecipient, outcome: rules.SandboxOutcome, attempt: int, at: datetime, retry_at: datetime
) -> list[DeliveryAttempt]:
    """Record the outcome in the history; returns the attempts recorded, none if the message is not there."""
    sent = await messages.find_outbound(conn, due.message.message_id, due.message.mail_from)
    if sent is None:
        return []
    next_at = retry_at if outcome.status == "deferred" else None
    delivery_outcome = DeliveryOutcome(
        sent.id, due.recipient, outcome.status, attempt, outcome.reply, next_at, due.message.queue_id
    )
    # Without a tag a test address can be used again and again.
    suppresses = not rules.is_test_address(due.recipient)
    record = suppressions.record_outcomes if suppresses else messages.record_outcomes
    attempts = await record(conn, at, [delivery_outcome])
    if outcome.is_complaint:
        await bounce_reports.complain(conn, at, sent.id, due.recipient, suppresses=suppresses)
    return attempts


async def _deliver(app: App, due: DueRecipient, attempt: int) -> rules.SandboxOutcome:
    async with app.db.autocommit() as conn:
        route = await routing.route(conn, due.recipient)
    if route.decision == "not_managed":
        return rules.remote_outcome(due.recipient, attempt)
    decision: str = route.decision
    if decision in ("deliver", "bounce"):
        message, path = due.message, content_path(app.data_dir, due.message.id)
        mail = InboundMail(
            queue_id=message.queue_id,
            mail_from=message.mail_from,
            recipients=[(due.recipient, route)],
            head=parse_head(await asyncio.to_thread(_first_bytes, path)),
            size=message.size,
            content=lambda: content_file.read(path),
            source="system",
        )
        decision = await receiving.deliver(app, mail)
    return rules.local_outcome(decision, attempt)


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_HEAD)


async def page(app: App, page_request: PageRequest) -> tuple[Page[SandboxMessage], list[str]]:
    """A page of messages, and the subject of each."""
    async with app.db.autocommit() as conn:
        result = await store.page(conn, page_request)
    paths = [content_path(app.data_dir, row.id) for row in result.rows]
    return result, await asyncio.to_thread(lambda: list(map(_read_subject, paths)))


def _read_subject(path: Path) -> str:
    """The subject, from the first bytes of the file; empty if the file was deleted."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return parse_head(file.read(_SUBJECT_HEAD)).subject
    return ""


async def open_content(app: App, sandbox_id: UUID) -> MessageContent:
    """A message as it would have been sent, with signatures. NOT_FOUND."""
    async with app.db.autocommit() as conn:
        exists = await store.filter_existing(conn, [sandbox_id])
    path = content_path(app.data_dir, sandbox_id)
    try:
        file = path.open("rb", buffering=0) if exists else None
    except FileNotFoundError:
        file = None
    if file is None:
        raise NotFound
    return MessageContent(sandbox_id, os.fstat(file.fileno()).st_size, file)


async def clear(app: App, who: Principal) -> int:
    """Delete all messages without waiting recipients; returns how many."""
    async with app.db.tx() as conn:
        removed = await store.clear(conn, app.clock())
        audit_action = AuditAction("sandbox.clear", AuditTarget("sandbox", None), details={"removed": len(removed)})
        await audit.record(conn, who, app.clock(), audit_action)
    for sandbox_id in removed:
        await asyncio.to_thread(content_file.remove, content_path(app.data_dir, sandbox_id))
    return len(removed)


def _list_contents(data_dir: Path, before: float) -> set[UUID]:
    """The IDs of messages whose files were written before a Unix time."""
    paths = (data_dir / "sandbox").glob("*/*.eml")
    return {UUID(path.stem) for path in paths if path.stat().st_mtime < before}


async def prune(app: App, before: datetime) -> int:
    """Delete messages received until `before` without waiting recipients, and files whose message was never queued;
    returns how many.
    """
    orphaned_before = (app.clock() - _ORPHAN_AGE).timestamp()
    old = await asyncio.to_thread(_list_contents, app.data_dir, orphaned_before)
    async with app.db.tx() as conn:
        orphans = old - await store.filter_existing(conn, old)
        removed = [*orphans, *await store.clear(conn, before)]
    for sandbox_id in removed:
        await asyncio.to_thread(content_file.remove, content_path(app.data_dir, sandbox_id))
    return len(removed)
