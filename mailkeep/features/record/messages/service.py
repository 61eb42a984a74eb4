"""Records messages, their acceptance and their delivery outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import rules, store
from mailkeep.features.record.messages.model import (
    DeliveryAttempt,
    DeliveryOutcome,
    Message,
    OutboundMessage,
    Recipient,
    RecipientSuppression,
    ServerReply,
)
from mailkeep.mail.message.bounce_address import message_of

log = structlog.get_logger("mailkeep.messages")


async def insert_messages(conn: Conn, messages: Sequence[Message]) -> None:
    """Insert messages in one statement; commit outbound messages before they are submitted to the MTA."""
    if messages:
        await store.insert(conn, messages)


def insert_arguments(messages: Sequence[Message]) -> dict[str, Any]:
    """The arguments of the SQL function `insert_messages`, for a statement that does more than insert messages."""
    return dict(store.insert_arguments(messages))


Accepted = Sequence[tuple[Message, str]]
"""Messages, each with the MTA's queue ID, or an empty text if the MTA returned none."""


async def accept(conn: Conn, at: datetime, accepted: Accepted, *, status: str) -> list[UUID]:
    """Record that the MTA replied that it accepted these messages; emits `mail.sent` exactly once for each.

    `status` is queued for our own MTA, relayed for a smarthost, which reports no outcome. It becomes the status of the
    recipients that have no delivery outcome yet. Returns the IDs of the messages whose reply was not recorded before.
    """
    return await store.accept(conn, at, acceptance_rows(at, accepted), status, answered=True)


async def accept_from_log(conn: Conn, at: datetime, accepted: Accepted) -> None:
    """Record that our own MTA accepted these messages according to its log; its reply may still be outstanding.

    Emits `mail.sent` unless the acceptance is already recorded.
    """
    await store.accept(conn, at, acceptance_rows(at, accepted), "queued", answered=False)


async def list_open_recipients(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, list[tuple[str, ServerReply]]]:
    """The recipients that have no final outcome yet, by message: the address and the last reply about it."""
    recipients = await store.list_recipients(conn, message_ids)
    return {
        message_id: [(each.address, each.reply) for each in of_message if each.status in ("queued", "deferred")]
        for message_id, of_message in recipients.items()
    }


def acceptance_rows(at: datetime, accepted: Accepted) -> list[dict[str, Any]]:
    """Accepted messages, with their recipients, for the SQL function `accept_messages`, each with its events."""
    return [
        {
            "id": message.id,
            "queue_id": queue_id or None,
            "events": [events.event_row(at, event) for event in rules.acceptance_events(message)],
        }
        for message, queue_id in accepted
    ]


async def end_submissions(conn: Conn, at: datetime, ended: Sequence[tuple[UUID, str, str | None]]) -> set[UUID]:
    """Record submissions that were not accepted: (id, lost | unknown | failed, the MTA's reply). Emits no events.

    Returns the IDs of the changed messages. A message whose delivery outcome shows that it was accepted is not changed.
    """
    changed = set(await store.end_submissions(conn, ended))
    attempts = [
        DeliveryAttempt(uuid7(at), message_id, at, status, None, 1, ServerReply(diagnostic=diagnostic))
        for message_id, status, diagnostic in ended
        if message_id in changed
    ]
    await record_attempts(conn, attempts)
    return changed


async def record_outcome(conn: Conn, at: datetime, outcome: DeliveryOutcome) -> list[DeliveryAttempt]:
    """Record one outcome, as `record_outcomes` does."""
    return await record_outcomes(conn, at, [outcome])


