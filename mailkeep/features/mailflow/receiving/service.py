"""Checks recipients, delivers to mailboxes, queues external copies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from msgspec import to_builtins

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import unquote_local_part
from mailkeep.core.errors import Refusal, Unavailable
from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import maildir_of
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.bounce_reports import service as bounce_reports
from mailkeep.features.mailflow.receiving import filters, rejections, rules, store, wire
from mailkeep.features.mailflow.receiving.filters import NO_ACCOUNTS, Accounts
from mailkeep.features.mailflow.receiving.model import (
    InboundMail,
    MailboxCopy,
    ReceiveOutcome,
    RefusedCopy,
    SpamVerdict,
    TargetMailbox,
)
from mailkeep.features.mailflow.reports import service as reports_feature
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.content import content_path, link_content
from mailkeep.features.record.messages.model import (
    Message,
    MessageDomain,
    Recipient,
    ServerReply,
    Source,
)
from mailkeep.features.record.messages.rules import inbound_message as basic_inbound_message
from mailkeep.mail.mailbox import maildir
from mailkeep.mail.message import content_file
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage
from mailkeep.mail.smtp.reply import SmtpReply

log = structlog.get_logger("mailkeep.receiving")


smtp_reply = rules.smtp_reply
check_sender = filters.check_sender


async def check_recipient(
    app: App, address: str, size: int = 0, copies: Mapping[str, int] | None = None
) -> tuple[SmtpReply, Route]:
    """The reply at RCPT for an address, and its route.

    `size`: the declared size of the message in bytes, 0 if unknown. `copies`: the external copies of the recipients
    accepted so far, by forwarding domain (`count_copies`).
    """
    async with app.db.autocommit() as conn:
        route = await routing.route_recipient(conn, unquote_local_part(address) if "@" in address else address, size)
        refusal = await _check_copies(app, conn, route, forwarding_domain(app, address), copies or {})
    return refusal or rules.smtp_reply(route.decision), route


async def _check_copies(app: App, conn: Conn, route: Route, domain: str, copies: Mapping[str, int]) -> SmtpReply | None:
    if route.decision != "deliver" or not route.external:
        return None
    if sum(copies.values()) + route.external > app.settings.limits.external_expansion:
        return rules.TOO_MANY_COPIES
    used, limit = await abuse.forward_use(app, conn, domain)
    new = copies.get(domain, 0) + route.external
    # More copies than the whole limit are refused permanently at the end of the message.
    return rules.FORWARDS_TOO_MUCH if new <= limit < used + new else None


def forwarding_domain(app: App, address: str) -> str:
    """The domain for which external copies of a recipient count; the server's host name for a bare `postmaster`."""
    return rules.recipient_domain(address) or app.settings.server.name.lower()


def count_copies(app: App, routes: Mapping[str, Route]) -> dict[str, int]:
    """The external copies of recipients by the domain that forwards them."""
    copies: dict[str, int] = {}
    for address, route in routes.items():
        if route.external:
            domain = forwarding_domain(app, address)
            copies[domain] = copies.get(domain, 0) + route.external
    return copies


async def charge_copies(app: App, charge_id: str | None, routes: Mapping[str, Route]) -> Refusal | None:
    """Count the external copies of a message that is about to be accepted; returns the refusal or None."""
    copies = count_copies(app, routes)
    return await abuse.charge_forwards(app, app.clock(), charge_id, copies) if copies else None


async def accept(app: App, mail: InboundMail, accounts: Accounts = NO_ACCOUNTS) -> SmtpReply:
    """Deliver a message of the built-in listener, unless a limit refuses it; returns the reply to the end of DATA."""
    if mail.head.hops > rules.MAX_HOPS:
        return rules.TOO_MANY_HOPS
    routes = dict(mail.recipients)
    if refusal := await charge_copies(app, mail.queue_id, routes):
        permanent = abuse.is_permanent(refusal)
        return SmtpReply(550 if permanent else 450, "5.7.1" if permanent else "4.7.1", refusal.message)
    outcome: ReceiveOutcome = "unknown_user"
    try:
        outcome = await deliver(app, mail, accounts)
    finally:
        if outcome != "deliver" and any(route.external for route in routes.values()):
            with suppress(Unavailable):
                async with app.db.autocommit() as conn:
                    await abuse.uncount_forwards(conn, [mail.queue_id])
    return SmtpReply(250, "2.0.0", f"Ok: queued as {mail.queue_id}") if outcome == "deliver" else smtp_reply(outcome)


