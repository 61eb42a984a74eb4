"""Sends messages: check, record the attempt, submit, record the result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
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
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.sending import recipients, rules, store, submission, writes
from mailkeep.features.mailflow.sending.model import (
    AcceptedMessage,
    DueMessage,
    PreparedMessage,
    SenderDomain,
    SenderLookup,
    SendRequest,
    SubmissionResult,
)
from mailkeep.features.mailflow.sending.schedule import schedule_all
from mailkeep.features.mailflow.sending.submission import RestartWait, submit_with_retries
from mailkeep.features.mailflow.templates import service as templates
from mailkeep.features.mailflow.templates.model import TemplateUse
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.messages import content
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.compose import compose
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, OutgoingEnvelope
from mailkeep.mail.smtp.pool import SmtpPool

log = structlog.get_logger("mailkeep.sending")

_LONGEST_DELAY = 300.0  # seconds from the attempt of a scheduled message to its submission
_SMALL = 64 << 10  # bytes of a message whose content is saved in a batch with others

SendOutcome = AcceptedMessage | Refusal

log_read_at = store.log_read_at
submit = submission.submit

SENT = IdempotencyInProgress()
"""Stands for a message of a batch that is already sent."""


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
            await audit.record(conn, who, app.clock(), writes.failed_batch_action(refused))
    return outcomes


async def send_all(app: App, who: Principal, requests: Sequence[SendRequest | Refusal]) -> list[SendOutcome]:
    """Send messages and return the outcome of each, in order. A refusal in `requests` is its own outcome.

    A refusal of a whole group (UNAVAILABLE) is raised for the first group; later it is the outcome of all that remain.
    """
    outcomes: list[SendOutcome] = []
    restart_wait = RestartWait()
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
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], first: int, restart_wait: RestartWait
) -> list[SendOutcome]:
    """Send one group of a batch; `first` is the index of its first message in the batch."""
    at = app.clock()
    checked, managed = await _prepare_all(app, who, requests)
    later = {
        index: (each, rules.build_message(who, each, at, first + index))
        for index, each in enumerate(checked)
        if isinstance(each, PreparedMessage) and each.request.scheduled_at
    }
    scheduled = await schedule_all(app, who, at, later) if later else {}
    checked = [SENT if index in scheduled else each for index, each in enumerate(checked)]
    prepared, charged = await _charge_forwards(app, at, checked, managed)
    attempts = {
        each.id: writes.api_attempt(rules.build_message(who, each, at, first + index))
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
        return [
            scheduled.get(index, each) for index, each in enumerate(prepared) if not isinstance(each, PreparedMessage)
        ]
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
        scheduled.get(index, each)
        if isinstance(each, Refusal)
        else outcome(app, attempts[each.id].message, results[each.id])
        for index, each in enumerate(prepared)
    ]


async def send_due(
    app: App, who: Principal, due: Sequence[DueMessage], is_stopping: Callable[[], bool]
) -> dict[UUID, Refusal | SubmissionResult | None]:
    """Send scheduled messages that a worker has claimed, with the present rights of their creator, `who`. Returns what
    came of each: a refusal before its submission, else the recorded result; None if it is not claimed any more.

    Nothing is submitted after `is_stopping`, or long after the attempts were written: another process may have ended
    them by then.
    """
    at, started_at = app.clock(), monotonic()
    by_id = {each.message.id: each for each in due}
    prepared, managed = await _prepare_all(app, who, [each.request for each in due], list(by_id))
    prepared, charged = await _charge_forwards(app, at, prepared, managed)
    outcomes: dict[UUID, Refusal | SubmissionResult | None] = {
        message_id: each for message_id, each in zip(by_id, prepared, strict=True) if isinstance(each, Refusal)
    }
    ready = [each for each in prepared if isinstance(each, PreparedMessage)]
    attempts = {each.id: writes.api_attempt(_due_row(who, each, by_id[each.id].message, at)) for each in ready}
    if ready:
        failpoint.reach("scheduled.before_attempt")
        outcomes |= await writes.begin_due(app, at, list(attempts.values()), [by_id[each.id].claims for each in ready])
        ready = [each for each in ready if each.id not in outcomes]
    if charged:
        await _uncount_forwards(app, charged - {each.id for each in ready})
    if not ready:
        return outcomes
    assert app.mta is not None
    failpoint.reach("scheduled.attempt_written")

    def may_submit() -> bool:
        return not is_stopping() and monotonic() - started_at < _LONGEST_DELAY

    submitted = await _submit_batch(app, app.mta, ready, RestartWait(), may_submit)
    results = dict(zip((each.id for each in ready), submitted, strict=True))
    recording = writes.record_results(app, who, [(attempts[each], result) for each, result in results.items()])
    accepted = [each for each in ready if isinstance(results[each.id], AcceptedSubmission)]
    await asyncio.gather(_save_contents(app, accepted), recording)
    failpoint.reach("scheduled.committed")
    return outcomes | results


def _due_row(who: Principal, prepared: PreparedMessage, row: Message, at: datetime) -> Message:
    """The row of a scheduled message as it is submitted at `at`."""
    return replace(
        rules.build_message(who, prepared, at, row.batch_index or 0),
        created_at=row.created_at,
        request_id=row.request_id,
        scheduled_at=row.scheduled_at,
        submitted_at=at,
    )


async def _save_contents(app: App, accepted: Sequence[PreparedMessage]) -> None:
    if not accepted or app.settings.mta.mode == "sandbox":  # the sandbox stores the signed content
        return
    if len(accepted) == 1 and accepted[0].composed.size <= _SMALL:
        await app.write_in_batch(_write_contents, accepted[0])
    else:
        await _write_contents(app, accepted)


async def _write_contents(app: App, accepted: Sequence[PreparedMessage]) -> list[None]:
    def save() -> None:
        for each in accepted:
            content.save_contents(app.data_dir, [(each.id, each.composed.chunks())], each.outgoing.date)

    await asyncio.to_thread(save)
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
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], ids: Sequence[UUID] | None = None
) -> tuple[list[PreparedMessage | Refusal], Collection[str]]:
    """The checked messages, and the managed domains among those of their senders and recipients. `ids`: those of
    messages that were scheduled; the others get new ones.
    """
    domains = await app.write_in_batch(_sender_domains, recipients.build_lookup(requests))
    requests = await _fill_from_templates(app, who, requests, domains)
    at = app.clock()

    def prepare() -> list[PreparedMessage | Refusal]:
        return [
            each
            if isinstance(each, Refusal)
            else _prepare(app, who, each, domains, at, ids[index] if ids else uuid7(at))
            for index, each in enumerate(requests)
        ]

    if not rules.is_heavy(each for each in requests if isinstance(each, SendRequest)):
        return prepare(), domains.keys()
    async with app.cpu_limit:
        return await asyncio.to_thread(prepare), domains.keys()


async def _fill_from_templates(
    app: App, who: Principal, requests: Sequence[SendRequest | Refusal], domains: Mapping[str, SenderDomain]
) -> Sequence[SendRequest | Refusal]:
    """The messages, with those by a template rendered, after the checks of their senders. A message that was scheduled
    is rendered already.
    """
    uses: dict[int, TemplateUse] = {}
    filled = list(requests)
    for index, each in enumerate(requests):
        if isinstance(each, SendRequest) and each.template_id and each.template_version is None:
            try:
                domain_id = rules.check_sender(who, each, domains)[1].id
                uses[index] = TemplateUse(each.template_id, each.variables, domain_id)
            except Refusal as refusal:
                filled[index] = refusal
    if uses:
        rendered = await templates.render_for_send(app, who, list(uses.values()))
        for index, result in zip(uses, rendered, strict=True):
            request = filled[index]
            if isinstance(result, Refusal):
                filled[index] = result
            elif isinstance(request, SendRequest):
                filled[index] = rules.fill_from_template(request, result)
    return filled


async def _sender_domains(app: App, lookups: Sequence[SenderLookup]) -> list[dict[str, SenderDomain]]:
    lookup = recipients.merge(lookups)
    async with app.db.autocommit() as conn:
        domains = await store.sender_domains(conn, lookup)
    if app.settings.mta.mode == "sandbox":
        domains = recipients.with_test_suppressions(domains, lookup)
    return [domains] * len(lookups)


async def refuse_senders(
    app: App, who: Principal, senders: Collection[Address], recipient_keys: Collection[str] = ()
) -> Mapping[str, SenderDomain]:
    """Check the rights to senders whose domains are managed; returns these by the senders' keys, with what they have of
    suppressions of the recipients. FORBIDDEN by role, or for the address of a higher-ranked administrator;
    API_KEY_DOMAIN_SCOPE.
    """
    keys = {each.key for each in senders}
    lookup = SenderLookup(keys | {each.rpartition("@")[2] for each in recipient_keys}, recipient_keys, ())
    found = await app.write_in_batch(_sender_domains, lookup)
    domains = {key: found[key] for key in keys if key in found}
    for domain in domains.values():
        allow_on(who, "send", domain.id)
        rules.refuse_lower_rank(who, domain.owner_rank)
    return domains


def _prepare(
    app: App,
    who: Principal,
    request: SendRequest,
    domains: dict[str, SenderDomain],
    at: datetime,
    message_id: UUID,
) -> PreparedMessage | Refusal:
    try:
        if request.scheduled_at:
            request = replace(request, scheduled_at=rules.check_scheduled_at(request.scheduled_at, at))
        sender, domain = rules.check_sender(who, request, domains)
        to = rules.parse_recipients("to", request.to)
        cc = rules.parse_recipients("cc", request.cc)
        bcc = rules.parse_recipients("bcc", request.bcc)
        outgoing = rules.outgoing(message_id, at, request, sender, (to, cc, bcc))
        envelope = rules.envelope([*to, *cc, *bcc])
        outgoing = recipients.with_unsubscribe_link(app, message_id, outgoing, request, domain)
        composed = compose(outgoing)
        rules.refuse_too_large(composed.counted_size, app.settings.limits.message_size_bytes)
        envelope, suppressed = recipients.split_suppressed(envelope, domain, request.unsubscribe_group)
    except Refusal as refusal:
        return refusal
    mail_from = recipients.envelope_sender(app, message_id, sender.address, envelope)
    return PreparedMessage(message_id, sender, domain, envelope, outgoing, composed, request, mail_from, suppressed)


async def _submit_batch(
    app: App,
    mta: SmtpPool,
    ready: Sequence[PreparedMessage],
    restart_wait: RestartWait,
    may_submit: Callable[[], bool] = lambda: True,
) -> list[SubmissionResult]:
    """Submit in parallel. After consecutive failures of the MTA, one for each connection, the rest is not tried, nor is
    what `may_submit` forbids.
    """
    connections = asyncio.Semaphore(mta.size)
    failures = 0

    async def submit_next(prepared: PreparedMessage) -> SubmissionResult:
        nonlocal failures
        async with connections:
            if failures >= mta.size:
                return ConnectionLost("the mail transfer agent failed for earlier messages of the batch", "connect")
            if not may_submit():
                return ConnectionLost("the process is stopping", "connect")
            result = await _submit(app, mta, prepared, restart_wait)
            failures = failures + 1 if rules.is_mta_failure(result) else 0
            return result

    return await asyncio.gather(*(submit_next(each) for each in ready))


async def _submit(app: App, mta: SmtpPool, prepared: PreparedMessage, restart_wait: RestartWait) -> SubmissionResult:
    composed = prepared.composed
    outgoing = OutgoingEnvelope(
        mail_from=prepared.mail_from,
        rcpt_to=[address.text for address in prepared.envelope],
        size=composed.size,
        eight_bit=composed.is_8bit,
        smtputf8=composed.needs_smtputf8,
    )
    domain = prepared.domain.name if prepared.domain.has_relay else None
    try:
        return await submit_with_retries(app, mta, domain, outgoing, (composed.data_chunks(), True), restart_wait)
    except Exception:
        # Other messages of the batch are being submitted: their results must still be recorded.
        log.exception("a message could not be submitted", message_id=str(prepared.id))
        return ConnectionLost("the message could not be written to the connection", "envelope")


def outcome(app: App, message: Message, result: SubmissionResult) -> SendOutcome:
    """The outcome of a submission for its caller."""
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
