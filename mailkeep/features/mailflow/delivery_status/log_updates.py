"""Applies Postfix's log to the message history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import structlog

from mailkeep.core.counters import Counters
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.delivery_status import rules, store
from mailkeep.features.mailflow.delivery_status.model import (
    LoggedAttempt,
    LogUpdate,
    MissingMessage,
    RetryIntervals,
    TrackedMessage,
)
from mailkeep.features.mailflow.external_copies import service as external_copies
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome, Message, MessageDomain
from mailkeep.mail.postfix import log as postfix_log

log = structlog.get_logger("mailkeep.delivery_status")

_NO_OUTCOME = "The message has left the queue, but the log does not show its outcome"


async def apply_lines(
    conn: Conn,
    at: datetime,
    timed_lines: Sequence[tuple[datetime, postfix_log.LogLine]],
    intervals: RetryIntervals,
    counters: Counters,
) -> set[str]:
    """Apply the lines about sent and forwarded mail; returns the queue IDs of sent mail among them."""
    tracked = await store.find_tracked(conn, _queue_ids(line for _, line in timed_lines))
    if unknown := rules.find_unknown_queue_ids((line for _, line in timed_lines), tracked):
        tracked |= await store.restore_tracked(conn, unknown, at)
    updates = await _attach_messages(conn, at, rules.collect_updates(timed_lines, tracked, intervals))
    updates = [await _hide_attempts(conn, update) for update in updates]
    updates = await _attach_forwarded_messages(conn, at, updates)
    await _record_returned(conn, updates, tracked)
    for source, new in rules.count_new_messages(updates, tracked):
        counters.add("messages_accepted", "outbound", source, times=new)
    open_mail: dict[str, TrackedMessage] = {}
    outcomes: list[DeliveryOutcome] = []
    for update in updates:
        mail = update.mail
        if mail.is_forwarded:
            outcomes += rules.forwarded_outcomes(update)
        elif mail.message_id is not None:
            mail, decided = rules.decide_outcomes(update)
            outcomes += decided
        if update.end is None:
            open_mail[mail.queue_id] = mail
    await _add_recipients(conn, updates)
    if outcomes:
        for attempt in await suppressions.record_outcomes(conn, at, outcomes):
            counters.add("deliveries", "outbound", attempt.kind)
    await messages.record_attempts(conn, [each for update in updates for each in _expanded_attempts(update, at)])
    if on_hold := [message_id for update in updates if update.on_hold for message_id in rules.message_ids(update)]:
        await messages.clear_next_attempts(conn, on_hold)
    await _end_messages(conn, at, [update for update in updates if update.end], counters)
    if ended := tracked.keys() - open_mail.keys():
        await store.delete_tracked(conn, ended)
    if changed := [mail for queue_id, mail in open_mail.items() if tracked.get(queue_id) != mail]:
        await store.save_tracked(conn, changed)
    # Without forwarded mail: the caller records the recipients of incoming mail that was refused.
    return {
        mail.queue_id for mail in [update.mail for update in updates] + list(tracked.values()) if not mail.is_forwarded
    }


async def _record_returned(conn: Conn, updates: Sequence[LogUpdate], tracked: Mapping[str, TrackedMessage]) -> None:
    """Record that Postfix has accepted external copies that the lmtp agent returned."""
    returned: dict[str, str] = {}
    for mail in (update.mail for update in updates if update.mail.origin == "returned"):
        before = tracked.get(mail.queue_id)
        is_new = mail.queue_recipients is not None and (before is None or before.queue_recipients is None)
        if is_new and (marker := mail.head.get(rules.MARKER_FIELD)):
            returned[marker] = mail.queue_id
    if returned:
        await external_copies.record_acceptance(conn, returned)


def _queue_ids(lines: Iterable[postfix_log.LogLine]) -> set[str]:
    """The queue IDs in these lines, also the previous ones of requeued messages."""
    queue_ids: set[str] = set()
    for line in lines:
        if line.queue_id:
            queue_ids.add(line.queue_id)
        if isinstance(line.fact, postfix_log.LoggedPickup) and line.fact.orig_id:
            queue_ids.add(line.fact.orig_id)
    return queue_ids


def _expanded_attempts(update: LogUpdate, at: datetime) -> list[DeliveryAttempt]:
    """The timeline entries of expanded recipients."""
    mail = update.mail
    if mail.message_id is None or rules.is_unexpanded(mail):
        return []
    return [
        DeliveryAttempt(
            uuid7(at), mail.message_id, each.at, each.status, each.recipient, 0, each.reply, each.next_attempt_at
        )
        for each in update.attempts
        if each.recipient != each.original_recipient and not each.is_hidden
    ]


async def _add_recipients(conn: Conn, updates: Sequence[LogUpdate]) -> None:
    """Add the recipients of mail without a known envelope when they appear in the log."""
    for update in updates:
        mail = update.mail
        if update.attempts and mail.message_id and mail.origin == "submission" and not mail.envelope_known:
            recipients = [each.original_recipient for each in update.attempts]
            await messages.add_recipients(conn, mail.message_id, recipients)


async def _hide_attempts(conn: Conn, update: LogUpdate) -> LogUpdate:
    """Mark the attempts behind aliases and forwards that the sender's domain may not see."""
    mail = update.mail
    if mail.is_forwarded or all(each.recipient == each.original_recipient for each in update.attempts):
        return update
    domain = await domains.find_by_name(conn, rules.domain_of(mail.sender))
    visible: dict[str, Collection[str]] = {}
    attempts: list[LoggedAttempt] = []
    for each in update.attempts:
        if each.original_recipient not in visible:
            visible[each.original_recipient] = (
                await routing.list_visible_destinations(conn, each.original_recipient, domain.id) if domain else ()
            )
        is_hidden = (
            each.recipient != each.original_recipient and each.recipient.lower() not in visible[each.original_recipient]
        )
        attempts.append(replace(each, is_hidden=is_hidden))
    return replace(update, attempts=tuple(attempts))