@dataclass(frozen=True, slots=True)
class _DeliveryPlan:
    """The mailboxes that get a message, those that are full, and its external recipients.

    `recipients`: the addresses of the envelope that lead to each mailbox, by its ID. `unforwarded`: the verdicts of the
    domains that do not forward the message, and their recipients, by name.
    """

    mail: InboundMail
    verdicts: Mapping[UUID, SpamVerdict]
    recipients: Mapping[UUID, Sequence[str]]
    targets: Mapping[UUID, TargetMailbox]
    full: Sequence[TargetMailbox]
    external: Sequence[str]
    unforwarded: Mapping[str, tuple[SpamVerdict, Sequence[str]]]
    parsed: ParsedMessage | UnparsableMessage | None


async def deliver(app: App, mail: InboundMail, accounts: Accounts = NO_ACCOUNTS) -> ReceiveOutcome:
    """Deliver a message to its mailboxes and queue its external copies; returns when all is on disk and in the history.

    For a bounce address, the report is applied instead. Refused, with rows in the history, if each copy is (`filters`).

    A full mailbox is skipped, with a row in the history, if the message has another destination. After an exception no
    copy is left, except under a queue ID that will be retried.
    """
    reports = [address for address, route in mail.recipients if route.decision == "bounce"]
    for address in reports:
        await bounce_reports.receive(app, address, mail.content, from_other_server=mail.source == "smtp")
    if len(reports) == len(mail.recipients):
        return "deliver"
    recipients, forwards = _split_destinations(app, mail)
    reports = [
        recipient for recipient, route in mail.recipients if any(each.type == "report" for each in route.deliveries)
    ]
    if reports:
        reply = await reports_feature.accept_mail(app, rules.arrived_mail(mail, reports))
        if not recipients and not forwards:
            return "deliver" if reply.is_positive else "report_refused" if reply.is_permanent else "report_deferred"
    judged = await filters.judge(app, mail, recipients, forwards, accounts.count_hit)
    full = [target for target in judged.targets.values() if target.is_full(mail.size)]
    targets = {mailbox_id: target for mailbox_id, target in judged.targets.items() if target not in full}
    if not targets and not forwards:
        return _full_outcome(full, mail.size) if full else "unknown_user"
    unforwarded = {
        name: (verdict, list(dict.fromkeys(recipient for recipient, _ in forwards[name])))
        for name, verdict in judged.domains.items()
        if verdict.is_spam
    }
    if judged.is_refused and not reports:
        if not accounts.may_record():
            return "refused"
        async with app.db.tx() as conn:
            for mailbox_id, target in judged.targets.items():
                domain, verdict = MessageDomain(target.domain_id, target.domain_name), judged.verdicts[mailbox_id]
                copy = RefusedCopy(domain, recipients[mailbox_id], verdict, mailbox_id)
                await rejections.record_refused(conn, app.clock(), mail, copy)
            await rejections.record_unforwarded(conn, app.clock(), mail, unforwarded)
        return "refused"
    external = dict.fromkeys(
        address for name, pairs in forwards.items() if name not in unforwarded for _, address in pairs
    )
    async with AsyncExitStack() as stack:
        publishes_full_mail = any(target.publishes_full_mail for target in targets.values())
        parsed = await parse_message(app, mail, stack) if publishes_full_mail else None
        plan = _DeliveryPlan(mail, judged.verdicts, recipients, targets, full, list(external), unforwarded, parsed)
        await _write_copies(app, plan)
    if mail.source == "smtp":
        count_deliveries(app, mail.source, ["received"] * len(mail.recipients))
    return "deliver"


def _full_outcome(full: Sequence[TargetMailbox], size: int) -> ReceiveOutcome:
    return "message_too_large" if all(size > target.quota_bytes for target in full) else "mailbox_full"


async def parse_message(app: App, mail: InboundMail, stack: AsyncExitStack) -> ParsedMessage | UnparsableMessage:
    """The parsed message, valid until `stack` ends."""
    try:
        return await stack.enter_async_context(app.parser.parse_and_hold(mail.content, mail.size))
    except UnparsableMessage as error:
        log.info("a message could not be parsed", queue_id=mail.queue_id, why=str(error))
        return error


