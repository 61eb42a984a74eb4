"""What sends write: their attempts before the MTA is asked, and what came of them after.

Calls of a few messages that come at the same time are written together, in one statement and one commit.
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
from mailkeep.features.mailflow.abuse.model import SendCharge, SendVerdict
from mailkeep.features.mailflow.sending import rules, store
from mailkeep.features.mailflow.sending.model import SubmissionResult
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryOutcome, Message, ServerReply
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

log = structlog.get_logger("mailkeep.sending")

_FEW = 10  # messages of a call that others do not wait for
_PAUSE = 2.0  # seconds between tries to write down what the database was away for

_unrecorded: set[asyncio.Task[None]] = set()


def counted_use(attempt: Message) -> tuple[datetime, SendCharge]:
    """An attempt as it was counted: to be taken back where it was certainly not submitted."""
    return attempt.created_at, _use(attempt)


def _use(attempt: Message) -> SendCharge:
    assert attempt.domain_id is not None
    return SendCharge(parse_address(attempt.mail_from), attempt.domain_id, len(attempt.recipients))


@dataclass(frozen=True, slots=True)
class _BeginCall:
    at: datetime
    attempts: Sequence[Message]
    uses: Sequence[SendCharge]


async def begin(app: App, who: Principal, at: datetime, attempts: Sequence[Message]) -> dict[UUID, Refusal]:
    """Count messages and write their attempts, committed when it returns; those that may not go out, with why."""
    uses = [_use(each) for each in attempts]
    asked = _BeginCall(at, attempts, uses)
    try:
        if len(attempts) <= _FEW:
            verdicts = await app.write_in_batch(_begin_batch, asked)
        else:
            (verdicts,) = await _begin_batch(app, [asked])
        if verdicts is not None:
            refusals = abuse.refusals(app, uses, verdicts)
        else:
            refusals = await abuse.count(app, who, at, uses)
            async with app.db.autocommit() as conn:
                may = [each for each, refusal in zip(attempts, refusals, strict=True) if refusal is None]
                await messages.insert_messages(conn, may)
    except Unavailable:
        # They may be written all the same, and nobody else ends them while we live: a retry would wait in vain.
        never = ConnectionLost("the database went away before it was submitted", "connect")
        _record_later(app, who, [(each, never) for each in attempts])
        raise
    return _refusals_by_message(attempts, refusals)


async def check_limits(app: App, who: Principal, at: datetime, attempts: Sequence[Message]) -> dict[UUID, Refusal]:
    """`begin` where there is no MTA to ask: which may not go out in any case, with why; nothing stays written."""
    refused = _refusals_by_message(attempts, await abuse.count(app, who, at, [_use(each) for each in attempts]))
    async with app.db.autocommit() as conn:
        await abuse.uncount(conn, [counted_use(each) for each in attempts if each.id not in refused])
    return refused


def _refusals_by_message(attempts: Sequence[Message], refusals: Sequence[Refusal | None]) -> dict[UUID, Refusal]:
    return {each.id: refusal for each, refusal in zip(attempts, refusals, strict=True) if refusal is not None}


async def _begin_batch(app: App, asked: Sequence[_BeginCall]) -> list[list[SendVerdict] | None]:
    """The verdicts about each call; None for one that is to be written by itself, and was not yet."""
    fits = [_counting_minute(each) == _counting_minute(asked[0]) for each in asked]
    fit = [each for each, does in zip(asked, fits, strict=True) if does]
    attempts = [attempt for each in fit for attempt in each.attempts]
    uses = [use for each in fit for use in each.uses]
    async with app.db.autocommit() as conn:
        uses = await abuse.charge_mailboxes(conn, uses)
        ids = [attempt.id for attempt in attempts]
        found = await store.begin(
            conn, asked[0].at, abuse.count_arguments(app, uses), ids, messages.insert_arguments(attempts)
        )
    if any(verdict.kind == "sender_rate" for verdict in found):
        return [None] * len(asked)
    rest = iter(found)
    return [[next(rest) for _ in each.uses] if does else None for each, does in zip(asked, fits, strict=True)]


def _counting_minute(asked: _BeginCall) -> datetime:
    """By which its counts are taken back."""
    return asked.at.replace(second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class _SettleCall:
    who: Principal
    sent: Sequence[Message]
    taken: Sequence[tuple[Message, AcceptedSubmission]]


async def settle(app: App, who: Principal, results: Sequence[tuple[Message, SubmissionResult]]) -> None:
    """Write down what came of the attempts; UNAVAILABLE says what is submitted, and it is tried on beside the call."""
    try:
        await _record_results(app, who, results)
    except Unavailable:
        try:
            await _record_results(app, who, results)
        except Unavailable as away:
            _record_later(app, who, results)
            raise rules.unrecorded_refusal(results) from away


def _record_later(app: App, who: Principal, results: Sequence[tuple[Message, SubmissionResult]]) -> None:
    task = asyncio.create_task(_retry_recording(app, who, results))
    _unrecorded.add(task)
    task.add_done_callback(_unrecorded.discard)


async def _retry_recording(app: App, who: Principal, results: Sequence[tuple[Message, SubmissionResult]]) -> None:
    """Until it is written, or the process ends: then `jobs.reconcile` finds out."""
    while True:
        await asyncio.sleep(_PAUSE)
        try:
            await _record_results(app, who, results)
        except Unavailable:
            continue
        except Exception:
            log.exception("what came of messages was not written down", ids=[str(message.id) for message, _ in results])
        break


async def _record_results(app: App, who: Principal, results: Sequence[tuple[Message, SubmissionResult]]) -> None:
    """In one commit: acceptance with its events, attempts that failed, the audit row, and the counts.

    Done again, it does nothing. What is taken back of the counts comes last, for others wait for them.
    """
    taken = [(message, result) for message, result in results if isinstance(result, AcceptedSubmission)]
    failed = [(message, result) for message, result in results if not isinstance(result, AcceptedSubmission)]
    settled = _SettleCall(who, [message for message, _ in results], taken)
    if failed or any(result.rejected for _, result in taken):
        at = app.clock()
        async with app.db.tx() as conn:
            unsent = await _end_failed(conn, at, failed)
            if taken:
                await _accept(app, conn, at, [settled])
                await _record_rejected_recipients(app, conn, at, taken)
            await abuse.uncount(conn, [counted_use(message) for message in unsent])
    elif len(results) <= _FEW:
        await app.write_in_batch(_settle_batch, settled)
    else:
        await _settle_batch(app, [settled])
    app.counters.add("messages_accepted", "outbound", "api", times=len(taken))


async def _settle_batch(app: App, settled: Sequence[_SettleCall]) -> list[None]:
    async with app.db.autocommit() as conn:
        await _accept(app, conn, app.clock(), settled)
    return [None] * len(settled)


async def _end_failed(
    conn: Conn, at: datetime, failed: Sequence[tuple[Message, SmtpRefusal | ConnectionLost]]
) -> list[Message]:
    """Attempts that came to nothing; answers those that certainly went nowhere, and were not ended before."""
    endings = [(message, *rules.failure_status(result)) for message, result in failed]
    if not endings:
        return []
    ended = await messages.end_submissions(conn, at, [(message.id, status, said) for message, status, said in endings])
    return [message for message, status, _ in endings if message.id in ended and status != "unknown"]


async def _accept(app: App, conn: Conn, at: datetime, settled: Sequence[_SettleCall]) -> None:
    taken = [(message, result.queue_id or "") for each in settled for message, result in each.taken]
    calls = [
        {
            "ids": [message.id for message, _ in each.taken],
            "entry": audit.row(each.who, at, send_action(each.sent, len(each.taken))),
        }
        for each in settled
    ]
    await store.settle(conn, at, rules.first_status(app.settings.mta.mode), messages.acceptance_rows(at, taken), calls)


async def _record_rejected_recipients(
    app: App, conn: Conn, at: datetime, taken: Sequence[tuple[Message, AcceptedSubmission]]
) -> None:
    """Recipients that the MTA refused of messages that it took."""
    for message, result in taken:
        for address, reply in result.rejected.items():
            said = ServerReply(reply.code, reply.enhanced, reply.text, app.settings.mta.host or None)
            await messages.record_outcome(conn, at, DeliveryOutcome(message.id, address, "bounced", 1, said))


def send_action(sent: Sequence[Message], succeeded: int) -> AuditAction:
    """What the audit log keeps of a call: counts, recipients' domains and Message-IDs."""
    first = sent[0]
    same = all(message.domain_id == first.domain_id for message in sent)
    target = AuditTarget(
        "message",
        first.id if len(sent) == 1 else None,
        first.domain_id if same else None,
        first.domain_name if same else None,
    )
    towards = {recipient.address.rpartition("@")[2] for message in sent for recipient in message.recipients}
    more = {
        "messages": len(sent),
        "succeeded": succeeded,
        "recipients": sum(len(message.recipients) for message in sent),
        "recipient_domains": sorted(towards)[:50],
        "message_ids": [message.message_id for message in sent],
    }
    return AuditAction("message.send", target, more=more)
