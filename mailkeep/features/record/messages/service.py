"""Keeping the record of mail."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog

from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import store
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome, Message, ServerReply, content_path

log = structlog.get_logger("mailkeep.messages")

_KINDS = {
    "delivered": "mail.delivered",
    "bounced": "mail.bounced",
    "deferred": "mail.bounced",
    "failed": "mail.failed",
}


async def insert_messages(conn: Conn, attempts: Sequence[Message]) -> None:
    """Write the attempts of sends, in one statement; it must be committed before the mail transfer agent is asked."""
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
        {"id": message.id, "queue_id": queue_id or None, "event": events.event_row(at, _sent_event(message))}
        for message, queue_id in accepted
    ]


def _sent_event(message: Message) -> Event:
    data = {
        "message_id": message.message_id,
        "from": message.from_address,
        "to": message.to_addresses,
        "subject": message.subject,
        "domain": message.domain_name,
    }
    return Event("mail.sent", message.domain_id, message.id, data | _labels(message))


def _labels(message: Message) -> dict[str, Any]:
    """What the sender marked the message with, where it did."""
    labels = {"tags": message.tags, "metadata": message.metadata}
    return {name: value for name, value in labels.items() if value}


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


async def record_outcomes(conn: Conn, at: datetime, fates: Sequence[DeliveryOutcome]) -> list[DeliveryAttempt]:
    """What became of recipients, in order: their rows, their tries, the messages' status, and an event for each, once.

    What a relay took (`relayed`) is no event: its delivery is not known.
    A deferral is told once, at the first (`mail.bounced`, `bounce_type` temporary). The same statements, however many
    fates there are, but for those that follow one another for one recipient. Answers the tries that were news.
    """
    locked = await store.lock_all(conn, {fate.message_id for fate in fates})
    untold = {fate.message_id: fate.queue_id for fate in fates if fate.queue_id}
    accepted = [(locked[each], untold[each]) for each in untold if each in locked and not locked[each].accepted_at]
    if accepted:
        await _accept(conn, at, accepted, "queued", answered=False)
    tries: list[DeliveryAttempt] = []
    told: list[Event] = []
    for group in _split_by_recipient([fate for fate in fates if fate.message_id in locked]):
        numbers = await store.set_outcomes(conn, [_attempt(at, fate, fate.attempts) for fate in group])
        for fate in group:
            number = numbers.get((fate.message_id, fate.address))
            if number is None:
                continue
            tries.append(_attempt(at, fate, number))
            if fate.status in _KINDS and (fate.status != "deferred" or number <= 1):
                told.append(_outcome_event(locked[fate.message_id], fate, number, fate.queue_id))
    if tries:
        await store.insert_attempts(conn, tries)
        await store.update_statuses(conn, {each.message_id for each in tries})
    if told:
        await events.emit_all(conn, at, told)
    return tries


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


def _split_by_recipient(fates: Sequence[DeliveryOutcome]) -> list[list[DeliveryOutcome]]:
    """Fates in groups that have one at most for a recipient; what follows for the same stands in a later group."""
    groups: list[list[DeliveryOutcome]] = []
    places: Counter[tuple[UUID, str]] = Counter()
    for fate in fates:
        place = places[fate.message_id, fate.address]
        if place == len(groups):
            groups.append([])
        groups[place].append(fate)
        places[fate.message_id, fate.address] += 1
    return groups


def _attempt(at: datetime, fate: DeliveryOutcome, number: int | None) -> DeliveryAttempt:
    # Its id is of now: ids rise strictly only while their times do.
    return DeliveryAttempt(
        uuid7(at),
        fate.message_id,
        fate.at or at,
        fate.status,
        fate.address,
        number or 0,
        fate.reply,
        fate.next_attempt_at,
    )


def _outcome_event(message: Message, fate: DeliveryOutcome, number: int, queue_id: str | None) -> Event:
    data = {
        "message_id": message.message_id,
        "from": message.from_address,
        "to": fate.address,
        "domain": message.domain_name,
        "subject": message.subject,
        "queue_id": message.queue_id or queue_id,
        "smtp_code": fate.reply.smtp_code,
        "enhanced_code": fate.reply.enhanced_code,
        "diagnostic": fate.reply.diagnostic,
        "remote_host": fate.reply.remote_host,
        "attempts": number,
    }
    if fate.status in ("bounced", "deferred"):
        data["bounce_type"] = "permanent" if fate.status == "bounced" else "temporary"
    elif fate.status == "failed":
        data["reason"] = fate.reply.diagnostic
    if message.source == "system":
        data["source"] = "system"  # nobody sent it: there was no mail.sent
    return Event(_KINDS[fate.status], message.domain_id, message.id, data | _labels(message))


async def file_all(conn: Conn, at: datetime, found: Sequence[Message], more: Sequence[Event] = ()) -> set[UUID]:
    """File messages that reached their mailboxes, or were refused there (status `rejected`), each once for a (queue
    id, mailbox): one statement, however many. `mail.received` for those that reached it, and what `more` tells of them.
    Answers the ids of those that were not filed before.
    """
    told = [_received_event(message) for message in found if message.status == "received"]
    return await store.file_all(conn, found, [events.event_row(at, event) for event in (*told, *more)], at)


def _received_event(message: Message) -> Event:
    data = {
        "message_id": message.message_id,
        "from": message.from_address,
        "domain": message.domain_name,
        "subject": message.subject,
        "size": message.size,
        "queue_id": message.queue_id,
    }
    return Event("mail.received", message.domain_id, message.id, data)


async def record_rejected(conn: Conn, message: Message) -> None:
    """Keep a row of what was refused at SMTP."""
    await store.insert(conn, [message])


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


def keep_contents(data_dir: Path, contents: Iterable[tuple[UUID, Iterable[bytes]]]) -> None:
    """Write down the contents of messages, to be shown for some days. Blocks: call it in a thread.

    No send or delivery fails by it: what goes wrong (disk full, say) is logged, and the content is not there.
    """
    for message_id, chunks in contents:
        path = content_path(data_dir, message_id)
        part = path.with_suffix(".part")
        try:
            _write(part, chunks)
            part.replace(path)
        except OSError as error:
            log.warning("content is not kept", message=str(message_id), why=str(error))
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    """A new file, and its folder where it is the first of its day."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        opened = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(path, flags, 0o600)
    with open(opened, "wb") as file:  # noqa: PTH123
        file.writelines(chunks)


def keep_file(data_dir: Path, message_id: UUID, file: Path) -> None:
    """`keep_contents` of a file that nobody writes to any more, by a second name for it: it costs no space."""
    path = content_path(data_dir, message_id)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.link(file, path)
    except OSError as error:
        log.warning("content is not kept", message=str(message_id), why=str(error))
