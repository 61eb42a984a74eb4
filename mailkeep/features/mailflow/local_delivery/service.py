"""Delivers messages to Dovecot and records in the history what it accepts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID
from weakref import WeakValueDictionary

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import unquote_local_part
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.bounce_reports import service as bounce_reports
from mailkeep.features.mailflow.external_copies import service as external_copies
from mailkeep.features.mailflow.external_copies.model import DivertedMail, ExternalRecipient, SubmitCopies
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.local_delivery import rules, store
from mailkeep.features.mailflow.local_delivery.journal import Journal
from mailkeep.features.mailflow.local_delivery.model import FilterResult, LmtpDelivery, LmtpRecipient, LocalMailbox
from mailkeep.features.mailflow.receiving import rejections, service as receiving
from mailkeep.features.mailflow.receiving.model import (
    InboundMail,
    MailboxCopy,
    RejectedRecipient,
    SpamVerdict,
    TargetMailbox,
)
from mailkeep.features.mailflow.receiving.rules import HAM, arrived_mail
from mailkeep.features.mailflow.reports import service as reports_feature
from mailkeep.features.record.messages.content import save_contents
from mailkeep.features.record.messages.model import Message, Recipient, ServerReply
from mailkeep.jobs.batches import BatchWriter
from mailkeep.mail.daemons.probe_mailbox import is_probe
from mailkeep.mail.smtp.connection import ConnectionLost, SmtpRefusal
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.inbox")

Handover = Callable[[Sequence[str], float | None, SpamVerdict | None], Awaitable[list[SmtpReply]]]
"""Passes the message with this verdict to Dovecot for these addresses; returns a reply for each. Raises
`ConnectionLost`, `SmtpRefusal`.

