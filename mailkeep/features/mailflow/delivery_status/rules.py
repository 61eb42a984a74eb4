"""From log lines to delivery outcomes; the result does not depend on how the log is split into pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.address import AddressError, normalize_domain, parse_address
from mailkeep.core.ids import parse_uuid
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.delivery_status.model import (
    AttemptStatus,
    ExpandedRecipient,
    LoggedAttempt,
    LogUpdate,
    Origin,
    QueueExit,
    RetryIntervals,
    SubmissionEnvelope,
    TrackedMessage,
)
from mailkeep.features.mailflow.external_copies import model as external_copies
from mailkeep.features.mailflow.receiving.model import RejectedRecipient
from mailkeep.features.mailflow.sending import writes
from mailkeep.features.record.messages.model import (
    DeliveryOutcome,
    HeaderSummary,
    Message,
    MessageDomain,
    ServerReply,
    Source,
)
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.daemons.probe_mailbox import SMTP_CLIENTS, is_probe
from mailkeep.mail.message.header_text import decode_words, parse_addresses
from mailkeep.mail.postfix import log

# By the last component of each port's `syslog_name` in master.cf.
_ORIGINS: dict[str, Origin] = {
    "api": "api",
    "system": "api",  # mail of Mailkeep itself, which has attempts and Message-IDs like mail of the API
    "submission": "submission",
    "submissions": "submission",
}
# By the last component of `syslog_name` of the cleanup services behind the other ports. Their smtpd services are not
# used, since they also log connections without a message.
_FORWARDING_ORIGINS: dict[str, Origin] = {"inbound": "inbound", "reinjection": "reinjection", "returned": "returned"}
_OTHER_SERVERS = ("mx", "smtp", "postfix", "inbound")
_STATUSES: dict[log.Status, AttemptStatus] = {"sent": "delivered", "deferred": "deferred", "bounced": "bounced"}
MARKER_FIELD = external_copies.MARKER_FIELD.lower()
_STORED_FIELDS = ("from", "to", "cc", "subject", "received", MARKER_FIELD)
# The first Received field of a message of `mailflow/sendmail`.
_SENDMAIL_RECEIVED = re.compile(r"by \S+ \(Mailkeep\) with local id ([0-9a-f-]{36});.*")
_BEST_FIRST = ("delivered", "relayed", "bounced", "deferred")
# The service that delivers to the process `relay` (master.cf, smarthost).
_RELAY = "relay"
DELETED = ServerReply(diagnostic="Deleted from the queue by an operator")
EXPIRED = ServerReply(diagnostic="Delivery time expired")  # RFC 3463 §3.5, X.4.7


def sent_message_id(mail: TrackedMessage) -> UUID | None:
    """The ID of the attempt of a message from the API's port: from its Received field, else from its Message-ID."""
    if received := _SENDMAIL_RECEIVED.fullmatch(mail.head.get("received", "")):
        return parse_uuid(received[1])
    return parse_uuid(mail.header_id[1:].partition("@")[0])


def origin_of(service: str) -> Origin | None:
    """The origin of mail on a service: the API's port, or mail clients'; None for any other."""
    return _ORIGINS.get(service.rpartition("/")[2])


def restore_sender(line: log.LogLine, original: Callable[[str], str | None]) -> log.LogLine:
    """A line with the original sender, if Postfix uses a rewritten one (`mail/message/srs`)."""
    fact = line.fact
    if isinstance(fact, log.LoggedAcceptance | log.LoggedRejection) and (sender := original(fact.sender)):
        return replace(line, fact=replace(fact, sender=sender))
    return line


def is_refused_at_end(line: log.LogLine) -> bool:
    """Whether the filter refused the message at the end of its data, after it was counted."""
    return isinstance(line.fact, log.LoggedRejection) and line.fact.stage == "END-OF-MESSAGE"


def submission_charges(envelopes: Iterable[SubmissionEnvelope]) -> list[tuple[datetime, SendCharge]]:
    """The charges that were counted for these messages, each with its time."""
    charges: list[tuple[datetime, SendCharge]] = []
    for each in envelopes:
        if each.message is not None:
            charges.append(writes.api_attempt(each.message).count)
            continue
        mailbox = parse_address(each.login)
        sender = parse_address(each.sender) if each.sender else mailbox
        charges.append((each.created_at, SendCharge(mailbox, None, len(each.recipients), written=sender)))
    return charges