async def _with_forwarding_domains(
    conn: Conn, mail: TrackedMessage, attempts: Sequence[LoggedAttempt]
) -> list[LoggedAttempt]:
    """The attempts for external recipients of incoming mail, each with the domain that forwards it: the one whose alias
    or forward names the recipient. Of a returned copy, the agent has recorded who forwards it.
    """
    if mail.origin == "returned":
        copies = await external_copies.find_returned(conn, mail.head.get(rules.MARKER_FIELD, ""))
        return [
            replace(each, original_recipient=copy.original, forwarding_domain=copy.domain_name)
            if (copy := copies.get(each.recipient))
            else replace(each, forwarding_domain="")
            for each in attempts
        ]
    if mail.origin != "inbound":
        return list(attempts)
    return [
        each
        if each.recipient == each.original_recipient
        else replace(
            each, forwarding_domain=await routing.find_forwarding_domain(conn, each.original_recipient, each.recipient)
        )
        for each in attempts
    ]


async def _attach_forwarded_messages(conn: Conn, at: datetime, updates: Sequence[LogUpdate]) -> list[LogUpdate]:
    """The updates; of forwarded mail only the external attempts, with a message for each forwarding domain."""
    managed: dict[str, Domain | None] = {}

    async def find_domain(name: str) -> Domain | None:
        if name not in managed:
            managed[name] = await domains.find_by_name(conn, name)
        return managed[name]

    attached: list[LogUpdate] = []
    new: list[Message] = []
    for update in updates:
        if not update.mail.is_forwarded or not update.attempts:
            attached.append(update)
            continue
        # While the mailboxes are unavailable, other services than the LMTP client log the attempts for them.
        attempts = [
            each for each in update.attempts if each.is_remote or not await find_domain(rules.domain_of(each.recipient))
        ]
        attempts = await _with_forwarding_domains(conn, update.mail, attempts)
        rows = dict(update.mail.forwarded_messages)
        for name, recipients in rules.recipients_by_forwarding_domain(update.mail, attempts).items():
            if name in rows:
                await messages.add_recipients(conn, rows[name], recipients)
            else:
                domain = await find_domain(name)
                row_domain = MessageDomain(domain.id if domain else None, name)
                new.append(rules.build_forwarded_message(at, update.mail, attempts, recipients, row_domain))
                rows[name] = new[-1].id
        attached.append(replace(update, mail=replace(update.mail, forwarded_messages=rows), attempts=tuple(attempts)))
    if new:
        await messages.insert_messages(conn, new)
    return attached


async def _attach_messages(conn: Conn, at: datetime, updates: Sequence[LogUpdate]) -> list[LogUpdate]:
    """Attach messages to the updates with a line of qmgr, and mark them as accepted (`mail.sent`).

    Unknown messages on the API's port are not tracked any further.
    """
    unattached = [each for each in updates if each.mail.message_id is None and each.mail.queue_recipients is not None]
    unattached = [each for each in unattached if each.end != "refused"]
    sent = await _find_api_messages(conn, [each.mail for each in unattached if each.mail.origin == "api"])
    submitted, envelopes = await _create_submitted_messages(
        conn, at, [each for each in unattached if each.mail.origin == "submission"]
    )
    if sent:
        changed = [each.mail.message_id for each in updates if each.mail.message_id and (each.attempts or each.end)]
        await messages.lock(conn, [*changed, *(message.id for message in sent.values())])
        await messages.accept_from_log(conn, at, [(message, queue_id) for queue_id, message in sent.items()])
    by_queue_id = sent | submitted
    attached: list[LogUpdate] = []
    for update in updates:
        mail = update.mail
        if message := by_queue_id.get(mail.queue_id):
            is_complete = mail.origin == "api" or mail.queue_id in envelopes
            submitted = sum(each.suppression is None for each in message.recipients)
            recipients = submitted if is_complete else mail.queue_recipients or 0
            mail = replace(mail, message_id=message.id, original_recipients=recipients, envelope_known=is_complete)
            attached.append(replace(update, mail=mail))
        elif mail.origin == "api" and mail.message_id is None and mail.queue_recipients is not None:
            attached.append(replace(update, end="refused", attempts=()))
        else:
            attached.append(update)
    return attached