With a time (seconds since 1970), Dovecot drops the copy for a mailbox that has one from an attempt then or later.
"""

ReportUsage = Callable[[UUID, int], None]
"""Called with the mailbox and the size in bytes of a message that Dovecot accepted. It must not block."""

_MAX_BATCH = 100  # deliveries recorded by one transaction
_MIN_INTERVAL = 0.01  # seconds between transactions
_DISCARDED = SmtpReply(250, "2.0.0", "Refused by the mailbox; discarded without a bounce")
_REPORT = SmtpReply(250, "2.0.0", "Report received")
_DELIVERED = SmtpReply(250, "2.0.0", "Already delivered")
_STAGES_BEFORE_CONTENT = ("connect", "greeting", "ehlo", "envelope")


@dataclass(slots=True)
class DeliveryRecorder:
    """Records deliveries in the history; concurrent ones are written in one batch."""

    app: App
    report_usage: ReportUsage
    journal: Journal
    hits: HitCounter
    started_at: datetime
    _batch: BatchWriter[LmtpDelivery, None] = field(init=False)
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def __post_init__(self) -> None:
        self._batch = BatchWriter(
            partial(_record_batch, self.app), max_batch=_MAX_BATCH, min_interval=_MIN_INTERVAL, retry_singly=True
        )

    def lock(self, queue_id: str) -> asyncio.Lock:
        """The lock of a message: Postfix may retry while an abandoned attempt is still running."""
        return self._locks.setdefault(queue_id, asyncio.Lock())

    async def record(self, delivery: LmtpDelivery) -> None:
        """Record a delivery; it is committed on return. Raises `Unavailable`."""
        await self._batch.add(delivery)


async def deliver(
    app: App,
    recorder: DeliveryRecorder,
    mail: InboundMail,
    recipients: Sequence[LmtpRecipient],
    hand_over: Handover,
    return_copies: SubmitCopies,
) -> list[SmtpReply]:
    """Deliver a message to its mailboxes, and record it. Returns Dovecot's reply for each recipient, in order. External
    copies of a diverted message are returned to Postfix (`external_copies`).

    If Dovecot permanently refuses mail of another server (a full mailbox), the message is recorded as rejected, and the
    reply is 250: Postfix sends no bounce. For a bounce address, the report is applied instead.

    Raises `Unavailable`, `ConnectionLost` or `SmtpRefusal`: Postfix must retry,
    although Dovecot may have the message.
    """
    if all(is_probe(each.address) for each in recipients):
        return await hand_over([each.address for each in recipients], None, None)  # it leaves no trace
    async with recorder.lock(mail.queue_id):
        reports = {each.address for each in recipients if bounce_reports.is_bounce_address(each.address)}
        for address in sorted(reports):
            await bounce_reports.receive(
                app, address, mail.content, from_other_server=mail.source == "smtp", author=rules.proved_author(mail)
            )
        others = [each for each in recipients if each.address not in reports]
        replies = iter(await _deliver(app, recorder, mail, others, hand_over, return_copies) if others else ())
        return [_REPORT if each.address in reports else next(replies) for each in recipients]


async def _deliver(
    app: App,
    recorder: DeliveryRecorder,
    mail: InboundMail,
    recipients: Sequence[LmtpRecipient],
    hand_over: Handover,
    return_copies: SubmitCopies,
) -> list[SmtpReply]:
    result = rules.read_result(mail)
    mailboxes = await _find_mailboxes(app, mail.queue_id, recipients, result)
    recorder.journal.end(mail.queue_id, [each.target.mailbox_id for each in mailboxes.values() if each.recorded])
    delivery = _Delivery(app, recorder, mail, rules.read_auth(mail.head), hand_over)
    groups: dict[SpamVerdict | None, list[LocalMailbox]] = {}
    for each in recipients:
        mailbox = mailboxes.get(each.address)
        if mailbox and mailbox.domain_active and not mailbox.recorded and delivery.add(mailbox.target, each):
            verdict = rules.judge(mailbox.policy, result) if result else None
            groups.setdefault(verdict, []).append(mailbox)
    # One after the other, each recorded: after a crash between two, the first is not delivered again.
    for verdict, group in groups.items():
        await delivery.deliver(verdict, [each.target.mailbox_id for each in group])
    others = [each for each in recipients if each.address not in mailboxes]
    reports = [each for each in others if reports_feature.is_report_address(app, each.address)]
    report_reply = await _accept_reports(app, mail, reports) if reports else None
    replies = dict.fromkeys(reports, report_reply) if report_reply else {}
    others = [each for each in others if each not in replies]
    entry_ids = {verdict.decided_by.entry_id for verdict in groups if verdict and verdict.decided_by}
    if others and mail.source == "smtp":
        removed = await _record_removed_mailboxes(app, mail, others)
        replies |= dict.fromkeys(removed, _DISCARDED)
        if result and result.is_diverted and (external := [each for each in others if each not in removed]):
            forwarded, deciding = await _forward(app, recorder, mail, result, external, return_copies)
            replies |= forwarded
            entry_ids |= deciding
    for entry_id in entry_ids:
        recorder.hits.count(entry_id)
    return [replies.get(each) or _reply(mail, mailboxes.get(each.address), delivery.replies) for each in recipients]


async def _forward(
    app: App,
    recorder: DeliveryRecorder,
    mail: InboundMail,
    result: FilterResult,
    recipients: Sequence[LmtpRecipient],
    return_copies: SubmitCopies,
) -> tuple[dict[LmtpRecipient, SmtpReply], set[UUID]]:
    """Decide about external copies; returns the reply for each recipient, and the list entries that decided."""
    diverted = DivertedMail(mail, result.facts, lambda policy: rules.judge(policy, result), return_copies)
    keys = {each: ExternalRecipient(each.address, each.original) for each in recipients}
    outcome = await external_copies.forward(app, diverted, list(keys.values()), recorder.started_at)
    return {each: outcome.replies[key] for each, key in keys.items()}, outcome.entry_ids


@dataclass(slots=True)
class _Delivery:
    """The delivery of a message to mailboxes: who they are, and Dovecot's replies so far, by mailbox ID."""

    app: App
    recorder: DeliveryRecorder
    mail: InboundMail
    auth: Mapping[str, str]
    hand_over: Handover
    replies: dict[UUID, SmtpReply] = field(default_factory=dict[UUID, SmtpReply])
    _targets: dict[UUID, TargetMailbox] = field(default_factory=dict[UUID, TargetMailbox])
    _recipients: dict[UUID, list[LmtpRecipient]] = field(default_factory=dict[UUID, list[LmtpRecipient]])

    def add(self, target: TargetMailbox, recipient: LmtpRecipient) -> bool:
        """Add a recipient of a mailbox; returns whether it is its first."""
        self._targets[target.mailbox_id] = target
        recipients = self._recipients.setdefault(target.mailbox_id, [])
        recipients.append(recipient)
        return len(recipients) == 1

    async def deliver(self, verdict: SpamVerdict | None, mailbox_ids: Sequence[UUID]) -> None:
        """Deliver the copies of some mailboxes, which have the same verdict, and record them. Raises as `deliver`."""
        mail, recorder, journal = self.mail, self.recorder, self.recorder.journal
        addresses = {mailbox_id: self._recipients[mailbox_id][0].address for mailbox_id in mailbox_ids}
        try:
            answers = await _hand_over(journal, mail, addresses, partial(self._pass_on, verdict))
            replies = {mailbox_id: rules.defer_if_full(mail, answer) for mailbox_id, answer in answers.items()}
            for mailbox_id, reply in replies.items():
                if reply.is_positive:
                    recorder.report_usage(mailbox_id, mail.size)
            failpoint.reach("lmtp.handed_over")
            targets = {mailbox_id: self._targets[mailbox_id] for mailbox_id in mailbox_ids}
            originals = {
                mailbox_id: [each.original for each in self._recipients[mailbox_id]] for mailbox_id in mailbox_ids
            }
            delivery = LmtpDelivery(mail, verdict, self.auth, targets, originals, replies, None)
            await _record(self.app, recorder, delivery)
            failpoint.reach("lmtp.recorded")
            # A temporary reply is no result: Dovecot may answer 421 (shutting down) for a message that it has saved.
            with_result = [mailbox for mailbox, answer in answers.items() if answer.is_positive or answer.is_permanent]
            journal.end(mail.queue_id, with_result)
        finally:
            journal.abandon(mail.queue_id, mailbox_ids)
        self.replies |= replies

    async def _pass_on(
        self, verdict: SpamVerdict | None, addresses: Sequence[str], since: float | None
    ) -> list[SmtpReply]:
        return await self.hand_over(addresses, since, verdict)


