"""What a mail of Mailkeep itself looks like, and when it is sent again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from mailkeep.core.address import AddressError, parse_address
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.features.record.system_mail import texts
from mailkeep.features.record.system_mail.model import SystemMail
from mailkeep.mail.message.compose import OutgoingMessage
from mailkeep.mail.message.headers import MailboxAddress

_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=15)
_MAX_DOUBLINGS = 8


def outgoing(mail: SystemMail, host: str, at: datetime, link: str = "") -> OutgoingMessage:
    """The message to compose, with its `link` if it has one. Raises AddressError for an invalid address."""
    text = texts.write(mail, host, link)
    return OutgoingMessage(
        sender=MailboxAddress(parse_address(f"postmaster@{host}"), "Mailkeep"),
        to=[MailboxAddress(parse_address(mail.recipient))],
        subject=text.subject,
        message_id=f"<{mail.id}@{host}>",
        date=at,
        text_body=text.body,
        auto_generated=True,
    )


def history_row(mail: SystemMail, message: OutgoingMessage, size: int, at: datetime) -> Message:
    """The history's row of a mail, whose ID it has. It belongs to no domain, so that no domain_admin sees it."""
    recipient = message.to[0].address.text
    header = HeaderSummary(message.message_id, message.sender.address.text, [recipient], [], message.subject, size)
    domain = MessageDomain(None, message.sender.address.domain)
    row = outbound_message(at, "mailkeep", domain, header, "", [recipient])
    return replace(row, id=mail.id)


def pause_after(claims: int) -> timedelta:
    """The pause after this number of failed attempts: 5 seconds, doubled each time, at most 15 minutes."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(claims - 1, _MAX_DOUBLINGS))


def is_unreachable(address: str) -> bool:
    """Whether no mail can reach an address, such as that of the first administrator, `admin@localhost`."""
    try:
        return parse_address(address).domain == "localhost"
    except AddressError:
        return True
