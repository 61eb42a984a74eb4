"""Log in with an API key, and accept the messages of such sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import InvalidRecipient, Refusal, Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.sign_in_protection import service as sign_ins
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.key_senders import service as key_senders
from mailkeep.features.mailflow.key_senders.rules import KEY_ENDED, NO_SENDER
from mailkeep.features.mailflow.key_submission import rules as submission_rules
from mailkeep.features.mailflow.key_submission.model import CheckedSubmission, SubmissionRefused
from mailkeep.features.mailflow.sending import (
    recipients as send_recipients,
    rules as send_rules,
    service as sending,
    writes,
)
from mailkeep.features.mailflow.smtp_submission import rules, store
from mailkeep.features.mailflow.smtp_submission.model import Claim, SubmittedMail
from mailkeep.features.record.messages import content as content_files, service as messages
from mailkeep.features.record.messages.model import HeaderSummary
from mailkeep.mail.message.header_fields import MAX_HEAD, MessageHeader, head_end, parse_head
from mailkeep.mail.message.submission_fields import SubmissionFieldError, SubmissionFields, read_submission_fields
from mailkeep.mail.postfix.submission_login import KEY_USER
from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.smtp_submission")


async def log_in(app: App, user: str, password: str, client: str) -> UUID | None:
    """The key that a client presents as the password of the user `apikey`; None if it opens no session, after a delay
    that grows with the failures from the client's address. A valid key is neither counted nor delayed.
    """
    if user.lower() == KEY_USER:
        async with app.db.autocommit() as conn:
            key_id = await api_keys.find_for_submission(conn, password, client, app.clock())
        if key_id is not None:
            app.counters.add("logins", "smtp", "success")
            return key_id
    async with app.db.tx() as conn:
        attempt = sign_ins.new_key_attempt(app.vault, client, f"{user}\0{password}")
        decision = await sign_ins.begin(conn, attempt, app.clock())
    app.counters.add("logins", "smtp", "failed")
    await asyncio.sleep(decision.delay)
    return None


async def filter_valid(app: App, key_ids: Collection[UUID]) -> set[UUID]:
    """Which of these keys are still valid."""
    async with app.db.autocommit() as conn:
        return await api_keys.filter_valid(conn, key_ids, app.clock())


async def check_sender(app: App, key_id: UUID, client: str, mail_from: str) -> SmtpReply | None:
    """The reply if the key may not send from this envelope sender."""
    try:
        who = await key_senders.find_caller(app, key_id, client)
        if who is None:
            return KEY_ENDED
        await key_senders.check_senders(app, who, [_parse_sender(mail_from)])
    except SubmissionRefused as refused:
        return refused.reply
    except Unavailable:
        raise
    except Refusal as refusal:
        return key_senders.refusal_reply(refusal)
    return None


def check_recipient(address: str) -> SmtpReply | None:
    """The reply if a recipient is not an address as the API takes it."""
    try:
        parse_address(address, min_labels=2)
    except AddressError:
        return submission_rules.BAD_RECIPIENT
    return None


class Submissions:
    """Accepts messages. Knows which are being submitted, to judge the claims of Idempotency-Keys."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._running: set[UUID] = set()

    async def accept(self, mail: SubmittedMail) -> SmtpReply:
        """Send a message; the reply is positive only if the server for outbound mail has accepted it, now or before."""
        message_id = uuid7(self._app.clock())
        self._running.add(message_id)
        try:
            return await self._accept(mail, message_id)
        except SubmissionRefused as refused:
            return refused.reply
        except Refusal as refusal:
            return key_senders.refusal_reply(refusal)
        finally:
            self._running.discard(message_id)

    async def _accept(self, mail: SubmittedMail, message_id: UUID) -> SmtpReply:
        app = self._app
        if app.mta is None:
            return rules.NOT_CONFIGURED
        who = await key_senders.find_caller(app, mail.key_id, mail.client, count=True)
        if who is None:
            return KEY_ENDED
        await key_senders.check_senders(app, who, [_parse_sender(mail.mail_from)])
        header, fields = await asyncio.to_thread(_read_header, mail)
        if fields.idempotency_key is not None:
            digest = await asyncio.to_thread(rules.digest_of, mail)
            claim = Claim(message_id, digest, app.clock())
            if (reply := await self._claim(mail.key_id, fields.idempotency_key, claim)) is not None:
                return reply
            failpoint.reach("smtp_submission.claimed")
        checked = await _check(app, who, mail, header, fields, message_id)
        return await _send(app, who, mail, checked, message_id)

    async def _claim(self, key_id: UUID, key: str, claim: Claim) -> SmtpReply | None:
        """Claim an Idempotency-Key; returns the reply if another message has it."""
        async with self._app.db.tx() as conn:
            if await store.insert(conn, key_id, key, claim):
                return None
            earlier = await store.lock(conn, key_id, key)
            if earlier is None:  # it was deleted just now
                return submission_rules.PENDING
            message, is_running = await messages.find(conn, earlier.message_id), earlier.message_id in self._running
            reply = rules.judge_claim(earlier, message, running=is_running, digest=claim.digest, at=claim.claimed_at)
            if reply is None:
                await store.replace(conn, key_id, key, claim)
            return reply


