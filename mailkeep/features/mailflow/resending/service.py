"""Send messages again, and retry deliveries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import parse_address
from mailkeep.core.errors import Conflict, Refusal, SendUnavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.features.mailflow.resending import rules
from mailkeep.features.mailflow.sandbox import service as sandbox
from mailkeep.features.mailflow.sending import recipients, rules as sending_rules, service as sending, writes
from mailkeep.features.mailflow.sending.model import SenderDomain
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history import service as history
from mailkeep.features.record.messages import content as content_files
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message.header_fields import MAX_HEAD
from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope

_CHUNK = 256 << 10
_AUDITED = 50  # recipients in an audit entry


@dataclass(frozen=True, slots=True)
class _NewContent:
    """The content of a message that is sent again: its header, and its body in a file, from `start` on."""

    head: bytes
    file: BufferedReader
    start: int
    size: int
    is_8bit: bool

    def chunks(self) -> Iterator[bytes]:
        """The message; may be iterated again."""
        yield self.head
        self.file.seek(self.start)
        while chunk := self.file.read(_CHUNK):
            yield chunk


async def resend(app: App, who: Principal, message_id: UUID) -> UUID:
    """Send a message again to its undelivered recipients; returns the ID of the new message.

    NOT_FOUND, FORBIDDEN; CONFLICT `not_outbound`, `still_open`, `nothing_undelivered`, `malformed_address`,
    `content_gone`; and the refusals of a send.
    """
    async with app.db.autocommit() as conn:
        original = await history.get(conn, who, message_id, "message.resend")
    sender, undelivered = rules.parse_addresses(original, rules.list_undelivered(original))
    domains = await sending.refuse_senders(app, who, [sender], [each.key for each in undelivered])
    domain = sending_rules.domain_may_send(domains.get(sender.key))
    at = app.clock()
    new_id = uuid7(at)
    header_id = f"<{new_id}@{sender.domain}>"
    path = content_files.content_path(app.data_dir, original.id, original.submitted_at)
    content = await asyncio.to_thread(_open, path, lambda head: rules.rewrite_head(head, header_id, at))
    if content is None:
        raise rules.content_gone()
    with content.file:
        sending_rules.refuse_too_large(content.size, app.settings.limits.message_size_bytes)
        envelope, suppressed = recipients.split_suppressed(undelivered, domain, original.unsubscribe_group_id)
        if app.mta is None:
            raise SendUnavailable
        mail_from = recipients.envelope_sender(app, new_id, sender, envelope)
        header = HeaderSummary(
            header_id, sender.text, original.to_addresses, original.cc_addresses, original.subject, content.size
        )
        row = outbound_message(
            at, "api", MessageDomain(domain.id, domain.name), header, mail_from, [each.text for each in envelope]
        )
        row = replace(
            row,
            recipients=[*row.recipients, *suppressed],
            id=new_id,
            admin_id=who.admin_id,
            api_key_id=who.key_id,
            tags=original.tags,
            metadata=original.metadata,
            template_id=original.template_id,
            template_version=original.template_version,
            unsubscribe_group_id=original.unsubscribe_group_id,
            request_id=who.request_id,
            batch_index=0,
        )
        await _send(app, who, domain, row, content)
    return new_id


async def _send(app: App, who: Principal, domain: SenderDomain, row: Message, content: _NewContent) -> None:
    attempt = writes.api_attempt(row)
    submitted = [each.address for each in row.recipients if each.suppression is None]
    await _charge_forwards(app, row, submitted)
    refused = await writes.begin(app, who, row.created_at, [attempt])
    if refused:
        async with app.db.autocommit() as conn:
            await abuse.uncount_forwards(conn, [str(row.id)])
        raise refused[row.id]
    needs_utf8 = not (content.head + row.mail_from.encode() + "".join(submitted).encode()).isascii()
    envelope = OutgoingEnvelope(row.mail_from, submitted, content.size, content.is_8bit, needs_utf8)
    result = await sending.submit(app, domain.name if domain.has_relay else None, envelope, content.chunks())
    if isinstance(result, AcceptedSubmission) and app.settings.mta.mode != "sandbox":  # which stores it itself
        await asyncio.to_thread(content_files.save_contents, app.data_dir, [(row.id, content.chunks())])
    await writes.record_results(app, who, [(attempt, result)])
    outcome = sending.outcome(app, row, result)
    if isinstance(outcome, Refusal):
        raise outcome


async def _charge_forwards(app: App, row: Message, submitted: Sequence[str]) -> None:
    """Count the external copies of aliases and forwards, as for any send."""
    addresses = [parse_address(each) for each in submitted]
    async with app.db.autocommit() as conn:
        copies = await abuse.external_copies(conn, addresses)
    limit = app.settings.limits.external_expansion
    if over_limit := abuse.find_over_limit(copies, limit):
        text = f"{over_limit.address} forwards the message to more than {limit} external recipients."
        raise Conflict(text, reason="expansion_limit")
    if copies and (
        refusal := await abuse.charge_forwards(app, row.created_at, str(row.id), abuse.copies_by_domain(copies))
    ):
        raise refusal


def _open(path: Path, rewrite: Callable[[bytes], tuple[bytes, int]]) -> _NewContent | None:
    """Open the content of a message and rewrite its header; None if it is not kept. Blocks."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    try:
        head, start = rewrite(file.read(MAX_HEAD))
        file.seek(start)
        size, is_8bit = len(head), not head.isascii()
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            is_8bit = is_8bit or not chunk.isascii()
    except BaseException:
        file.close()
        raise
    return _NewContent(head, file, start, size, is_8bit)


async def retry(app: App, who: Principal, message_id: UUID) -> Message:
    """Attempt the deferred deliveries of a message now. NOT_FOUND, FORBIDDEN, CONFLICT `not_deferred`, UNAVAILABLE."""
    async with app.db.autocommit() as conn:
        message = await history.get(conn, who, message_id, "message.retry")
    deferred = rules.list_deferred(message)
    assert message.queue_id is not None
    if app.settings.is_full_profile:
        await queue.flush(app, [message.queue_id])
    async with app.db.tx() as conn:
        if not app.settings.is_full_profile:
            await sandbox.retry(conn, message.queue_id, app.clock())
        target = AuditTarget("message", message.id, message.domain_id, message.domain_name)
        details = {"recipients": deferred[:_AUDITED]}
        await audit.record(conn, who, app.clock(), AuditAction("message.retry", target, details=details))
        return await history.get(conn, who, message_id, "message.retry")