async def record_outcomes(conn: Conn, at: datetime, outcomes: Sequence[DeliveryOutcome]) -> list[DeliveryAttempt]:
    """Record delivery outcomes in order: recipients, attempts, the status of each message, and events.

    The number of statements does not depend on the number of outcomes, unless one recipient has several. Returns the
    attempts to count: those that were not recorded before, except of mail of Mailkeep itself.
    """
    locked = await store.lock_all(conn, {outcome.message_id for outcome in outcomes})
    queue_ids = {outcome.message_id: outcome.queue_id for outcome in outcomes if outcome.queue_id}
    accepted = [
        (locked[message_id], queue_id)
        for message_id, queue_id in queue_ids.items()
        if message_id in locked and not locked[message_id].accepted_at
    ]
    if accepted:
        recipients = await store.list_recipients(conn, queue_ids)
        accepted = [(replace(each, recipients=recipients.get(each.id, [])), queue_id) for each, queue_id in accepted]
        await accept_from_log(conn, at, accepted)
    attempts: list[DeliveryAttempt] = []
    published_events: list[Event] = []
    for batch in _split_by_recipient([outcome for outcome in outcomes if outcome.message_id in locked]):
        numbers = await store.set_outcomes(conn, [_attempt(at, outcome, outcome.attempts) for outcome in batch])
        for outcome in batch:
            number = numbers.get((outcome.message_id, outcome.address))
            if number is None:
                continue
            attempts.append(_attempt(at, outcome, number))
            if event := rules.outcome_event(locked[outcome.message_id], outcome, number):
                published_events.append(event)
    if attempts:
        await store.insert_attempts(conn, attempts)
        await store.update_statuses(conn, {attempt.message_id for attempt in attempts})
    if published_events:
        await events.emit_all(conn, at, published_events)
    return [each for each in attempts if locked[each.message_id].source != "mailkeep"]


async def record_late_bounce(
    conn: Conn, at: datetime, message: Message, recipient: Recipient, reply: ServerReply
) -> bool:
    """Record that mail for a recipient was returned after its server, or a relay, had accepted it: the recipient is
    `bounced`, with its event. False if it is neither `delivered` nor `relayed`; so a repetition changes nothing.

    The caller has locked the message.
    """
    outcome = DeliveryOutcome(message.id, recipient.address, "bounced", recipient.attempts, reply)
    if not await store.bounce_late(conn, _attempt(at, outcome, recipient.attempts)):
        return False
    await store.insert_attempts(conn, [_attempt(at, outcome, 0)])
    await store.update_statuses(conn, [message.id])
    if event := rules.outcome_event(message, outcome, max(1, recipient.attempts)):
        await events.emit_all(conn, at, [event])
    return True


async def record_complaint(
    conn: Conn, at: datetime, message: Message, recipient: Recipient, suppression: RecipientSuppression
) -> None:
    """Record that a recipient reported the message as spam: in its timeline, and as `mail.complained`."""
    attempt = DeliveryAttempt(uuid7(at), message.id, at, "complained", recipient.address, 0, ServerReply())
    await store.insert_attempts(conn, [attempt])
    await events.emit_all(conn, at, [rules.complained_event(message, recipient, suppression)])


async def has_complaint(conn: Conn, message_id: UUID, address: str) -> bool:
    """Whether a complaint of this recipient about the message is recorded. Lock the message before."""
    return await store.has_complaint(conn, message_id, address)


async def record_attempts(conn: Conn, attempts: Sequence[DeliveryAttempt]) -> None:
    """Record attempts for the timeline only, such as those to the expanded recipients of an alias."""
    if attempts:
        await store.insert_attempts(conn, attempts)


async def lock(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, Message]:
    """Lock the messages with these IDs, in the order of the IDs; returns them by ID, without their recipients."""
    return await store.lock_all(conn, message_ids)


async def add_recipients(conn: Conn, message_id: UUID, addresses: Sequence[str]) -> None:
    """Add recipients that the MTA reported after the acceptance; those that the message already has do not change."""
    await store.add_recipients(conn, message_id, addresses)