def rejection(line: log.LogLine) -> RejectedRecipient | None:
    """The rejected recipient of another server's mail; None for any other line, and for our own probe."""
    fact = line.fact
    if not isinstance(fact, log.LoggedRejection) or not fact.recipient:
        return None
    service = line.service.rpartition("/")[2]
    if service not in _OTHER_SERVERS or (is_probe(fact.recipient) and fact.client in SMTP_CLIENTS.values()):
        return None
    return RejectedRecipient(fact.client, fact.sender, fact.recipient, fact.smtp_code, fact.enhanced_code, fact.text)


def next_attempt_time(at: datetime, seconds: float, intervals: RetryIntervals) -> datetime:
    """The earliest time of the next attempt after a deferral at `at`, `seconds` after the arrival of the message.

    Postfix's queue manager waits as long as the message has waited already, within the two intervals. It scans the
    queue every `queue_run_delay`.
    """
    return at + min(max(timedelta(seconds=seconds), intervals.minimum), intervals.maximum)


def collect_updates(
    lines: Iterable[tuple[datetime, log.LogLine]], tracked: Mapping[str, TrackedMessage], intervals: RetryIntervals
) -> list[LogUpdate]:
    """The updates in timed log lines, one for each message, in the order of their first lines."""
    updates = {queue_id: LogUpdate(mail) for queue_id, mail in tracked.items()}
    changed: dict[str, None] = {}
    for at, line in lines:
        queue_id = line.queue_id
        if queue_id is None:
            continue
        update = _start_update(updates, at, line) or updates.get(queue_id)
        if update is None:
            continue
        updates[queue_id] = _apply_line(update, at, line, intervals)
        changed[queue_id] = None
    # A requeued message has left `updates` under its old queue ID.
    return [updates[queue_id] for queue_id in changed if queue_id in updates]


def find_unknown_queue_ids(lines: Iterable[log.LogLine], tracked: Container[str]) -> set[str]:
    """The queue IDs without their first lines: the message is neither in `tracked` nor begun by these lines.

    Postfix generated the message itself, or its first lines were lost.
    """
    unknown: set[str] = set()
    checked: set[str] = set()
    for line in lines:
        queue_id = line.queue_id
        if queue_id is None or queue_id in checked or queue_id in tracked:
            continue
        checked.add(queue_id)
        if isinstance(line.fact, log.LoggedAcceptance | log.PostfixAttempt | log.LoggedExpiry | log.LoggedRemoval):
            unknown.add(queue_id)
    return unknown


def _start_update(updates: dict[str, LogUpdate], at: datetime, line: log.LogLine) -> LogUpdate | None:
    """The update of a message that arrives with this line, or gets another queue ID."""
    queue_id, fact = line.queue_id, line.fact
    assert queue_id is not None
    if isinstance(fact, log.LoggedClient):
        origin = origin_of(line.service)
        return LogUpdate(TrackedMessage(queue_id, origin, at, fact.login)) if origin else None
    if isinstance(fact, log.LoggedMessageId | log.LoggedHeader) and queue_id not in updates:
        origin = _FORWARDING_ORIGINS.get(line.service.rpartition("/")[2])
        return LogUpdate(TrackedMessage(queue_id, origin, at)) if origin else None
    if isinstance(fact, log.LoggedPickup) and fact.orig_id in updates:
        before = updates.pop(fact.orig_id)
        return replace(before, mail=replace(before.mail, queue_id=queue_id, first_seen_at=at))
    return None


def _apply_line(update: LogUpdate, at: datetime, line: log.LogLine, intervals: RetryIntervals) -> LogUpdate:
    mail, fact = update.mail, line.fact
    match fact:
        case log.LoggedMessageId():
            # A requeued message logs the same ID again.
            return replace(update, mail=replace(mail, header_id=mail.header_id or fact.text))
        case log.LoggedHeader():
            name = fact.name.lower()
            if name not in _STORED_FIELDS or name in mail.head:
                return update
            return replace(update, mail=replace(mail, head={**mail.head, name: fact.value}))
        case log.LoggedAcceptance():
            if mail.queue_recipients is not None:
                return update
            return replace(
                update, mail=replace(mail, sender=fact.sender, size=fact.size, queue_recipients=fact.recipients)
            )
        case log.PostfixAttempt():
            if mail.is_forwarded and line.program == "lmtp" and not _is_relay(line):
                return update  # `local_delivery` records it
            if mail.is_forwarded and is_probe(fact.recipient):
                return update
            attempts = (*update.attempts, _read_attempt(at, line, fact, intervals))
            return replace(update, attempts=attempts, on_hold=False)
        case log.LoggedMove():
            return replace(update, on_hold=fact.to == "hold")
        case log.LoggedExpiry() | log.LoggedRemoval():
            return replace(update, end=update.end or _queue_exit(fact))
        case log.LoggedRejection():
            return replace(update, end="refused") if fact.stage == "END-OF-MESSAGE" else update
        case _:
            return update


