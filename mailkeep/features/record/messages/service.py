"""Keeping the record of mail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import rules, store
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome, Message, ServerReply

log = structlog.get_logger("mailkeep.messages")


async def insert_messages(conn: Conn, attempts: Sequence[Message]) -> None:
    """Write messages in one statement; attempts of sends must be committed before they are submitted to the MTA."""
    if attempts:
        await store.insert(conn, attempts)


def insert_arguments(attempts: Sequence[Message]) -> dict[str, Any]:
    """The attempts of sends as the database's `insert_messages` takes them, for a statement that does more."""
    return dict(store.insert_arguments(attempts))


Accepted = Sequence[tuple[Message, str]]
"""Messages with the MTA's queue ids; empty where it named none."""


async def accept(conn: Conn, at: datetime, accepted: Accepted, *, status: str) -> list[UUID]:
    """The MTA's answer, that it took these messages: one `mail.sent` for each, exactly once.

    `status` is queued for our own MTA, relayed for a smarthost, whose further word we never get. It is that of
    recipients nothing else is known of: a fate that was told before stays. Answers the ids of those that this was
    not written of before.
    """
    return await _accept(conn, at, accepted, status, answered=True)


async def accept_from_log(conn: Conn, at: datetime, accepted: Accepted) -> None:
    """Our own MTA has these messages, by its log: `mail.sent` where that is news, whoever waits for its answer."""
    await _accept(conn, at, accepted, "queued", answered=False)


async def open_recipients(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, list[tuple[str, ServerReply]]]:
    """The recipients of messages that nothing final is known of, with the last words about them."""
    found = await store.recipients_of(conn, message_ids)
    return {
        message_id: [(each.address, each.reply) for each in recipients if each.status in ("queued", "deferred")]
        for message_id, recipients in found.items()
    }


async def _accept(conn: Conn, at: datetime, accepted: Accepted, status: str, *, answered: bool) -> list[UUID]:
    return await store.accept(conn, at, acceptance_rows(at, accepted), status, answered=answered)


def acceptance_rows(at: datetime, accepted: Accepted) -> list[dict[str, Any]]:
    """Accepted messages as the database's `accept_messages` takes them, each with the `mail.sent` that it tells."""
    return [
        {"id": message.id, "queue_id": queue_id or None, "event": events.event_row(at, rules.sent_event(message))}
        for message, queue_id in accepted
    ]


async def end_submissions(conn: Conn, at: datetime, ended: Sequence[tuple[UUID, str, str | None]]) -> set[UUID]:
    """Attempts that came to nothing: (id, lost | unknown | failed, the MTA's words). They emit nothing.

    Answers those that were ended now; one that a fate has shown to be accepted after all stays as it is.
    """
    open_ones = set(await store.end_submissions(conn, ended))
    tries = [
        DeliveryAttempt(uuid7(at), message_id, at, status, None, 1, ServerReply(diagnostic=said))
        for message_id, status, said in ended
        if message_id in open_ones
    ]
    if tries:
        await store.insert_attempts(conn, tries)
    return open_ones


async def record_outcome(conn: Conn, at: datetime, fate: DeliveryOutcome) -> list[DeliveryAttempt]:
    """`record_fates` of one."""
    return await record_outcomes(conn, at, [fate])


async def record_outcomes(conn: Conn, at: datetime, outcomes: Sequence[DeliveryOutcome]) -> list[DeliveryAttempt]:
    """Record what happened to recipients, in order: their rows, their attempts, the messages' status, and the events.

    The number of statements does not depend on the number of outcomes, except where one recipient has several. Returns
    the attempts that were not on record before.
    """
    locked = await store.lock_all(conn, {outcome.message_id for outcome in outcomes})
    queue_ids = {outcome.message_id: outcome.queue_id for outcome in outcomes if outcome.queue_id}
    accepted = [
        (locked[each], queue_id)
        for each, queue_id in queue_ids.items()
        if each in locked and not locked[each].accepted_at
    ]
    if accepted:
        await accept_from_log(conn, at, accepted)
    attempts: list[DeliveryAttempt] = []
    published: list[Event] = []
    for found in _split_by_recipient([outcome for outcome in outcomes if outcome.message_id in locked]):
        numbers = await store.set_outcomes(conn, [_attempt(at, outcome, outcome.attempts) for outcome in found])
        for outcome in found:
            number = numbers.get((outcome.message_id, outcome.address))
            if number is None:
                continue
            attempts.append(_attempt(at, outcome, number))
            if event := rules.outcome_event(locked[outcome.message_id], outcome, number):
                published.append(event)
    if attempts:
        await store.insert_attempts(conn, attempts)
        await store.update_statuses(conn, {each.message_id for each in attempts})
    if published:
        await events.emit_all(conn, at, published)
    return attempts


