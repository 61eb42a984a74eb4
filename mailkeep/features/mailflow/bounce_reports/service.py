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
from mailkeep.features.mailflow.bounce_reports.model import BounceMail, SignedComplaint
from mailkeep.features.mailflow.suppressions import service as suppressions
from mailkeep.features.mailflow.suppressions.model import NO_SUPPRESSION, NewSuppression
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, Message, Recipient, RecipientSuppression
from mailkeep.mail.message.bounce_address import LIFETIME, is_valid, message_of
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.report import MessageReport, ReportedRecipient

log = structlog.get_logger("mailkeep.bounce_reports")

Content = Callable[[], Iterable[bytes]]


def is_bounce_address(address: str) -> bool:
    """Whether an address has the form of a bounce address, valid or not."""
    return message_of(address) is not None


async def receive(app: App, address: str, content: Content, *, from_other_server: bool, author: str = "") -> None:
    """Apply the report in a message for an address in bounce form; `content` opens it, `author` is its From address if
    it passed DMARC. Other mail, and what proves nothing, is discarded. Raises `Unavailable` and OSError: the message
    must be delivered again.
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
        bounced = await _apply(app, conn, at, BounceMail(address, author, message_id), report)
    if bounced:
        app.counters.add("deliveries", "outbound", "bounced", times=bounced)


async def apply_signed_complaint(conn: Conn, at: datetime, domain_id: UUID, complaint: SignedComplaint) -> None:
    """Apply a complaint about a message that a domain has signed (see the package)."""
    message_id = await messages.find_by_header(conn, domain_id, complaint.message_id)
    if message_id is None:
        return
    await messages.lock(conn, [message_id])
    message = await messages.find(conn, message_id)
    if message is None or at - rules.sent_at(message) > LIFETIME:
        return
    recipients = [each for each in message.recipients if each.suppression is None]
    for each in rules.find_complaining(complaint.recipients, recipients, complaint.author):
        await _complain(conn, at, message, each)


async def _apply(app: App, conn: Conn, at: datetime, mail: BounceMail, report: MessageReport) -> int:
    """Apply a report; returns how many recipients have bounced by it."""
    await messages.lock(conn, [mail.message_id])  # two reports about it come one after the other
    message = await messages.find(conn, mail.message_id)
    if message is None or not _proves(app, at, mail.address, message):
        log.warning("a report was discarded: its address is not valid", message_id=str(mail.message_id))
        return 0
    recipients = [each for each in message.recipients if each.suppression is None]
    if report.kind == "complaint":
        for each in rules.find_complaining(report.reported, recipients, mail.author):
            await _complain(conn, at, message, each)
        return 0
    failed = [each for each in report.recipients if each.action == "failed"]
    found = [(each, rules.find_bounced(each, recipients, mail.author)) for each in failed]
    return sum([await _bounce(conn, at, message, reported, recipient) for reported, recipient in found if recipient])


def _proves(app: App, at: datetime, address: str, message: Message) -> bool:
    """Whether an address is the bounce address of a message that the API sent for a domain here."""
    if message.direction != "outbound" or message.source == "system" or message.domain_id is None:
        return False
    keys = rules.recipient_keys(message.recipients)
    return address.lower() == message.mail_from and is_valid(app.vault, address, keys, rules.sent_at(message), at)


async def _bounce(
    conn: Conn, at: datetime, message: Message, reported: ReportedRecipient, recipient: Recipient
) -> bool:
    reply = rules.server_reply(reported)
    if not await messages.record_late_bounce(conn, at, message, recipient, reply):
        return False
    if rules.names_recipient(reported, recipient):
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
