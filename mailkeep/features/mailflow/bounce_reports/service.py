"""Apply reports that arrive at bounce addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.address import parse_address
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.mailflow.bounce_reports import rules
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.mailflow.suppressions.model import NO_SUPPRESSION, NewSuppression
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, Message, Recipient, RecipientSuppression
from mailkeep.mail.message.bounce_address import is_valid, message_of
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.report import MessageReport, ReportedRecipient

log = structlog.get_logger("mailkeep.bounce_reports")

Content = Callable[[], Iterable[bytes]]


def is_bounce_address(address: str) -> bool:
    """Whether an address has the form of a bounce address, valid or not."""
    return message_of(address) is not None


async def receive(app: App, address: str, content: Content, *, from_other_server: bool) -> None:
    """Apply the report in a message for an address in bounce form; `content` opens it. Other mail, and what proves
    nothing, is discarded. Raises `Unavailable` and OSError: the message must be delivered again.
    """
    message_id = message_of(address)
    assert message_id is not None
    if not from_other_server:
        return
    try:
        report = await app.parser.report(content)
    except UnparsableMessage as error:
        log.info("a message to a bounce address was discarded", message_id=str(message_id), why=str(error))
        return
    if report is None:
        log.info("a message to a bounce address was discarded: it is no report", message_id=str(message_id))
        return
    at = app.clock()
    async with app.db.tx() as conn:
        bounced = await _apply(app, conn, at, address, message_id, report)
    if bounced:
        app.counters.add("deliveries", "outbound", "bounced", times=bounced)


async def _apply(app: App, conn: Conn, at: datetime, address: str, message_id: UUID, report: MessageReport) -> int:
    """Apply a report; returns how many recipients have bounced by it."""
    await messages.lock(conn, [message_id])  # two reports about it come one after the other
    message = await messages.find(conn, message_id)
    if message is None or not _proves(app, at, address, message):
        log.warning("a report was discarded: its address is not valid", message_id=str(message_id))
        return 0
    recipients = [each for each in message.recipients if each.suppression is None]
    if report.kind == "complaint":
        for each in rules.find_complaining(report.reported, recipients):
            await _complain(conn, at, message, each)
        return 0
    failed = [each for each in report.recipients if each.action == "failed"]
    return sum([await _bounce(conn, at, message, each, recipients) for each in failed])


def _proves(app: App, at: datetime, address: str, message: Message) -> bool:
    """Whether an address is the bounce address of a message that the API sent for a domain here."""
    if message.direction != "outbound" or message.source == "system" or message.domain_id is None:
        return False
    keys = rules.recipient_keys(message.recipients)
    sent_at = message.submitted_at or message.created_at
    return address.lower() == message.mail_from and is_valid(app.vault, address, keys, sent_at, at)


async def _bounce(
    conn: Conn, at: datetime, message: Message, reported: ReportedRecipient, recipients: list[Recipient]
) -> bool:
    found = rules.find_bounced(reported, recipients)
    if found is None:
        return False
    recipient, may_suppress = found
    reply = rules.server_reply(reported)
    if not await messages.record_late_bounce(conn, at, message, recipient, reply):
        return False
    if may_suppress:
        attempt = DeliveryAttempt(uuid7(at), message.id, at, "bounced", recipient.address, 0, reply)
        await suppressions.suppress_failed(conn, at, [attempt])
    return True


async def complain(conn: Conn, at: datetime, message_id: UUID, address: str, *, suppresses: bool) -> None:
    """Record a complaint of a recipient whose mail was delivered, without a report of its provider (the sandbox): not
    about forwarded mail and that of Mailkeep itself. With `suppresses` the address is suppressed.

    The caller has locked the message.
    """
    message = await messages.find(conn, message_id)
    if message is None or message.source not in ("api", "smtp"):
        return
    for each in message.recipients:
        if each.address == address and suppresses:
            await _complain(conn, at, message, each)
        elif each.address == address:
            suppression = RecipientSuppression(NO_SUPPRESSION, "complaint")
            await messages.record_complaint(conn, at, replace(message, recipients=[]), each, suppression)


async def _complain(conn: Conn, at: datetime, message: Message, recipient: Recipient) -> None:
    if recipient.status not in rules.COMPLAINABLE or await messages.has_complaint(conn, message.id, recipient.address):
        return
    domain = await domains.find_by_name(conn, message.domain_name)
    if domain is None or domain.id != message.domain_id:  # deleted, and perhaps added again
        return
    new = NewSuppression(domain.id, parse_address(recipient.address), "complaint", None, message.id)
    suppression_id = await suppressions.add(conn, at, new)
    # The recipient may have been suppressed for another reason before.
    suppression = RecipientSuppression(suppression_id, "complaint")
    await messages.record_complaint(conn, at, replace(message, recipients=[]), recipient, suppression)