async def _accept_reports(app: App, mail: InboundMail, recipients: Sequence[LmtpRecipient]) -> SmtpReply:
    """Store a message to report addresses; the reply for them."""
    addresses = [each.original for each in recipients]
    auth = dict(rules.read_auth(mail.head))
    reply = await reports_feature.accept_mail(app, arrived_mail(mail, addresses, rules.proved_domain(mail), auth))
    # As for mailboxes: no bounce for mail of other servers.
    return _DISCARDED if reply.is_permanent and mail.source == "smtp" else reply


async def _record_removed_mailboxes(
    app: App, mail: InboundMail, recipients: Sequence[LmtpRecipient]
) -> set[LmtpRecipient]:
    """Record recipients whose mailboxes were removed after Postfix accepted the message; returns them. The domains of
    the others are not managed.
    """
    reply, at = receiving.smtp_reply("unknown_user"), app.clock()
    async with app.db.tx() as conn:
        names = {each.address.rpartition("@")[2] for each in recipients}
        managed = {name for name in names if await domains.find_by_name(conn, name)}
        removed = {each for each in recipients if each.address.rpartition("@")[2] in managed}
        rows = [
            RejectedRecipient("", mail.mail_from, each.original, reply.code, reply.enhanced, reply.text)
            for each in recipients
            if each in removed
        ]
        if rows:
            await rejections.record_rejections(conn, [(at, row) for row in rows])
    return removed


async def _hand_over(
    journal: Journal,
    mail: InboundMail,
    addresses: Mapping[UUID, str],
    hand_over: Callable[[Sequence[str], float | None], Awaitable[list[SmtpReply]]],
) -> dict[UUID, SmtpReply]:
    """Pass the message to Dovecot; returns its reply for each mailbox. Raises as `Handover` does, and `Unavailable`."""
    uncertain = journal.begin(mail.queue_id, addresses, rules.read_arrival_time(mail.head))
    if uncertain:
        log.info("a message is delivered again: Dovecot may have it from an earlier attempt", queue_id=mail.queue_id)
        await asyncio.sleep(uncertain.not_before - time.monotonic())
    try:
        replies = await hand_over(list(addresses.values()), uncertain.since if uncertain else None)
    except (ConnectionLost, SmtpRefusal) as failure:
        if failure.stage in _STAGES_BEFORE_CONTENT and not uncertain:
            journal.end(mail.queue_id, addresses)
        raise
    return dict(zip(addresses, replies, strict=True))


