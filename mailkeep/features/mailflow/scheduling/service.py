"""Change, cancel and send scheduled messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import Forbidden, InternalError, Refusal, SendUnavailable
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.mailflow.scheduling import rules
from mailkeep.features.mailflow.scheduling.rules import Consequence
from mailkeep.features.mailflow.sending import rules as sending_rules, service as sending, stored_request
from mailkeep.features.mailflow.sending.model import DueMessage, SubmissionResult
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history import service as history
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.features.record.scheduled.model import ClaimedMessage, EndedAttempt, WaitingMessage
from mailkeep.mail.smtp.client import ConnectionLost, SmtpRefusal

log = structlog.get_logger("mailkeep.scheduling")

GROUP_MESSAGES = rules.GROUP_MESSAGES
_SETTLE_BATCH = 200


async def reschedule(
    conn: Conn, who: Principal, at: datetime, message_id: UUID, scheduled_at: datetime, if_match: IfMatch = ANY_VERSION
) -> Message:
    """Give a scheduled message another time. NOT_FOUND, FORBIDDEN, INVALID_FIELD, CONFLICT `not_scheduled`,
    PRECONDITION_FAILED.
    """
    new_time = sending_rules.check_scheduled_at(scheduled_at, at) or at
    waiting, before = await _lock(conn, who, message_id, if_match)
    await scheduled.reschedule(conn, at, waiting, new_time)
    fields = {"scheduled_at": iso(waiting.scheduled_at)}, {"scheduled_at": iso(new_time)}
    await audit.record(conn, who, at, AuditAction("message.reschedule", _target(before), *fields))
    return await history.get(conn, who, message_id)


async def cancel(
    conn: Conn, who: Principal, at: datetime, message_id: UUID, if_match: IfMatch = ANY_VERSION
) -> Message:
    """Cancel a scheduled message and delete its content. NOT_FOUND, FORBIDDEN, CONFLICT `not_scheduled`,
    PRECONDITION_FAILED.
    """
    waiting, before = await _lock(conn, who, message_id, if_match)
    await scheduled.cancel(conn, at, [message_id])
    fields = {"status": "scheduled", "scheduled_at": iso(waiting.scheduled_at)}, {"status": "cancelled"}
    await audit.record(conn, who, at, AuditAction("message.cancel", _target(before), *fields))
    return await history.get(conn, who, message_id)


async def _lock(conn: Conn, who: Principal, message_id: UUID, if_match: IfMatch) -> tuple[WaitingMessage, Message]:
    """The message, locked, if it waits; its submission can't begin until the transaction ends."""
    message = await history.get(conn, who, message_id, "message.schedule")
    waiting = await scheduled.lock_waiting(conn, message_id)
    if waiting is None:
        current = await history.get(conn, who, message_id, "message.schedule")
        raise rules.not_scheduled(current.status)
    if_match.check(waiting.changed_at)
    return waiting, message


def _target(message: Message) -> AuditTarget:
    return AuditTarget("message", message.id, message.domain_id, message.domain_name)