async def record_attempts(conn: Conn, tries: Sequence[DeliveryAttempt]) -> None:
    """Tries that decide nothing by themselves, for the timeline: those of an alias's expansions."""
    if tries:
        await store.insert_attempts(conn, tries)


async def lock(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, Message]:
    """The messages with these ids, without recipients, their rows locked in one order."""
    return await store.lock_all(conn, message_ids)


async def add_recipients(conn: Conn, message_id: UUID, addresses: Sequence[str]) -> None:
    """Recipients of an accepted message that only showed later; one that it has already stays as it is."""
    await store.add_recipients(conn, message_id, addresses)


async def clear_next_attempts(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Nobody tries these messages for now: their recipients have no next attempt."""
    await store.clear_next_attempts(conn, message_ids)


async def end_unknown(conn: Conn, at: datetime, message_id: UUID, said: str) -> list[str]:
    """Nobody will tell any more what became of the open recipients of a message: `unknown`. Answers which they were."""
    addresses = await store.end_unknown(conn, message_id, said)
    if addresses:
        reply = ServerReply(diagnostic=said)
        tries = [DeliveryAttempt(uuid7(at), message_id, at, "unknown", address, 0, reply) for address in addresses]
        await store.insert_attempts(conn, tries)
        await store.update_statuses(conn, [message_id])
    return addresses


def _split_by_recipient(outcomes: Sequence[DeliveryOutcome]) -> list[list[DeliveryOutcome]]:
    """Outcomes in rounds with at most one for each recipient; a later one of the same recipient is in a later round."""
    rounds: list[list[DeliveryOutcome]] = []
    seen: Counter[tuple[UUID, str]] = Counter()
    for outcome in outcomes:
        key = outcome.message_id, outcome.address
        if seen[key] == len(rounds):
            rounds.append([])
        rounds[seen[key]].append(outcome)
        seen[key] += 1
    return rounds


def _attempt(at: datetime, outcome: DeliveryOutcome, number: int | None) -> DeliveryAttempt:
    # Its id has the current time: ids rise strictly only while their times do.
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


async def file_all(conn: Conn, at: datetime, found: Sequence[Message], more: Sequence[Event] = ()) -> set[UUID]:
    """File messages that reached their mailboxes, or were refused there (status `rejected`), each once for a (queue
    id, mailbox): one statement, however many. `mail.received` for those that reached it, and what `more` tells of them.
    Answers the ids of those that were not filed before.
    """
    told = [rules.received_event(message) for message in found if message.status == "received"]
    return await store.file_all(conn, found, [events.event_row(at, event) for event in (*told, *more)], at)


def new_id(at: datetime) -> UUID:
    """The id of a message that begins now; our own Message-IDs are made of it."""
    return uuid7(at)


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this id, whoever asks."""
    return await store.find(conn, message_id)


async def find_all(conn: Conn, message_ids: Sequence[UUID]) -> list[Message]:
    """The messages with these ids, in that order; one that is gone is left out."""
    found = await store.find_all(conn, message_ids)
    return [found[message_id] for message_id in message_ids if message_id in found]


async def find_by_request(conn: Conn, request_id: UUID) -> list[Message]:
    """The messages that were sent with a request, in its order."""
    return await find_all(conn, await store.find_by_request(conn, request_id))


async def find_outbound(conn: Conn, header_id: str) -> UUID | None:
    """The id of the sent message with this Message-ID, where it is one of ours (`<id@domain>`)."""
    ours = parse_uuid(header_id[1:].partition("@")[0])
    return ours if ours and await store.is_sent(conn, ours, header_id) else None


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether there is such a domain, or was one that mail is told of."""
    return await store.knows_domain(conn, domain_id)