async def _find_api_messages(conn: Conn, mails: Sequence[TrackedMessage]) -> dict[str, Message]:
    """The attempts of mail from the API's port, by queue ID; the Message-ID must match."""
    ids = {mail.queue_id: rules.sent_message_id(mail) for mail in mails}
    attempts = await messages.find_all(conn, [each for each in ids.values() if each]) if any(ids.values()) else []
    by_id = {message.id: message for message in attempts if message.direction == "outbound"}
    return {
        mail.queue_id: message
        for mail in mails
        if (attempt_id := ids[mail.queue_id])
        and (message := by_id.get(attempt_id))
        and message.message_id == mail.header_id
    }


async def _create_submitted_messages(
    conn: Conn, at: datetime, updates: Sequence[LogUpdate]
) -> tuple[dict[str, Message], Collection[str]]:
    """Record submitted messages as accepted. Returns them by queue ID, and the queue IDs with a known
    envelope. A message without an envelope is created with the first line about a recipient.
    """
    if not updates:
        return {}, ()
    envelopes = await store.accept_envelopes(conn, [update.mail.queue_id for update in updates], at)
    created: dict[str, Message] = {}
    for update in updates:
        mail, envelope = update.mail, envelopes.get(update.mail.queue_id)
        if envelope and envelope.message:
            created[mail.queue_id] = replace(envelope.message, size=mail.size)
            continue
        recipients = (
            envelope.recipients
            if envelope
            else list(dict.fromkeys(each.original_recipient for each in update.attempts))
        )
        if recipients:
            domain = await domains.find_by_name(conn, rules.domain_of(mail.sender))
            created[mail.queue_id] = rules.build_submitted_message(at, mail, recipients, domain)
    if created:
        await messages.insert_messages(conn, list(created.values()))
        await messages.accept(conn, at, [(each, queue_id) for queue_id, each in created.items()], status="queued")
    return created, envelopes.keys()


async def _end_messages(conn: Conn, at: datetime, updates: Sequence[LogUpdate], counters: Counters) -> None:
    """End the open recipients of messages that left the queue: `failed` if given up or deleted, else `unknown`."""
    ended = [(update, message_id) for update in updates for message_id in rules.message_ids(update)]
    if not ended:
        return
    open_recipients = await messages.list_open_recipients(conn, [message_id for _, message_id in ended])
    failed: list[DeliveryOutcome] = []
    for update, message_id in ended:
        recipients = open_recipients.get(message_id, [])
        if not recipients:
            continue
        if outcomes := rules.final_outcomes(update, message_id, at, recipients):
            failed += outcomes
        else:
            lost = MissingMessage(message_id, update.mail.queue_id)
            counters.add("deliveries", "outbound", "unknown", times=await end_unknown(conn, at, lost, _NO_OUTCOME))
    if failed:
        for attempt in await suppressions.record_outcomes(conn, at, failed):
            counters.add("deliveries", "outbound", attempt.kind)


async def end_unknown(conn: Conn, at: datetime, lost: MissingMessage, why: str) -> int:
    """End the open recipients of a message as `unknown` and publish an alert; returns their number. Mail of Mailkeep
    itself is neither counted nor the subject of an alert, which may be such a mail.
    """
    addresses = await messages.end_unknown(conn, at, lost.id, why)
    message = await messages.find(conn, lost.id)
    if not addresses or message is None:
        return 0
    log.warning("the outcome of a message is unknown", queue_id=lost.queue_id, why=why)
    if message.source == "mailkeep":
        return 0
    alert = SystemAlert(
        alert="outcome_unknown",
        message_id=message.message_id,
        from_=message.from_address,
        to=addresses,
        domain=message.domain_name,
        subject=message.subject,
        queue_id=lost.queue_id,
        reason=why,
    )
    await events.emit(conn, at, Event(message.domain_id, message.id, alert))
    return len(addresses)