async def _write_copies(app: App, plan: _DeliveryPlan) -> None:
    mail = plan.mail
    copies: dict[UUID, tuple[Message, maildir.MaildirDelivery]] = {}
    try:
        for mailbox_id, target in plan.targets.items():
            message = _message(app, plan, target)
            copies[mailbox_id] = message, await asyncio.to_thread(_write_to_maildir, app, plan, message)
        if plan.external:
            path = forward_path(app.data_dir, mail.queue_id)
            await asyncio.to_thread(content_file.write, path, _with_trace(mail.trace, mail))
        failpoint.reach("inbound.delivered")
        await _record_reliably(app, plan, copies)
        failpoint.reach("inbound.committed")
    except BaseException:
        # The sender will retry under another queue ID: these files would be a second copy.
        if mail.source == "smtp":
            for message, delivery in copies.values():
                delivery.path.unlink(missing_ok=True)
                content_path(app.data_dir, message.id).unlink(missing_ok=True)
            forward_path(app.data_dir, mail.queue_id).unlink(missing_ok=True)
        raise


async def _record_reliably(
    app: App, plan: _DeliveryPlan, copies: Mapping[UUID, tuple[Message, maildir.MaildirDelivery]]
) -> None:
    """Record the copies. Retried if the reply to a commit is lost (idempotent): a message that is in the history must
    not be refused.
    """
    for pause in (0.5, 2.0, None):
        committing = False
        try:
            async with app.db.tx() as conn:
                await _record_copies(app, conn, plan, copies)
                committing = True
            break
        except Unavailable:
            if not committing or pause is None:
                raise
            await asyncio.sleep(pause)


async def _record_copies(
    app: App, conn: Conn, plan: _DeliveryPlan, copies: Mapping[UUID, tuple[Message, maildir.MaildirDelivery]]
) -> None:
    mail, at = plan.mail, app.clock()
    by_mailbox = {
        mailbox_id: MailboxCopy(
            mail,
            message,
            plan.recipients[mailbox_id],
            plan.verdicts[mailbox_id],
            plan.parsed if plan.targets[mailbox_id].publishes_full_mail else None,
        )
        for mailbox_id, (message, _) in copies.items()
    }
    recorded = await record_copies(conn, at, list(by_mailbox.values())) if by_mailbox else set[UUID]()
    new = [mailbox_id for mailbox_id, copy in by_mailbox.items() if copy.message.id in recorded]
    if new:
        await messages.insert_messages(conn, [_full_mailbox_message(app, plan, target) for target in plan.full])
    await rejections.record_unforwarded(conn, at, mail, plan.unforwarded)
    if plan.external:
        await store.queue_forwards(conn, mail.queue_id, mail.mail_from, plan.external, at)
    # Last, and in a fixed order: this locks rows for which other transactions wait.
    for mailbox_id in new:
        await mailboxes.add_mail(conn, mailbox_id, copies[mailbox_id][1].size)


async def record_copies(conn: Conn, at: datetime, copies: Sequence[MailboxCopy]) -> set[UUID]:
    """Record messages in the history with their recipients and events, once for each (queue ID, mailbox), by one
    statement; the content of an event takes another one. Returns the IDs of the messages that were not yet recorded.
    """
    content_events = [event for copy in copies for event in _content_events(copy)]
    recorded = await messages.record_inbound(conn, at, [copy.message for copy in copies], content_events)
    parsed = {copy.mail.queue_id: copy for copy in copies if copy.parsed and copy.message.id in recorded}
    for queue_id, copy in parsed.items():
        assert copy.parsed
        await store.insert_payload(conn, queue_id, wire.payload(copy.mail, copy.parsed), at)
    return recorded


def count_deliveries(app: App, source: Source, statuses: Sequence[str]) -> None:
    """Count a message that was recorded, and the status of each delivery of it."""
    if "received" in statuses:
        app.counters.add("messages_accepted", "inbound", source)
    for status in statuses:
        app.counters.add("deliveries", "inbound", status)


def _content_events(copy: MailboxCopy) -> Iterator[Event]:
    """The events of a message in a mailbox besides `mail.received`: its spam verdict and its content."""
    message, verdict = copy.message, copy.verdict
    if message.status != "received":
        return
    if verdict.is_spam:
        yield Event(message.domain_id, message.id, wire.mail_spam(message, verdict))
    if copy.parsed:
        payload = wire.mail_received_full(copy.mail, message, copy.rcpt_to, verdict, copy.parsed)
        yield Event(message.domain_id, message.id, payload)