def _reply(mail: InboundMail, mailbox: LocalMailbox | None, replies: dict[UUID, SmtpReply]) -> SmtpReply:
    if mailbox is None:
        return receiving.smtp_reply("unknown_user")
    if not mailbox.domain_active:
        return receiving.smtp_reply("domain_inactive")
    if mailbox.recorded:
        return _DELIVERED
    reply = replies[mailbox.target.mailbox_id]
    # Postfix has accepted the message: it would send a bounce to the alleged sender of another server's mail.
    return _DISCARDED if reply.is_permanent and mail.source == "smtp" else reply


async def _find_mailboxes(
    app: App, queue_id: str, recipients: Sequence[LmtpRecipient], result: FilterResult | None
) -> dict[str, LocalMailbox]:
    """The mailboxes by the recipients' addresses; addresses without a mailbox are missing."""
    parts: dict[str, tuple[str, str]] = {}
    values = filtering.list_keys(result.facts) if result else []
    for each in recipients:
        local, _, domain = unquote_local_part(each.address).rpartition("@")
        parts[each.address] = (local, domain)
    mailboxes = await app.write_in_batch(_query_mailboxes, (queue_id, list(dict.fromkeys(parts.values())), values))
    return {address: mailboxes[key] for address, key in parts.items() if key in mailboxes}


async def _query_mailboxes(
    app: App, lookups: Sequence[store.MailboxLookup]
) -> list[dict[tuple[str, str], LocalMailbox]]:
    async with app.db.autocommit() as conn:
        return await store.find_mailboxes(conn, lookups, always_full=app.settings.events.received_full)


async def _record(app: App, recorder: DeliveryRecorder, delivery: LmtpDelivery) -> None:
    """Record a delivery unless all replies are temporary; the message is parsed if a webhook needs its content."""
    accepted = [delivery.targets[mailbox_id] for mailbox_id, reply in delivery.replies.items() if reply.is_positive]
    if not accepted and all(not reply.is_permanent for reply in delivery.replies.values()):
        return
    async with AsyncExitStack() as stack:
        if any(target.publishes_full_mail for target in accepted):
            parsed = await receiving.parse_message(app, delivery.mail, stack)
            delivery = replace(delivery, parsed=parsed)
        await recorder.record(delivery)


async def _record_batch(app: App, deliveries: Sequence[LmtpDelivery]) -> list[None]:
    messages = [(delivery, message) for delivery in deliveries for message in _build_messages(app, delivery)]
    await asyncio.to_thread(_save_contents, app, messages)
    is_single_statement = not any(delivery.parsed for delivery in deliveries)
    async with app.db.autocommit() if is_single_statement else app.db.tx() as conn:
        copies = [_copy(delivery, message) for delivery, message in messages]
        new_ids = await receiving.record_copies(conn, app.clock(), copies)
    for delivery in deliveries:
        statuses = [message.status for each, message in messages if each is delivery and message.id in new_ids]
        receiving.count_deliveries(app, delivery.mail.source, statuses)
    return [None] * len(deliveries)


def _copy(delivery: LmtpDelivery, message: Message) -> MailboxCopy:
    assert message.mailbox_id is not None
    publishes_full_mail = delivery.targets[message.mailbox_id].publishes_full_mail and message.status == "received"
    parsed = delivery.parsed if publishes_full_mail else None
    rcpt_to = delivery.recipients[message.mailbox_id]
    return MailboxCopy(delivery.mail, message, rcpt_to, delivery.verdict or HAM, parsed)


def _save_contents(app: App, messages: Sequence[tuple[LmtpDelivery, Message]]) -> None:
    contents = [(message.id, delivery.mail.content()) for delivery, message in messages if message.status == "received"]
    save_contents(app.data_dir, contents)


def _build_messages(app: App, delivery: LmtpDelivery) -> list[Message]:
    """The history's row for each mailbox that accepted or permanently refused the message."""
    return [
        _build_message(app, delivery, delivery.targets[mailbox_id], reply)
        for mailbox_id, reply in delivery.replies.items()
        if reply.is_positive or reply.is_permanent
    ]


def _build_message(app: App, delivery: LmtpDelivery, target: TargetMailbox, reply: SmtpReply) -> Message:
    server_reply = ServerReply(reply.code, reply.enhanced or None, reply.text)
    status = "received" if reply.is_positive else "rejected"
    recipients = [
        Recipient(address, status, 1, server_reply) for address in dict.fromkeys(delivery.recipients[target.mailbox_id])
    ]
    message = receiving.inbound_message(app.clock(), delivery.mail, target, recipients, delivery.verdict)
    return replace(message, auth=delivery.auth)