def _queue_exit(fact: log.LoggedExpiry | log.LoggedRemoval) -> QueueExit:
    if isinstance(fact, log.LoggedExpiry):
        return "expired"
    return "deleted" if fact.by == "postsuper" else "done"


def _is_relay(line: log.LogLine) -> bool:
    return line.service.rpartition("/")[2] == _RELAY


def _read_attempt(
    at: datetime, line: log.LogLine, fact: log.PostfixAttempt, intervals: RetryIntervals
) -> LoggedAttempt:
    reply = ServerReply(fact.smtp_code, fact.enhanced_code, fact.text, fact.remote_host)
    next_at = next_attempt_time(at, fact.seconds, intervals) if fact.status == "deferred" else None
    by_relay = _is_relay(line)
    status = "relayed" if by_relay and fact.status == "sent" else _STATUSES[fact.status]
    to_server = by_relay or line.program in ("smtp", "relay")
    return LoggedAttempt(
        fact.orig_to or fact.recipient, fact.recipient, status, reply, at, next_at, is_remote=to_server
    )


def is_unexpanded(mail: TrackedMessage) -> bool:
    """Whether each recipient is one entry in the queue: none is an alias with several destinations."""
    return mail.queue_recipients == mail.original_recipients


def decide_outcomes(update: LogUpdate) -> tuple[TrackedMessage, list[DeliveryOutcome]]:
    """The outcomes that an update decides for the recipients of the message, in order; and the message after it."""
    mail, message_id = update.mail, update.mail.message_id
    assert message_id is not None
    if is_unexpanded(mail):
        return mail, [_outcome(mail, message_id, each.original_recipient, each) for each in update.attempts]
    outcomes: list[DeliveryOutcome] = []
    for each in update.attempts:
        mail, outcome = _record_expansion(mail, message_id, each)
        outcomes += [outcome] if outcome else []
    if update.end or len(mail.expanded_recipients) == mail.queue_recipients:
        mail, decided = _decide_aliases(mail, message_id)
        outcomes += decided
    return mail, outcomes


def _record_expansion(
    mail: TrackedMessage, message_id: UUID, attempt: LoggedAttempt
) -> tuple[TrackedMessage, DeliveryOutcome | None]:
    """Record an attempt for an expanded recipient. The first deferral is also the outcome of the alias."""
    by_key = {_expansion_key(each.last_attempt): each for each in mail.expanded_recipients}
    first = attempt.status == "deferred" and all(
        each.last_attempt.original_recipient != attempt.original_recipient for each in mail.expanded_recipients
    )
    before = by_key.pop(_expansion_key(attempt), None)
    expanded = ExpandedRecipient(attempt, before.attempts + 1 if before else 1)
    mail = replace(mail, expanded_recipients=(*by_key.values(), expanded))
    return mail, _outcome(mail, message_id, attempt.original_recipient, attempt) if first else None


def _decide_aliases(mail: TrackedMessage, message_id: UUID) -> tuple[TrackedMessage, list[DeliveryOutcome]]:
    """Decide the outcome of each alias whose expanded recipients have all ended."""
    by_recipient: dict[str, list[LoggedAttempt]] = {}
    for each in mail.expanded_recipients:
        by_recipient.setdefault(each.last_attempt.original_recipient, []).append(each.last_attempt)
    outcomes: list[DeliveryOutcome] = []
    for recipient, attempts in by_recipient.items():
        if recipient not in mail.decided_aliases and all(each.status != "deferred" for each in attempts):
            best = min(attempts, key=lambda each: _BEST_FIRST.index(each.status))
            outcomes.append(_outcome(mail, message_id, recipient, best))
    return replace(mail, decided_aliases=(*mail.decided_aliases, *(outcome.address for outcome in outcomes))), outcomes


def _expansion_key(attempt: LoggedAttempt) -> tuple[str, str]:
    return attempt.original_recipient, attempt.recipient


def _outcome(mail: TrackedMessage, message_id: UUID, recipient: str, attempt: LoggedAttempt) -> DeliveryOutcome:
    reply = replace(attempt.reply, diagnostic=None, remote_host=None) if attempt.is_hidden else attempt.reply
    return DeliveryOutcome(
        message_id, recipient, attempt.status, None, reply, attempt.next_attempt_at, mail.queue_id, attempt.at
    )


def forwarded_outcomes(update: LogUpdate) -> list[DeliveryOutcome]:
    """The outcomes of the external recipients of forwarded mail, in order; their messages are known."""
    mail = update.mail
    return [
        _outcome(mail, mail.forwarded_messages[forwarding_domain(mail, each)], each.recipient, each)
        for each in update.attempts
    ]


