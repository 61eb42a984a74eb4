"""Schedules messages: stores them, checked and sealed, until a worker sends them (`mailflow/scheduling`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.core.errors import Refusal, SendUnavailable
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.sending import rules, stored_request, writes
from mailkeep.features.mailflow.sending.model import AcceptedMessage, PreparedMessage, SendRequest
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.messages.model import Message
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.features.record.scheduled.model import NewScheduledMessage
from mailkeep.mail.message.compose import ComposedMessage, compose


async def schedule_all(
    app: App, who: Principal, at: datetime, later: Mapping[int, tuple[PreparedMessage, Message]]
) -> dict[int, AcceptedMessage | Refusal]:
    """Schedule checked messages of a call, by their index in it: durable on return. Nothing is counted yet.

    SEND_UNAVAILABLE; the outcome of a message may be MAILBOX_SUSPENDED.
    """
    if app.mta is None:
        raise SendUnavailable
    charges = {index: writes.api_attempt(row).charge for index, (_, row) in later.items()}
    async with app.db.autocommit() as conn:
        suspended = await abuse.refuse_suspended(conn, list(charges.values()))
    outcomes: dict[int, AcceptedMessage | Refusal] = {
        index: refusal for index, refusal in zip(charges, suspended, strict=True) if refusal
    }
    allowed = {index: each for index, each in later.items() if index not in outcomes}
    if not allowed:
        return outcomes
    if rules.is_heavy(prepared.request for prepared, _ in allowed.values()):
        async with app.cpu_limit:
            jobs = await asyncio.to_thread(_seal, app, who, allowed)
    else:
        jobs = _seal(app, who, allowed)
    rows = [_schedule_row(prepared, row) for prepared, row in allowed.values()]
    failpoint.reach("schedule.before_commit")
    async with app.db.tx() as conn:
        await scheduled.insert(conn, at, rows, jobs)
        action = writes.send_action(rows, len(rows))
        times = [iso(each.scheduled_at) for each in rows if each.scheduled_at]
        details = {name: value for name, value in action.details.items() if name != "succeeded"}
        action = replace(action, action="message.schedule", details=details | {"scheduled_at": times})
        await audit.record(conn, who, at, action)
    failpoint.reach("schedule.committed")
    return outcomes | {index: schedule_outcome(row) for index, row in zip(allowed, rows, strict=True)}


def schedule_outcome(row: Message) -> AcceptedMessage:
    """The outcome of scheduling, whatever has become of the message since."""
    recipients = [(each.address, "scheduled") for each in row.recipients]
    return AcceptedMessage(row.id, row.message_id, "scheduled", recipients)


def _schedule_row(prepared: PreparedMessage, row: Message) -> Message:
    scheduled_at = prepared.request.scheduled_at
    # Suppressions are looked up again when it is sent.
    recipients = [
        replace(each, status="scheduled", next_attempt_at=scheduled_at, suppression=None) for each in row.recipients
    ]
    return replace(row, status="scheduled", scheduled_at=scheduled_at, recipients=recipients)


def _seal(app: App, who: Principal, later: Mapping[int, tuple[PreparedMessage, Message]]) -> list[NewScheduledMessage]:
    jobs: list[NewScheduledMessage] = []
    for prepared, row in later.values():
        assert prepared.request.scheduled_at is not None
        sealed = scheduled.seal(app.vault, row.id, stored_request.pack(prepared.request))
        jobs.append(
            NewScheduledMessage(
                message_id=row.id,
                domain_id=prepared.domain.id,
                creator=who,
                scheduled_at=prepared.request.scheduled_at,
                recipients=len(row.recipients),
                size=sum(map(len, sealed)),
                sealed=sealed,
            )
        )
    return jobs


def compose_scheduled(row: Message, request: SendRequest) -> ComposedMessage:
    """A scheduled message as it will be sent, without the link of its unsubscribe group, which is made then."""
    sender = rules.parse_sender(request)
    to, cc, bcc = (
        rules.parse_recipients(name, each)
        for name, each in (("to", request.to), ("cc", request.cc), ("bcc", request.bcc))
    )
    at = row.scheduled_at or row.created_at
    return compose(rules.outgoing(row.id, at, request, sender, (to, cc, bcc)))
