"""Decides at RCPT and at the end of DATA, and keeps what was refused for the history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import unquote_local_part
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.directory.routing.model import Filters
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import DecidedBy, Facts, Policy, Subject
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.receiving.model import MailSpam, RejectedRecipient
from mailkeep.features.mailflow.receiving.rules import (
    DENIED,
    REFUSED,
    find_denial,
    is_postmaster,
    recipient_domain,
)
from mailkeep.features.mailflow.verdicts import rules, store
from mailkeep.features.mailflow.verdicts.model import Destinations, FilteredMail, MailVerdict, RefusedMail
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain, Recipient, ServerReply
from mailkeep.features.record.messages.rules import inbound_message

DEFERRED = "The sender can't be verified at present, try again later"
_KEPT = timedelta(days=1)
_FEW = 16


async def decide_at_end(app: App, hits: HitCounter, mail: FilteredMail) -> MailVerdict:
    """The verdict for a message at the end of DATA. If it is `refuse`, what is known of it is stored. UNAVAILABLE."""
    recipients = list(dict.fromkeys(mail.recipients.split("\n"))) if mail.recipients else []
    found, policies = await _find_destinations(app, recipients, rules.facts_of(mail))
    verdict = rules.judge(mail, found, policies)
    if verdict.reply == "refuse":
        if mail.queue_id:
            async with app.db.autocommit() as conn:
                await store.insert_refused(conn, rules.refused_mail(mail, verdict, app.clock()))
            failpoint.reach("verdicts.stored")
        filtering.count_hits((decision for each in verdict.recipients for decision in each.decisions), hits.count)
    return verdict


async def refuses_recipient(app: App, hits: HitCounter, recipient: str, mail_from: str, client_address: str) -> bool:
    """Whether each destination of a recipient denies mail of this sender or client, at RCPT. If so, the reason is
    stored. UNAVAILABLE.
    """
    if is_postmaster(recipient):
        return False
    facts = Facts(client_address, mail_from, is_at_rcpt=True)
    found, policies = await _find_destinations(app, [recipient], facts)
    decisions = [filtering.decide(policies[each], facts) for each in found[recipient].subjects]
    denial = find_denial(decisions, found[recipient].mailbox_id)
    if denial is None:
        return False
    async with app.db.autocommit() as conn:
        await store.insert_denial(conn, rules.denial_key(client_address, mail_from, recipient), denial, app.clock())
    filtering.count_hits(decisions, hits.count)
    return True


async def _find_destinations(
    app: App, recipients: Sequence[str], facts: Facts
) -> tuple[dict[str, Destinations], dict[Subject, Policy]]:
    """Where each recipient leads, and the policies of all destinations: one statement for the messages of a moment, or
    two for many recipients, which often lead to the same mailboxes.
    """
    addresses = [unquote_local_part(each) for each in recipients]
    if len(addresses) <= _FEW:
        normalized = [
            f"{each.rpartition('@')[0]}@{recipient_domain(each)}" if "@" in each else each for each in addresses
        ]
        filters, policies = await app.write_in_batch(_query_destinations, (normalized, filtering.list_keys(facts)))
    else:
        async with app.db.autocommit() as conn:
            filters = await routing.find_filters(conn, addresses)
            subjects = dict.fromkeys(subject for each in filters for subject in _destinations(each).subjects)
            policies = await filtering.find_policies(conn, list(subjects), facts) if subjects else {}
    return {recipient: _destinations(each) for recipient, each in zip(recipients, filters, strict=True)}, policies


async def _query_destinations(
    app: App, lookups: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> list[tuple[list[Filters], dict[Subject, Policy]]]:
    async with app.db.autocommit() as conn:
        return await store.find_destinations(conn, lookups)


def _destinations(filters: Filters) -> Destinations:
    subjects = [Subject(domain_id, mailbox_id) for mailbox_id, domain_id in filters.mailboxes.items()]
    return Destinations(subjects, filters.is_forwarded, Subject(filters.forwarding_id, None))


async def record_refused(
    conn: Conn, at: datetime, queue_ids: Collection[str], allow: Callable[[str, datetime], bool]
) -> dict[str, int]:
    """Record the messages that were refused at the end of their data, by queue ID, as Postfix's log shows them: once,
    however often the log is read. Returns the number of recipients of each message that is known. `allow`: whether
    another refusal of a client at this time may have a row (`RejectionLimit`).
    """
    if not queue_ids:
        return {}
    refused = await store.take_refused(conn, queue_ids)
    rows: list[Message] = []
    for mail in refused:
        names = {recipient_domain(each.address) for each in mail.recipients}
        managed = {name: await domains.find_by_name(conn, name) for name in names}
        for number, each in enumerate(mail.recipients):
            if allow(mail.client, mail.refused_at):
                domain = managed[recipient_domain(each.address)]
                row_domain = MessageDomain(domain.id if domain else None, recipient_domain(each.address))
                rows.append(_row(mail, number, row_domain))
    if rows:
        await messages.insert_messages(conn, rows)
        await events.emit_all(conn, at, [_spam_event(row) for row in rows])
    return {mail.queue_id: len(mail.recipients) for mail in refused}


async def add_denials(conn: Conn, rejections: Sequence[RejectedRecipient]) -> list[RejectedRecipient]:
    """Recipients that Postfix's log shows as refused at SMTP, with the deny entries that refused them, which are
    deleted.
    """
    keys = [rules.denial_key(each.client, each.mail_from, each.rcpt_to) for each in rejections]
    denied = [key for key, each in zip(keys, rejections, strict=True) if each.text.endswith(DENIED.text)]
    if not denied:
        return list(rejections)
    stored = await store.take_denials(conn, denied)
    return [
        replace(each, denial=stored[key].pop(0)) if stored.get(key) else each
        for key, each in zip(keys, rejections, strict=True)
    ]


def _row(mail: RefusedMail, number: int, domain: MessageDomain) -> Message:
    recipient = mail.recipients[number]
    reply = ServerReply(REFUSED.code, REFUSED.enhanced, REFUSED.text)
    header = HeaderSummary(mail.message_id, mail.from_address, [recipient.address], [], mail.subject, mail.size)
    row = inbound_message(
        mail.refused_at, "smtp", domain, header, mail.mail_from, [Recipient(recipient.address, "rejected", 1, reply)]
    )
    return replace(
        row,
        queue_id=mail.queue_id,
        mailbox_id=recipient.mailbox_id,
        client_address=mail.client or None,
        spam_score=mail.score,
        spam_action="reject",
        spam_symbols=mail.symbols,
        spam_decided_by=msgspec.to_builtins(recipient.decided_by),
        auth=mail.auth,
    )


def _spam_event(row: Message) -> Event:
    payload = MailSpam(
        message_id=row.message_id,
        from_=row.from_address,
        domain=row.domain_name,
        spam_score=row.spam_score or 0.0,
        spam_action=row.spam_action or "",
        decided_by=msgspec.convert(row.spam_decided_by, DecidedBy | None),
    )
    return Event(row.domain_id, row.id, payload)


async def prune(app: App) -> None:
    """Delete what was refused more than a day ago without a line in the log."""
    async with app.db.autocommit() as conn:
        await store.delete_refused(conn, app.clock() - _KEPT)
        await store.delete_denials(conn, app.clock() - _KEPT)
