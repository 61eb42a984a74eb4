"""Sends messages: check, record the attempt, submit, record the result."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import Address
from mailkeep.core.errors import IdempotencyInProgress, Refusal, SendUnavailable
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal, allow_on
from mailkeep.features.directory.relays import service as relays
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.sending import recipients, rules, store, writes
from mailkeep.features.mailflow.sending.model import (
    AcceptedMessage,
    PreparedMessage,
    SenderDomain,
    SenderLookup,
    SendRequest,
    SubmissionResult,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.messages import content, service as messages
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message.compose import compose
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope, SmtpRefusal
from mailkeep.mail.smtp.pool import SmtpPool

log = structlog.get_logger("mailkeep.sending")

_RESTART_SECONDS, _RETRY_SECONDS = 10.0, 0.2
_SMALL = 64 << 10  # bytes of a message whose content is saved in a batch with others

SendOutcome = AcceptedMessage | Refusal

log_read_at = store.log_read_at

_SENT = IdempotencyInProgress()  # stands for a message of a batch that is already sent


@dataclass(slots=True)
class _RestartWait:
    """Bounds how long a request waits for a restart of Postfix: ten seconds from the first failure on."""

    ends_at: float = math.inf

    async def wait(self) -> bool:
        """Wait a moment; False if the time is over."""
        now = monotonic()
        self.ends_at = min(self.ends_at, now + _RESTART_SECONDS)
        if now >= self.ends_at:
            return False
        await asyncio.sleep(_RETRY_SECONDS)
        return True


async def send(app: App, who: Principal, request: SendRequest) -> AcceptedMessage:
    """Send one message; raises the refusal if it is not accepted."""
    outcome = (await send_all(app, who, [request]))[0]
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


async def send_batch(app: App, who: Principal, requests: Sequence[SendRequest | Refusal]) -> list[SendOutcome]:
    """`send_all`, with an audit entry also if none is accepted."""
    outcomes = await send_all(app, who, requests)
    refused = [each for each in outcomes if isinstance(each, Refusal)]
    if len(refused) == len(outcomes):
        async with app.db.tx() as conn:
            await audit.record(conn, who, app.clock(), _failed_batch_action(refused))
    return outcomes


def _failed_batch_action(refused: Sequence[Refusal]) -> AuditAction:
    """The audit action of a batch without an accepted message: denied if all messages were refused for missing rights.
    Its error code is that of the first.
    """
    details = {"messages": len(refused), "succeeded": 0, "codes": sorted({each.code for each in refused})}
    denied = all(each.status == 403 for each in refused)
    outcome = "denied" if denied else "failed"
    return AuditAction(
        "message.send", AuditTarget("message", None), details=details, outcome=outcome, error_code=refused[0].code
    )


async def send_all(app: App, who: Principal, requests: Sequence[SendRequest | Refusal]) -> list[SendOutcome]:
    """Send messages and return the outcome of each, in order. A refusal in `requests` is its own outcome.

    A refusal of a whole group (UNAVAILABLE) is raised for the first group; later it is the outcome of all that remain.
    """
    outcomes: list[SendOutcome] = []
    restart_wait = _RestartWait()
    for group in rules.split_batch(requests):
        try:
            outcomes += await _send_group(app, who, group, len(outcomes), restart_wait)
        except Refusal as refusal:
            if not outcomes:
                raise
            outcomes += [each if isinstance(each, Refusal) else refusal for each in requests[len(outcomes) :]]
            break
    return outcomes


async def _send_group(
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], first: int, restart_wait: _RestartWait
) -> list[SendOutcome]:
    """Send one group of a batch; `first` is the index of its first message in the batch."""
    at = app.clock()
    prepared, charged = await _charge_forwards(app, at, *await _prepare_all(app, who, requests))
    attempts = {
        each.id: writes.api_attempt(_build_message(who, each, at, first + index))
        for index, each in enumerate(prepared)
        if isinstance(each, PreparedMessage)
    }
    if attempts:
        failpoint.reach("send.before_attempt")
        begin = writes.begin if app.mta else writes.check_limits
        refused = await begin(app, who, at, list(attempts.values()))
        prepared = [each if isinstance(each, Refusal) else refused.get(each.id, each) for each in prepared]
    ready = [each for each in prepared if isinstance(each, PreparedMessage)]
    if charged:
        await _uncount_forwards(app, charged - {each.id for each in ready})
    if not ready:
        return [each for each in prepared if isinstance(each, Refusal)]
    if app.mta is None:
        raise SendUnavailable
    failpoint.reach("send.attempt_written")
    submitted = await _submit_batch(app, app.mta, ready, restart_wait)
    results = dict(zip((each.id for each in ready), submitted, strict=True))
    recording = writes.record_results(
        app, who, [(attempts[message_id], result) for message_id, result in results.items()]
    )
    accepted = [each for each in ready if isinstance(results[each.id], AcceptedSubmission)]
    await asyncio.gather(_save_contents(app, accepted), recording)
    failpoint.reach("send.committed")
    return [
        each if isinstance(each, Refusal) else _outcome(app, attempts[each.id].message, results[each.id])
        for each in prepared
    ]


async def find_sent(app: App, request_id: UUID) -> dict[int, AcceptedMessage]:
    """The accepted messages of an interrupted request, by their index in it. IDEMPOTENCY_IN_PROGRESS while a result is
    not known. The other messages were certainly not accepted and may be sent again.
    """
    async with app.db.autocommit() as conn:
        attempts = await messages.find_by_request(conn, request_id)
    if any(message.status in ("submitting", "unknown") for message in attempts):
        raise IdempotencyInProgress
    return {
        message.batch_index or 0: AcceptedMessage(
            message.id, message.message_id, message.status, [(each.address, each.status) for each in message.recipients]
        )
        for message in attempts
        if message.accepted_at is not None
    }


async def resume_batch(
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], accepted: Mapping[int, AcceptedMessage]
) -> list[SendOutcome]:
    """Send the messages of a batch except the `accepted` ones (by index); returns the outcome of each, in order."""
    outcomes = await send_all(app, who, [_SENT if index in accepted else each for index, each in enumerate(requests)])
    return [accepted.get(index, outcome) for index, outcome in enumerate(outcomes)]


async def _save_contents(app: App, accepted: Sequence[PreparedMessage]) -> None:
    if not accepted or app.settings.mta.mode == "sandbox":  # the sandbox stores the signed content
        return
    if len(accepted) == 1 and accepted[0].composed.size <= _SMALL:
        await app.write_in_batch(_write_contents, accepted[0])
    else:
        await _write_contents(app, accepted)


async def _write_contents(app: App, accepted: Sequence[PreparedMessage]) -> list[None]:
    contents = [(each.id, each.composed.chunks()) for each in accepted]
    await asyncio.to_thread(content.save_contents, app.data_dir, contents)
    return [None] * len(accepted)


async def _charge_forwards(
    app: App, at: datetime, prepared: list[PreparedMessage | Refusal], managed: Collection[str]
) -> tuple[list[PreparedMessage | Refusal], set[UUID]]:
    """Count external copies of aliases and forwards; returns the messages or refusals, and the IDs of those counted.

    `managed`: the managed domains among the recipients' domains as the request writes them. It lacks IDNs written in
    Unicode, so domains with an A-label are always looked up.
    """
    limit = app.settings.limits.external_expansion
    charged: set[UUID] = set()
    for index, each in enumerate(prepared):
        if isinstance(each, Refusal) or not any(to.domain in managed or "xn--" in to.domain for to in each.envelope):
            continue
        async with app.db.autocommit() as conn:
            copies = await abuse.external_copies(conn, each.envelope)
        if over_limit := abuse.find_over_limit(copies, limit):
            prepared[index] = rules.expansion_refusal(over_limit, each.request, limit)
        elif copies:
            refusal = await abuse.charge_forwards(app, at, str(each.id), abuse.copies_by_domain(copies))
            prepared[index] = refusal or each
            charged |= {each.id} if refusal is None else set()
    return prepared, charged


async def _uncount_forwards(app: App, ids: Collection[UUID]) -> None:
    async with app.db.autocommit() as conn:
        await abuse.uncount_forwards(conn, [str(each) for each in ids])


async def _prepare_all(
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal]
) -> tuple[list[PreparedMessage | Refusal], Collection[str]]:
    """The checked messages, and the managed domains among those of their senders and recipients."""
    domains = await app.write_in_batch(_sender_domains, recipients.build_lookup(requests))
    at, limit = app.clock(), app.settings.limits.message_size_bytes

    def prepare() -> list[PreparedMessage | Refusal]:
        return [
            each if isinstance(each, Refusal) else _prepare(app, who, each, domains, at, limit) for each in requests
        ]

    if not rules.is_heavy(each for each in requests if isinstance(each, SendRequest)):
        return prepare(), domains.keys()
    async with app.cpu_limit:
        return await asyncio.to_thread(prepare), domains.keys()


async def _sender_domains(app: App, lookups: Sequence[SenderLookup]) -> list[dict[str, SenderDomain]]:
    async with app.db.autocommit() as conn:
        domains = await store.sender_domains(conn, recipients.merge(lookups))
    return [domains] * len(lookups)


async def refuse_senders(app: App, who: Principal, senders: Collection[Address]) -> None:
    """Check the rights to senders whose domains are managed: FORBIDDEN by role, or for the address of a higher-ranked
    administrator; API_KEY_DOMAIN_SCOPE.
    """
    domains = await app.write_in_batch(_sender_domains, SenderLookup({each.key for each in senders}, (), ()))
    for domain in domains.values():
        allow_on(who, "send", domain.id)
        rules.refuse_lower_rank(who, domain.owner_rank)


def _prepare(
    app: App, who: Principal, request: SendRequest, domains: dict[str, SenderDomain], at: datetime, limit: int
) -> PreparedMessage | Refusal:
    try:
        sender = rules.parse_sender(request)
        domain = rules.domain_may_send(domains.get(sender.address.key))
        allow_on(who, "send", domain.id)
        rules.refuse_lower_rank(who, domain.owner_rank)
        to = rules.parse_recipients("to", request.to)
        cc = rules.parse_recipients("cc", request.cc)
        bcc = rules.parse_recipients("bcc", request.bcc)
        message_id = uuid7(at)
        outgoing = rules.outgoing(message_id, at, request, sender, (to, cc, bcc))
        envelope = rules.envelope([*to, *cc, *bcc])
        outgoing = recipients.with_unsubscribe_link(app, message_id, outgoing, request, domain)
        composed = compose(outgoing)
        rules.refuse_too_large(composed.counted_size, limit)
        envelope, suppressed = recipients.split_suppressed(envelope, domain, request.unsubscribe_group)
    except Refusal as refusal:
        return refusal
    mail_from = recipients.envelope_sender(app, message_id, sender.address, envelope)
    return PreparedMessage(message_id, sender, domain, envelope, outgoing, composed, request, mail_from, suppressed)


def _build_message(who: Principal, prepared: PreparedMessage, at: datetime, index: int) -> Message:
    outgoing = prepared.outgoing
    sender = prepared.sender.address.text
    header = HeaderSummary(
        outgoing.message_id,
        sender,
        [mailbox.address.text for mailbox in outgoing.to],
        [mailbox.address.text for mailbox in outgoing.cc],
        outgoing.subject,
        prepared.composed.size,
    )
    domain = MessageDomain(prepared.domain.id, prepared.domain.name)
    message = outbound_message(
        at, "api", domain, header, prepared.mail_from, [address.text for address in prepared.envelope]
    )
    return replace(
        message,
        recipients=[*message.recipients, *prepared.suppressed],
        id=prepared.id,
        admin_id=who.admin_id,
        api_key_id=who.key_id,
        tags=list(prepared.request.tags),
        metadata=prepared.request.metadata,
        request_id=who.request_id,
        batch_index=index,
    )


async def _submit_batch(
    app: App, mta: SmtpPool, ready: Sequence[PreparedMessage], restart_wait: _RestartWait
) -> list[SubmissionResult]:
    """Submit in parallel. After consecutive failures of the MTA, one for each connection, the rest is not tried."""
    connections = asyncio.Semaphore(mta.size)
    failures = 0

    async def submit_next(prepared: PreparedMessage) -> SubmissionResult:
        nonlocal failures
        async with connections:
            if failures >= mta.size:
                return ConnectionLost("the mail transfer agent failed for earlier messages of the batch", "connect")
            result = await _submit(app, mta, prepared, restart_wait)
            failures = failures + 1 if rules.is_mta_failure(result) else 0
            return result

    return await asyncio.gather(*(submit_next(each) for each in ready))


async def _submit(app: App, mta: SmtpPool, prepared: PreparedMessage, restart_wait: _RestartWait) -> SubmissionResult:
    composed = prepared.composed
    submission = OutgoingEnvelope(
        mail_from=prepared.mail_from,
        rcpt_to=[address.text for address in prepared.envelope],
        size=composed.size,
        eight_bit=composed.is_8bit,
        smtputf8=composed.needs_smtputf8,
    )
    domain = prepared.domain.name if prepared.domain.has_relay else None
    try:
        return await _submit_with_retries(app, mta, domain, submission, (composed.data_chunks(), True), restart_wait)
    except Exception:
        # Other messages of the batch are being submitted: their results must still be recorded.
        log.exception("a message could not be submitted", message_id=str(prepared.id))
        return ConnectionLost("the message could not be written to the connection", "envelope")


async def submit(app: App, domain: str | None, submission: OutgoingEnvelope, body: Iterable[bytes]) -> SubmissionResult:
    """Submit a message that another feature has checked and recorded; `domain` is the sender's, if it is managed."""
    if app.mta is None:
        return ConnectionLost("sending is not configured (setting mta.mode)", "connect")
    return await _submit_with_retries(app, app.mta, domain, submission, (body, False), _RestartWait())