def _parse_sender(mail_from: str) -> Address:
    try:
        return parse_address(mail_from)
    except AddressError:
        raise SubmissionRefused(NO_SENDER) from None


def _read_header(mail: SubmittedMail) -> tuple[MessageHeader, SubmissionFields]:
    head = mail.content.head(MAX_HEAD + 4)
    if head_end(head) is None:
        raise SubmissionRefused(submission_rules.HEADER_TOO_LARGE)
    header = parse_head(head)
    if header.hops > rules.MAX_HOPS:
        raise SubmissionRefused(rules.TOO_MANY_HOPS)
    try:
        return header, read_submission_fields((field.name, field.value) for field in header.fields)
    except SubmissionFieldError as error:
        raise SubmissionRefused(SmtpReply(550, "5.6.0", str(error))) from None


async def _check(
    app: App, who: Principal, mail: SubmittedMail, header: MessageHeader, fields: SubmissionFields, message_id: UUID
) -> CheckedSubmission:
    author, sender = submission_rules.read_author(await asyncio.to_thread(_head_of, mail))
    parsed = submission_rules.parse_recipients(mail.recipients)
    by_key = {each.key: each for each in parsed.values()}
    if sender is not None:
        await key_senders.check_senders(app, who, [sender])
    domains = await sending.refuse_senders(app, who, [author], by_key.keys())
    domain = send_rules.domain_may_send(domains.get(author.key))
    added = submission_rules.missing_fields(header, app.clock(), message_id, author.domain)
    size = await asyncio.to_thread(lambda: sum(map(len, rules.sent_chunks(mail, added))))
    send_rules.refuse_too_large(size, app.settings.limits.message_size_bytes)
    remaining, suppressed = send_recipients.split_suppressed(list(by_key.values()), domain, None)
    return CheckedSubmission(
        author,
        domain,
        HeaderSummary(
            header.message_id or f"<{message_id}@{author.domain}>",
            author.text,
            header.to_addresses or ([] if header.cc_addresses else [each.text for each in remaining]),
            header.cc_addresses,
            header.subject,
            size,
        ),
        [each.text for each in remaining],
        suppressed,
        (),
        fields.tags,
        added,
    )


async def _send(
    app: App, who: Principal, mail: SubmittedMail, checked: CheckedSubmission, message_id: UUID
) -> SmtpReply:
    at = app.clock()
    envelope = [parse_address(each) for each in checked.recipients]
    mail_from = send_recipients.envelope_sender(app, message_id, checked.author, envelope)
    attempt = writes.api_attempt(submission_rules.build_message(who, at, message_id, checked, mail_from))
    await _charge_forwards(app, message_id, envelope)
    refusals = await writes.begin(app, who, at, [attempt])
    if refusals:
        async with app.db.autocommit() as conn:
            await abuse.uncount_forwards(conn, [str(message_id)])
        raise refusals[message_id]
    failpoint.reach("smtp_submission.attempt_written")
    is_8bit, has_utf8_head = await asyncio.to_thread(_inspect, mail)
    needs_utf8 = has_utf8_head or not "".join([mail_from, *checked.recipients]).isascii()
    outgoing = OutgoingEnvelope(mail_from, checked.recipients, None, is_8bit, needs_utf8)
    result = await sending.submit(app, checked.domain.name, outgoing, rules.sent_chunks(mail, checked.added))
    failpoint.reach("smtp_submission.submitted")
    if isinstance(result, AcceptedSubmission) and app.settings.mta.mode != "sandbox":  # which stores signed content
        contents = [(message_id, rules.sent_chunks(mail, checked.added))]
        await asyncio.to_thread(content_files.save_contents, app.data_dir, contents)
    with contextlib.suppress(Unavailable):  # the reply is the server's; recording it is retried
        await writes.record_results(app, who, [(attempt, result)])
    failpoint.reach("smtp_submission.recorded")
    if isinstance(result, AcceptedSubmission):
        return SmtpReply(250, "2.0.0", f"Ok: queued as {message_id}")
    return rules.failure_reply(result)


def _inspect(mail: SubmittedMail) -> tuple[bool, bool]:
    """Whether the content has 8-bit characters, and whether its header has."""
    return not all(chunk.isascii() for chunk in mail.content.chunks()), not _head_of(mail).isascii()


def _head_of(mail: SubmittedMail) -> bytes:
    head = mail.content.head(MAX_HEAD + 4)
    return head[: head_end(head)]


async def _charge_forwards(app: App, message_id: UUID, envelope: Sequence[Address]) -> None:
    """Count the external copies of aliases and forwards, as for messages of the API."""
    async with app.db.autocommit() as conn:
        copies = await abuse.external_copies(conn, envelope)
    limit = app.settings.limits.external_expansion
    if recipient := abuse.find_over_limit(copies, limit):
        text = f"{recipient.address} forwards the message to more than {limit} external recipients."
        raise InvalidRecipient(text, reason="expansion_limit")
    if copies:
        refusal = await abuse.charge_forwards(app, app.clock(), str(message_id), abuse.copies_by_domain(copies))
        if refusal is not None:
            raise refusal