def _split_destinations(app: App, mail: InboundMail) -> tuple[dict[UUID, list[str]], dict[str, list[tuple[str, str]]]]:
    """The recipients that lead to each mailbox; and by forwarding domain, the recipients with external addresses."""
    to_mailboxes: dict[UUID, list[str]] = {}
    external: dict[str, list[tuple[str, str]]] = {}
    for recipient, route in mail.recipients:
        for delivery in route.deliveries:
            if delivery.type == "external":
                external.setdefault(forwarding_domain(app, recipient), []).append((recipient, delivery.address))
            elif delivery.mailbox_id is not None:
                to_mailboxes.setdefault(delivery.mailbox_id, []).append(recipient)
    return to_mailboxes, external


def _write_to_maildir(app: App, plan: _DeliveryPlan, message: Message) -> maildir.MaildirDelivery:
    """Write a message to the Maildir, and link its content for the history."""
    mail, mailbox_id = plan.mail, message.mailbox_id
    assert mailbox_id is not None
    trace = f"Return-Path: <{mail.mail_from}>\r\nDelivered-To: {plan.recipients[mailbox_id][0]}\r\n"
    folder = maildir_of(app.data_dir, mailbox_id)
    verdict = plan.verdicts[mailbox_id]
    if mail.source == "smtp" or verdict.is_spam:
        trace += rules.filter_fields(verdict)
    if verdict.is_spam:
        folder = maildir.junk_folder(folder)
    # The built-in listener uses a new queue ID for each message: there is no earlier delivery.
    delivery = maildir.deliver(
        folder,
        _with_trace(trace.encode() + mail.trace, mail),
        delivery_id=mail.queue_id,
        host=app.settings.server.name,
        first_try=mail.source == "smtp",
    )
    link_content(app.data_dir, message.id, delivery.path)
    return delivery


def _with_trace(trace: bytes, mail: InboundMail) -> Iterator[bytes]:
    yield trace
    yield from mail.content()


def forward_path(data_dir: Path, queue_id: str) -> Path:
    """The file with the content of a message to forward."""
    return data_dir / "forwards" / f"{queue_id}.eml"


def _message(app: App, plan: _DeliveryPlan, target: TargetMailbox) -> Message:
    server_reply = ServerReply(250, "2.0.0", "Delivered")
    recipients = [Recipient(address, "received", 1, server_reply) for address in plan.recipients[target.mailbox_id]]
    verdict = plan.verdicts[target.mailbox_id]
    is_judged = verdict.is_spam or verdict.decided_by is not None
    return inbound_message(app.clock(), plan.mail, target, recipients, verdict if is_judged else None)


def inbound_message(
    at: datetime, mail: InboundMail, target: TargetMailbox, recipients: list[Recipient], verdict: SpamVerdict | None
) -> Message:
    """The history's row of a message for one mailbox, whose recipients have the same status; `verdict`: the spam
    filter's result to store.
    """
    domain = MessageDomain(target.domain_id, target.domain_name)
    return replace(
        basic_inbound_message(at, mail.source, domain, rules.header_summary(mail), mail.mail_from, recipients),
        queue_id=mail.queue_id,
        mailbox_id=target.mailbox_id,
        client_address=rules.client_of(mail),
        spam_score=verdict.score if verdict else None,
        spam_action=verdict.action if verdict else None,
        spam_symbols=list(verdict.symbols) if verdict else [],
        spam_decided_by=to_builtins(verdict.decided_by) if verdict else None,
    )


def _full_mailbox_message(app: App, plan: _DeliveryPlan, target: TargetMailbox) -> Message:
    """The history's row for a full mailbox, which gets no copy."""
    reply = rules.SKIPPED_MAILBOX
    server_reply = ServerReply(reply.code, reply.enhanced, reply.text)
    recipients = [Recipient(address, "rejected", 1, server_reply) for address in plan.recipients[target.mailbox_id]]
    return replace(_message(app, plan, target), status="rejected", recipients=recipients)


async def load_full_data(conn: Conn, data: dict[str, Any]) -> dict[str, Any]:
    """The data of a mail.received.full with its content while that is stored (3 days), partly as `msgspec.Raw`."""
    return wire.with_payload(data, await store.find_payload(conn, data["queue_id"]))
