"""Decides about messages that API keys submit, at their end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import parse_address
from mailkeep.core.errors import Refusal, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal, allow
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.delivery_status.model import SubmissionEnvelope
from mailkeep.features.mailflow.key_senders import service as key_senders
from mailkeep.features.mailflow.key_senders.rules import KEY_ENDED
from mailkeep.features.mailflow.key_submission import rules
from mailkeep.features.mailflow.key_submission.model import CheckedSubmission, SubmissionRefused
from mailkeep.features.mailflow.sending import recipients as send_recipients, rules as send_rules, service as sending
from mailkeep.features.mailflow.sending.writes import api_attempt
from mailkeep.features.record.messages import content
from mailkeep.features.record.messages.model import HeaderSummary, Message
from mailkeep.mail.message.header_fields import parse_head
from mailkeep.mail.message.submission_fields import SubmissionFieldError, SubmissionFields, read_submission_fields
from mailkeep.mail.milter import protocol
from mailkeep.mail.milter.protocol import Changes
from mailkeep.mail.milter.server import FilteredMessage, Verdict
from mailkeep.mail.postfix.submission_login import parse_key_login
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.key_submission")


async def decide(app: App, submitted: FilteredMessage) -> Verdict:
    """The verdict on a message at its end; a temporary failure if the database is not available, or on an error."""
    try:
        return await _decide(app, submitted)
    except SubmissionRefused as refused:
        reply = refused.reply
    except Unavailable:
        log.warning("a message is deferred: the database is not available", queue_id=submitted.queue_id)
        reply = rules.UNAVAILABLE
    except Refusal as refusal:
        reply = key_senders.refusal_reply(refusal)
    except Exception:
        log.exception("a message is deferred", queue_id=submitted.queue_id)
        reply = rules.UNAVAILABLE
    return Verdict(protocol.reply(reply.code, reply.enhanced, reply.text))


async def _decide(app: App, submitted: FilteredMessage) -> Verdict:
    key_id = parse_key_login(submitted.login)
    if key_id is None or not submitted.queue_id:
        raise SubmissionRefused(rules.UNAVAILABLE)
    try:
        fields = read_submission_fields(submitted.fields)
    except SubmissionFieldError as error:
        raise SubmissionRefused(SmtpReply(550, "5.6.0", str(error))) from None
    who = await key_senders.find_caller(app, key_id, submitted.client)
    if who is None:
        raise SubmissionRefused(KEY_ENDED)
    allow(who, "send")
    digest = submitted.digest.digest()
    if (key := fields.idempotency_key) and (earlier := await delivery_status.find_claim(app, key_id, key, digest)):
        return await _answer_repetition(app, submitted, earlier)
    at = app.clock()
    message_id = uuid7(at)
    checked = await _check(app, who, submitted, fields, message_id)
    submitted_to = [parse_address(each) for each in checked.recipients]
    mail_from = send_recipients.envelope_sender(app, message_id, checked.author, submitted_to)
    message = rules.build_message(who, at, message_id, checked, mail_from)
    failpoint.reach("submission.before_claim")
    begun = await delivery_status.begin_submission(
        app, who, _envelope(submitted, message, key, digest), api_attempt(message).charge
    )
    if isinstance(begun, Refusal):
        raise begun
    if begun != "counted":
        return await _answer_repetition(app, submitted, begun)
    failpoint.reach("submission.claimed")
    if submitted.content is not None:
        head = "".join(f"{name}: {value}\r\n" for name, value in checked.added).encode()
        await asyncio.to_thread(content.save_contents, app.data_dir, [(message.id, _chunks(head, submitted))])
    failpoint.reach("submission.content_saved")
    app.counters.add("submissions", "accepted")
    return Verdict(changes=Changes(mail_from, checked.removed, submitted.numbers, checked.added))


def _chunks(head: bytes, submitted: FilteredMessage) -> Iterator[bytes]:
    assert submitted.content is not None
    if head:
        yield head
    yield from submitted.content.chunks()


async def _answer_repetition(app: App, submitted: FilteredMessage, begun: str) -> Verdict:
    """The verdict on a message whose Idempotency-Key is claimed."""
    app.counters.add("submissions", begun)
    if begun == "mismatch":
        raise SubmissionRefused(rules.MISMATCH)
    if begun != "replayed":
        raise SubmissionRefused(rules.PENDING)
    # The policy service has counted the external copies. Of a refused message the log reader uncounts them.
    async with app.db.autocommit() as conn:
        await abuse.uncount_forwards(conn, [submitted.queue_id])
    return Verdict(protocol.DISCARD)


async def _check(
    app: App, who: Principal, submitted: FilteredMessage, fields: SubmissionFields, message_id: UUID
) -> CheckedSubmission:
    """Check author and recipients. Refusals of `POST /send`."""
    author, sender = await asyncio.to_thread(rules.read_author, submitted.head)
    header = await asyncio.to_thread(parse_head, submitted.head)
    parsed = rules.parse_recipients(submitted.recipients)
    by_key = {each.key: each for each in parsed.values()}
    # The policy service has checked the envelope sender.
    if sender is not None:
        await key_senders.check_senders(app, who, [sender])
    domains = await sending.refuse_senders(app, who, [author], by_key.keys())
    domain = send_rules.domain_may_send(domains.get(author.key))
    remaining, suppressed = send_recipients.split_suppressed(list(by_key.values()), domain, None)
    keys = by_key.keys() - {each.key for each in remaining}
    removed = [text for text, address in parsed.items() if address.key in keys]
    recipients = [each for each in dict.fromkeys(submitted.recipients) if each not in removed]
    return CheckedSubmission(
        author,
        domain,
        HeaderSummary(
            header.message_id or f"<{message_id}@{author.domain}>",
            author.text,
            header.to_addresses or ([] if header.cc_addresses else recipients),
            header.cc_addresses,
            header.subject,
            submitted.content.size if submitted.content else 0,
        ),
        recipients,
        suppressed,
        removed,
        fields.tags,
        rules.missing_fields(header, app.clock(), message_id, author.domain),
    )


def _envelope(submitted: FilteredMessage, message: Message, key: str | None, digest: bytes) -> SubmissionEnvelope:
    return SubmissionEnvelope(
        submitted.queue_id,
        submitted.login,
        message.mail_from,
        [each.address for each in message.recipients if each.suppression is None],
        submitted.client,
        message.created_at,
        message,
        key,
        digest if key else None,
    )