async def _submit_with_retries(
    app: App,
    mta: SmtpPool,
    domain: str | None,
    submission: OutgoingEnvelope,
    content: tuple[Iterable[bytes], bool],
    restart_wait: _RestartWait,
) -> SubmissionResult:
    """Submit, again and again while Postfix restarts; not after content was sent. `content` is as for `_submit_to`."""
    while True:
        result = await _submit_to(app, mta, domain, submission, content)
        if isinstance(result, AcceptedSubmission) or not rules.may_pass_with_a_restart(result):
            return result
        if app.mta_restarts is None or not app.mta_restarts() or not await restart_wait.wait():
            return result


async def _submit_to(
    app: App, mta: SmtpPool, domain: str | None, submission: OutgoingEnvelope, content: tuple[Iterable[bytes], bool]
) -> SubmissionResult:
    """Submit by the domain's relay in mode `smtp` (in the full profile Postfix chooses it). `content`: the chunks, and
    whether they are dot-stuffed.
    """
    body, stuffed = content
    try:
        if app.settings.mta.mode == "smtp" and domain and (relay := await relays.find_domain_relay(app, domain)):
            return await relays.submit(app, relay, submission, body, stuffed=stuffed)
        return await mta.submit(submission, body, stuffed=stuffed)
    except relays.NoRelay as error:
        return ConnectionLost(str(error), "connect")
    except (SmtpRefusal, ConnectionLost) as failure:
        return failure


def _outcome(app: App, message: Message, result: SubmissionResult) -> SendOutcome:
    if not isinstance(result, AcceptedSubmission):
        return rules.submission_refusal(result)
    status = rules.first_status(app.settings.mta.mode)
    results = [
        (each.address, "bounced" if each.address in result.rejected else each.status if each.suppression else status)
        for each in message.recipients
    ]
    statuses = {status for _, status in results}
    summary = statuses.pop() if len(statuses) == 1 else "partial"
    return AcceptedMessage(message.id, message.message_id, summary, results)