async def clear_next_attempts(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Remove the time of the next attempt from all recipients of messages that are on hold."""
    await store.clear_next_attempts(conn, message_ids)


async def update_statuses(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Set each message's status from those of its recipients."""
    await store.update_statuses(conn, message_ids)


async def end_unknown(conn: Conn, at: datetime, message_id: UUID, diagnostic: str) -> list[str]:
    """Set the recipients without a final outcome to `unknown`, as none will be reported; returns their addresses."""
    addresses = await store.end_unknown(conn, message_id, diagnostic)
    if addresses:
        reply = ServerReply(diagnostic=diagnostic)
        attempts = [DeliveryAttempt(uuid7(at), message_id, at, "unknown", address, 0, reply) for address in addresses]
        await store.insert_attempts(conn, attempts)
        await store.update_statuses(conn, [message_id])
    return addresses


def _split_by_recipient(outcomes: Sequence[DeliveryOutcome]) -> list[list[DeliveryOutcome]]:
    """Batches of outcomes, in order, with at most one for each recipient, as one UPDATE changes a row only once."""
    batches: list[list[DeliveryOutcome]] = []
    seen: Counter[tuple[UUID, str]] = Counter()
    for outcome in outcomes:
        key = outcome.message_id, outcome.address
        if seen[key] == len(batches):
            batches.append([])
        batches[seen[key]].append(outcome)
        seen[key] += 1
    return batches


def _attempt(at: datetime, outcome: DeliveryOutcome, number: int | None) -> DeliveryAttempt:
    # The ID has the time of recording, not of the attempt, so that the IDs of a timeline rise.
    return DeliveryAttempt(
        uuid7(at),
        outcome.message_id,
        outcome.at or at,
        outcome.status,
        outcome.address,
        number or 0,
        outcome.reply,
        outcome.next_attempt_at,
    )


async def record_inbound(
    conn: Conn, at: datetime, messages: Sequence[Message], extra_events: Sequence[Event] = ()
) -> set[UUID]:
    """Insert messages that were delivered to a mailbox, or rejected there (status `rejected`), once for each (queue ID,
    mailbox), in one statement. Emits `mail.received` for those delivered to one, and `extra_events` about these
    messages. Returns the IDs of the messages that were not in the history before.
    """
    received = [rules.received_event(each) for each in messages if each.status == "received" and each.mailbox_id]
    return await store.record_inbound(
        conn, messages, [events.event_row(at, event) for event in (*received, *extra_events)], at
    )


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this ID; the caller checks permissions."""
    return await store.find(conn, message_id)


async def find_all(conn: Conn, message_ids: Sequence[UUID]) -> list[Message]:
    """The messages with these IDs, in that order, without those that do not exist."""
    messages = await store.find_all(conn, message_ids)
    return [messages[message_id] for message_id in message_ids if message_id in messages]


async def find_from_addresses(conn: Conn, message_ids: Sequence[UUID]) -> dict[str, str]:
    """The From addresses of those of these messages that exist, by envelope sender."""
    return await store.find_from_addresses(conn, message_ids)


async def find_by_request(conn: Conn, request_id: UUID) -> list[Message]:
    """The messages that were sent with this API request, in the order of its body."""
    return await find_all(conn, await store.find_by_request(conn, request_id))


async def find_outbound(conn: Conn, header_id: str, mail_from: str) -> OutboundMessage | None:
    """The outbound message that was submitted with this envelope sender: the one in its bounce address, or else in the
    Message-ID that the server generated (`<id@domain>`). A program may write the Message-ID of any other message.
    """
    message_id = message_of(mail_from) or parse_uuid(header_id[1:].partition("@")[0])
    return await store.find_outbound(conn, message_id, mail_from) if message_id else None


async def find_by_header(conn: Conn, domain_id: UUID, header_id: str) -> UUID | None:
    """The message of a domain with this Message-ID header that was sent by API or by a mail client; None if there are
    several.
    """
    return await store.find_by_header(conn, domain_id, header_id)


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether a domain has this ID, or a message belongs to one that had it."""
    return await store.knows_domain(conn, domain_id)
