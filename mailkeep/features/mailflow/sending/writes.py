"""Records outbound messages of the API and of sendmail: their attempts before the MTA gets them, then the results.

Small calls that come at the same time are written together, in one statement and one commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.address import parse_address
from mailkeep.core.errors import Refusal, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.sending import rules, store
from mailkeep.features.mailflow.sending.model import SendAttempt, SubmissionResult
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryOutcome, Message, ServerReply
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

log = structlog.get_logger("mailkeep.sending")

_SMALL_CALL = 10  # messages; larger calls are written alone, so that others do not wait for them
_PAUSE = 2.0  # seconds between attempts to record results while the database is away

_recording_tasks: set[asyncio.Task[None]] = set()  # the event loop alone would not keep them

Results = Sequence[tuple[SendAttempt, SubmissionResult]]


def api_attempt(message: Message) -> SendAttempt:
    """An attempt of the API: its From address is counted, with the recipients that are not suppressed."""
    sender = parse_address(message.from_address)
    submitted = sum(each.suppression is None for each in message.recipients)
    return SendAttempt(message, SendCharge(sender, message.domain_id, submitted))


@dataclass(frozen=True, slots=True)
class _BeginCall:
    at: datetime
    attempts: Sequence[SendAttempt]

    @property
    def minute(self) -> datetime:
        """The minute in which its messages are counted, and later uncounted."""
        return self.at.replace(second=0, microsecond=0)


async def begin(app: App, who: Principal, at: datetime, attempts: Sequence[SendAttempt]) -> dict[UUID, Refusal]:
    """Count messages and commit their attempts. Returns the refusal of each message that may not be sent, by its ID."""
    call = _BeginCall(at, attempts)
    try:
        if len(attempts) <= _SMALL_CALL:
            refusals = await app.write_in_batch(_begin_batch, call)
        else:
            (refusals,) = await _begin_batch(app, [call])
        if refusals is None:
            refusals = await abuse.count(app, who, at, [each.charge for each in attempts])
            async with app.db.autocommit() as conn:
                allowed = [each.message for each, refusal in zip(attempts, refusals, strict=True) if refusal is None]
                await messages.insert_messages(conn, allowed)
    except Unavailable:
        # The attempts may be committed. Reconciliation skips those of a running process, so they are ended here.
        not_submitted = ConnectionLost("the database became unavailable before the submission", "connect")
        _record_later(app, who, [(each, not_submitted) for each in attempts])
        raise
    return _refusals_by_message(attempts, refusals)


async def begin_due(
    app: App, at: datetime, attempts: Sequence[SendAttempt], claims: Sequence[int]
) -> dict[UUID, Refusal | None]:
    """`begin` for scheduled messages, which suspend nobody. A refusal is None if a message is not claimed any more."""
    rows = [each.message for each in attempts]
    try:
        async with app.db.autocommit() as conn:
            charges = await abuse.charge_mailboxes(conn, [attempt.charge for attempt in attempts])
            counts, inserts = abuse.count_arguments(app, charges), messages.insert_arguments(rows)
            verdicts = await store.begin_due(conn, at, counts, [row.id for row in rows], claims, inserts)
    except Unavailable:
        not_submitted = ConnectionLost("the database became unavailable before the submission", "connect")
        _record_later(app, None, [(each, not_submitted) for each in attempts])
        raise
    refused: dict[UUID, Refusal | None] = {}
    for row, charge, verdict in zip(rows, charges, verdicts, strict=True):
        refusal = abuse.refusals([charge], [verdict])[0] if verdict else None
        if refusal or verdict is None:
            refused[row.id] = refusal
    return refused


async def check_limits(app: App, who: Principal, at: datetime, attempts: Sequence[SendAttempt]) -> dict[UUID, Refusal]:
    """The refusals of `begin` if no MTA is configured. No attempt is written, and nothing stays counted."""
    refusals = _refusals_by_message(attempts, await abuse.count(app, who, at, [each.charge for each in attempts]))
    async with app.db.autocommit() as conn:
        await abuse.uncount(conn, [each.count for each in attempts if each.message.id not in refusals])
    return refusals


def _refusals_by_message(attempts: Sequence[SendAttempt], refusals: Sequence[Refusal | None]) -> dict[UUID, Refusal]:
    return {each.message.id: refusal for each, refusal in zip(attempts, refusals, strict=True) if refusal is not None}


async def _begin_batch(app: App, calls: Sequence[_BeginCall]) -> list[list[Refusal | None] | None]:
    """The refusals of each call, one per message; None for a call that was not written and has to be written alone.

    Only calls of the same minute are written together: the counts of a statement belong to one minute.
    """
    batch = [call for call in calls if call.minute == calls[0].minute]
    attempts = [attempt for call in batch for attempt in call.attempts]
    rows = [attempt.message for attempt in attempts]
    async with app.db.autocommit() as conn:
        charges = await abuse.charge_mailboxes(conn, [attempt.charge for attempt in attempts])
        verdicts = await store.begin(
            conn,
            calls[0].at,
            abuse.count_arguments(app, charges),
            [row.id for row in rows],
            messages.insert_arguments(rows),
        )
    if any(verdict.kind == "sender_rate" for verdict in verdicts):
        return [None] * len(calls)
    refusals = iter(abuse.refusals(charges, verdicts))
    return [[next(refusals) for _ in call.attempts] if call.minute == calls[0].minute else None for call in calls]


@dataclass(frozen=True, slots=True)
class _ResultsCall:
    who: Principal | None
    messages: Sequence[Message]
    accepted: Sequence[tuple[Message, AcceptedSubmission]]


async def record_results(app: App, who: Principal | None, results: Results) -> None:
    """Record the results of attempts, with an audit entry of the call unless `who` is None.

    UNAVAILABLE says which messages are submitted; recording them is then retried in the background.
    """
    try:
        await _record_results(app, who, results)
    except Unavailable:
        try:
            await _record_results(app, who, results)
        except Unavailable as error:
            _record_later(app, who, results)
            raise rules.unrecorded_refusal([(each.message, result) for each, result in results]) from error


def _record_later(app: App, who: Principal | None, results: Results) -> None:
    task = asyncio.create_task(_retry_recording(app, who, results))
    _recording_tasks.add(task)
    task.add_done_callback(_recording_tasks.discard)


async def _retry_recording(app: App, who: Principal | None, results: Results) -> None:
    """Retry until the results are recorded or the process ends; then `jobs.reconcile` ends the attempts."""
    while True:
        await asyncio.sleep(_PAUSE)
        try:
            await _record_results(app, who, results)
        except Unavailable:
            continue
        except Exception:
            log.exception(
                "the results of messages were not recorded", ids=[str(each.message.id) for each, _ in results]
            )
        break


async def _record_results(app: App, who: Principal | None, results: Results) -> None:
    """Record acceptances with their events, failed attempts, the audit entry and the counts in one commit. Idempotent.

    Messages are uncounted last, because that locks rows for which other calls wait.
    """
    accepted = [(each.message, result) for each, result in results if isinstance(result, AcceptedSubmission)]
    failed = [(each, result) for each, result in results if not isinstance(result, AcceptedSubmission)]
    call = _ResultsCall(who, [each.message for each, _ in results], accepted)
    if failed or any(result.rejected for _, result in accepted):
        at = app.clock()
        async with app.db.tx() as conn:
            unsent = await _end_failed(conn, at, failed)
            if accepted:
                await _delete_jobs(conn, [call])
                await _accept(app, conn, at, [call])
                await _record_rejected_recipients(app, conn, at, accepted)
            await abuse.uncount_forwards(conn, [str(each.message.id) for each in unsent])
            await abuse.uncount(conn, [each.count for each in unsent])
    elif len(results) <= _SMALL_CALL:
        await app.write_in_batch(_accept_batch, call)
    else:
        await _accept_batch(app, [call])
    if accepted:
        app.counters.add("messages_accepted", "outbound", accepted[0][0].source, times=len(accepted))


async def _accept_batch(app: App, calls: Sequence[_ResultsCall]) -> list[None]:
    if any(message.scheduled_at for call in calls for message, _ in call.accepted):
        async with app.db.tx() as conn:
            await _delete_jobs(conn, calls)
            await _accept(app, conn, app.clock(), calls)
    else:
        async with app.db.autocommit() as conn:
            await _accept(app, conn, app.clock(), calls)
    return [None] * len(calls)


async def _delete_jobs(conn: Conn, calls: Sequence[_ResultsCall]) -> None:
    """Delete the jobs of accepted messages that were scheduled, before the messages are locked."""
    if ids := [message.id for call in calls for message, _ in call.accepted if message.scheduled_at]:
        await scheduled.delete(conn, ids)


async def _end_failed(
    conn: Conn, at: datetime, failed: Sequence[tuple[SendAttempt, SmtpRefusal | ConnectionLost]]
) -> list[SendAttempt]:
    """End failed attempts. Returns those that had not ended before and whose messages were certainly not submitted."""
    endings = [
        (attempt, *rules.failure_status(result, is_scheduled=attempt.message.scheduled_at is not None))
        for attempt, result in failed
    ]
    if not endings:
        return []
    rows = [(attempt.message.id, status, reason) for attempt, status, reason in endings]
    ended = await messages.end_submissions(conn, at, rows)
    return [attempt for attempt, status, _ in endings if attempt.message.id in ended and status != "unknown"]


async def _accept(app: App, conn: Conn, at: datetime, calls: Sequence[_ResultsCall]) -> None:
    accepted = [(message, result.queue_id or "") for call in calls for message, result in call.accepted]
    audited = [
        {
            "ids": [message.id for message, _ in call.accepted],
            "entry": audit.entry_row(call.who, at, send_action(call.messages, len(call.accepted))),
        }
        for call in calls
        if call.who
    ]
    rows = messages.acceptance_rows(at, accepted)
    await store.mark_accepted(conn, at, rules.first_status(app.settings.mta.mode), rows, audited)


async def _record_rejected_recipients(
    app: App, conn: Conn, at: datetime, accepted: Sequence[tuple[Message, AcceptedSubmission]]
) -> None:
    for message, result in accepted:
        for address, reply in result.rejected.items():
            server_reply = ServerReply(reply.code, reply.enhanced, reply.text, app.settings.mta.host or None)
            outcome = DeliveryOutcome(message.id, address, "bounced", 1, server_reply)
            await suppressions.record_outcomes(conn, at, [outcome])


def send_action(attempts: Sequence[Message], succeeded: int) -> AuditAction:
    """The audit action of a call: counts, recipients' domains and Message-IDs."""
    first = attempts[0]
    one_domain = all(each.domain_id == first.domain_id for each in attempts)
    target = AuditTarget(
        "message",
        first.id if len(attempts) == 1 else None,
        first.domain_id if one_domain else None,
        first.domain_name if one_domain else None,
    )
    recipient_domains = {recipient.address.rpartition("@")[2] for each in attempts for recipient in each.recipients}
    details = {
        "messages": len(attempts),
        "succeeded": succeeded,
        "recipients": sum(len(each.recipients) for each in attempts),
        "recipient_domains": sorted(recipient_domains)[:50],
        "message_ids": [each.message_id for each in attempts],
    }
    return AuditAction("message.send", target, details=details)


def failed_batch_action(refused: Sequence[Refusal]) -> AuditAction:
    """The audit action of a batch without an accepted message: denied if all messages were refused for missing rights.
    Its error code is that of the first.
    """
    details = {"messages": len(refused), "succeeded": 0, "codes": sorted({each.code for each in refused})}
    denied = all(each.status == 403 for each in refused)
    outcome = "denied" if denied else "failed"
    return AuditAction(
        "message.send", AuditTarget("message", None), details=details, outcome=outcome, error_code=refused[0].code
    )