def forwarding_domain(mail: TrackedMessage, attempt: LoggedAttempt) -> str:
    """The name of the domain that forwards mail to a recipient: that of the alias or of the mailbox.

    Mail that Dovecot submits is from a mailbox: its sender, or From for replies with the null sender (RFC 5230 §5.1).
    """
    if mail.origin in ("inbound", "returned"):
        return domain_of(attempt.original_recipient) if attempt.forwarding_domain is None else attempt.forwarding_domain
    return domain_of(mail.sender or from_address(mail))


def from_address(mail: TrackedMessage) -> str:
    """The address of the From field, else the sender."""
    return next((each.email for each in parse_addresses(mail.head.get("from", ""))), mail.sender)


def domain_of(address: str) -> str:
    """The domain of an address, as A-labels if it is a domain name."""
    domain = address.rpartition("@")[2]
    try:
        return normalize_domain(domain)
    except AddressError:
        return domain.lower()


def recipients_by_forwarding_domain(mail: TrackedMessage, attempts: Iterable[LoggedAttempt]) -> dict[str, list[str]]:
    """The external recipients, each once, by the name of their forwarding domain."""
    by_domain: dict[str, dict[str, None]] = {}
    for each in attempts:
        by_domain.setdefault(forwarding_domain(mail, each), {})[each.recipient] = None
    return {name: list(recipients) for name, recipients in by_domain.items()}


def build_submitted_message(
    at: datetime, mail: TrackedMessage, recipients: Sequence[str], domain: Domain | None
) -> Message:
    """The history's row of a message that a mail client submitted, not yet accepted; `domain` is the sender's."""
    to, cc = ([each.email for each in parse_addresses(mail.head.get(field, ""))] for field in ("to", "cc"))
    row_domain = MessageDomain(domain.id if domain else None, domain_of(mail.sender))
    header = _header(mail, to or ([] if cc else list(recipients)), cc)
    return outbound_message(at, "smtp", row_domain, header, mail.sender, recipients)


def build_forwarded_message(
    at: datetime,
    mail: TrackedMessage,
    attempts: Iterable[LoggedAttempt],
    recipients: Sequence[str],
    domain: MessageDomain,
) -> Message:
    """The history's row of a message that a domain forwards to external recipients: accepted, with the queue ID and the
    Message-ID of the incoming message, to the addresses that lead there.
    """
    to = [
        each.original_recipient
        for each in attempts
        if each.recipient in recipients and forwarding_domain(mail, each) == domain.name
    ]
    row = outbound_message(at, "system", domain, _header(mail, list(dict.fromkeys(to)), []), mail.sender, recipients)
    queued = [replace(each, status="queued") for each in row.recipients]
    return replace(row, queue_id=mail.queue_id, status="queued", accepted_at=at, recipients=queued)


def _header(mail: TrackedMessage, to: list[str], cc: list[str]) -> HeaderSummary:
    subject = decode_words(mail.head.get("subject", ""))
    return HeaderSummary(mail.header_id, from_address(mail), to, cc, subject, mail.size)


def count_new_messages(
    updates: Iterable[LogUpdate], tracked: Mapping[str, TrackedMessage]
) -> Iterator[tuple[Source, int]]:
    """The number of messages created for each update, with their source; the API creates its own."""
    for update in updates:
        mail, before = update.mail, tracked.get(update.mail.queue_id)
        if mail.origin == "submission" and mail.message_id and not (before and before.message_id):
            yield "smtp", 1
        elif mail.is_forwarded:
            yield "system", len(mail.forwarded_messages) - (len(before.forwarded_messages) if before else 0)


def message_ids(update: LogUpdate) -> list[UUID]:
    """The IDs of the messages of an update."""
    own = update.mail.message_id
    return [*([own] if own else []), *update.mail.forwarded_messages.values()]


def final_outcomes(
    update: LogUpdate, message_id: UUID, at: datetime, open_recipients: Sequence[tuple[str, ServerReply]]
) -> list[DeliveryOutcome]:
    """The outcomes of open recipients when the queue gives a message up or an operator deletes it; else empty.

    `open_recipients`: their addresses with the last replies.
    """
    if update.end not in ("expired", "deleted"):
        return []
    outcomes: list[DeliveryOutcome] = []
    for address, last_reply in open_recipients:
        reply = DELETED if update.end == "deleted" else (last_reply if last_reply.diagnostic else EXPIRED)
        outcomes.append(DeliveryOutcome(message_id, address, "failed", None, reply, None, update.mail.queue_id, at))
    return outcomes