async def claim(app: App, process: UUID, limit: int, lease: timedelta) -> list[list[ClaimedMessage]]:
    """Claim up to `limit` due messages for a process, in groups to send."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        claimed = await scheduled.claim(conn, at, at + lease, process, limit)
    if claimed:
        failpoint.reach("scheduled.claimed")
    return rules.group(claimed)


async def find_next_due(app: App) -> datetime | None:
    """When the next message is due; None if none waits."""
    async with app.db.autocommit() as conn:
        return await scheduled.find_next_due(conn)


async def release(app: App, claimed: Sequence[ClaimedMessage]) -> None:
    """Make claimed messages due again at once; those that are submitted already stay so."""
    async with app.db.autocommit() as conn:
        await scheduled.end_claims(conn, claimed, app.clock())


async def send_group(app: App, claimed: Sequence[ClaimedMessage], is_stopping: Callable[[], bool]) -> None:
    """Send a group of claimed messages of one creator."""
    outcomes = await _send(app, claimed, is_stopping)
    refused = {message_id: each for message_id, each in outcomes.items() if isinstance(each, Refusal)}
    if refused:
        await _apply_refusals(app, [each for each in claimed if each.message_id in refused], refused)
    # `sending` deletes the jobs of accepted messages.
    not_accepted = {
        message_id: each for message_id, each in outcomes.items() if isinstance(each, SmtpRefusal | ConnectionLost)
    }
    if not_accepted:
        await settle(app, not_accepted)


async def _send(
    app: App, claimed: Sequence[ClaimedMessage], is_stopping: Callable[[], bool]
) -> Mapping[UUID, Refusal | SubmissionResult | None]:
    ids = [each.message_id for each in claimed]
    if app.mta is None:
        return dict.fromkeys(ids, SendUnavailable())
    async with app.db.autocommit() as conn:
        who = await sessions.refresh(app, conn, claimed[0].creator)
        if who is None:
            return dict.fromkeys(ids, Forbidden("The account or the API key that scheduled the message has ended."))
        contents = await scheduled.read_contents(conn, app.vault, ids)
        rows = {each.id: each for each in await messages.find_all(conn, ids)}
    who = replace(who, request_id=None)  # the messages of a group are of several requests
    outcomes: dict[UUID, Refusal | SubmissionResult | None] = {}
    due: list[DueMessage] = []
    for each in claimed:
        content, row = contents.get(each.message_id), rows.get(each.message_id)
        if row is None or content is None:
            text = "The content of the message can't be read: it was sealed with another master secret, or is damaged."
            outcomes[each.message_id] = _Unreadable(text)
        else:
            due.append(DueMessage(row, stored_request.unpack(content), each.claims))
    return outcomes | (await sending.send_due(app, who, due, is_stopping) if due else {})


class _Unreadable(InternalError):
    """The content of a message can't be read, now or later."""

    status = 410


async def _apply_refusals(app: App, claimed: Sequence[ClaimedMessage], refused: Mapping[UUID, Refusal]) -> None:
    """Let messages wait or fail that were refused before their submission."""
    at = app.clock()
    waiting: dict[Consequence, list[ClaimedMessage]] = defaultdict(list)
    for each in claimed:
        consequence = rules.after_refusal(refused[each.message_id], each.scheduled_at, at)
        if consequence.due_at is not None:
            waiting[consequence].append(each)
            continue
        async with app.db.tx() as conn:
            row = await messages.find(conn, each.message_id)
            if row is not None:
                failed = await scheduled.fail_claimed(conn, at, each, row, consequence.reason, consequence.why)
                app.counters.add("deliveries", "outbound", "failed", times=failed)
    for consequence, group in waiting.items():
        assert consequence.due_at is not None
        async with app.db.tx() as conn:
            await scheduled.postpone(conn, group, consequence.due_at, consequence.why)


async def settle(app: App, results: Mapping[UUID, SubmissionResult] | None = None) -> int:
    """Finish submissions with a recorded result (None: all that a process has left): delete the jobs of accepted
    messages, and let the others wait or fail. Returns how many.
    """
    settled, batch = 0, _SETTLE_BATCH
    while batch == _SETTLE_BATCH:
        async with app.db.tx() as conn:
            ended = await scheduled.lock_ended(conn, None if results is None else list(results), _SETTLE_BATCH)
            await _settle(app, conn, ended, results or {})
            if app.settings.mta.mode == "smtp":
                await scheduled.delete(conn, await scheduled.list_unknown(conn, _SETTLE_BATCH))
        batch = len(ended)
        settled += batch
    return settled


async def _settle(
    app: App, conn: Conn, ended: Sequence[EndedAttempt], results: Mapping[UUID, SubmissionResult]
) -> None:
    at = app.clock()
    done = [each.message_id for each in ended if each.accepted or each.status != "lost"]
    if done:
        await scheduled.delete(conn, done)
    for each in ended:
        if each.message_id in done:
            continue
        row = await messages.find(conn, each.message_id)
        assert row is not None
        result = results.get(each.message_id)
        why = next((to.reply.diagnostic for to in row.recipients if to.reply.diagnostic), None) or "not accepted"
        consequence = rules.after_failure(why, each.failures, each.scheduled_at, at)
        if isinstance(result, SmtpRefusal) and result.permanent:
            consequence = Consequence(None, "refused", why)
        if consequence.due_at is None:
            failed = await scheduled.fail(conn, at, row, consequence.reason, why)
            app.counters.add("deliveries", "outbound", "failed", times=failed)
        else:
            await scheduled.return_to_waiting(conn, at, consequence.due_at, [each.message_id])
