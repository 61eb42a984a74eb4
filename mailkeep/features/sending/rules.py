"""What may be sent, in the order in which it is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import (
    DomainInactive,
    InvalidHeader,
    InvalidRecipient,
    InvalidSender,
    PayloadTooLarge,
    SenderDomainUnknown,
    invalid_field,
)
from mailkeep.features.sending.model import Asked, AskedAttachment, Named, SenderDomain
from mailkeep.mail.attachments import Attachment, check_content_id, check_content_type, clean_file_name
from mailkeep.mail.base64_content import Base64, Base64Error
from mailkeep.mail.compose import Outgoing
from mailkeep.mail.headers import Mailbox, check_header_name, check_header_value
from mailkeep.mail.unsubscribe import Unsubscribe

MAX_RECIPIENTS = 1000


def sender(asked: Asked) -> Mailbox:
    """The sender, parsed: the address that is checked is the one that is written."""
    try:
        return Mailbox(parse_address(asked.sender.email, min_labels=2), asked.sender.name)
    except AddressError as error:
        raise InvalidSender(f"The sender address {error.reason}.") from error


def domain_may_send(domain: SenderDomain | None) -> SenderDomain:
    """The sender's domain, where it is managed, active and may send."""
    if domain is None:
        raise SenderDomainUnknown
    if not domain.active:
        raise DomainInactive
    if not domain.sending_enabled:
        raise DomainInactive("Sending is disabled for the domain.", reason="sending_disabled")
    return domain


def mailboxes(field: str, named: Iterable[Named]) -> list[Mailbox]:
    """The mailboxes of a recipient field; INVALID_RECIPIENT names the field and the position of the first fault."""
    return [_mailbox(field, index, each) for index, each in enumerate(named)]


def reply_to(named: Named | None) -> Mailbox | None:
    """The Reply-To mailbox, if one is asked for."""
    return None if named is None else _mailbox("reply_to", None, named)


def _mailbox(field: str, index: int | None, named: Named) -> Mailbox:
    try:
        return Mailbox(parse_address(named.email, min_labels=2), named.name)
    except AddressError as error:
        at = field if index is None else f"{field}[{index}]"
        raise InvalidRecipient(f"{at}.email {error.reason}.", field=field, index=index) from error


def envelope(recipients: Iterable[Mailbox]) -> list[Address]:
    """Every recipient once, compared as mail is routed; at most 1,000."""
    found = list({mailbox.address.key: mailbox.address for mailbox in recipients}.values())
    if len(found) > MAX_RECIPIENTS:
        raise invalid_field("to", f"has with cc and bcc more than {MAX_RECIPIENTS} recipients")
    return found


def headers(given: Any) -> dict[str, str]:
    """Custom headers, every fault of theirs INVALID_HEADER."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise invalid_field("headers", "must be an object")
    checked: dict[str, str] = {}
    seen: set[str] = set()
    for name, value in cast(dict[str, Any], given).items():
        check_header_name(name)
        if not isinstance(value, str):
            raise InvalidHeader("A header's value must be a string.", header=name)
        check_header_value(name, value)
        if name.lower() in seen:
            raise InvalidHeader("A header stands twice.", header=name)
        seen.add(name.lower())
        checked[name] = value
    return checked


def attachment(index: int, asked: AskedAttachment) -> Attachment:
    """A checked attachment; its content stays the slice that it is."""
    field = f"attachments[{index}]"
    name = clean_file_name(f"{field}.filename", asked.filename)
    check_content_type(f"{field}.content_type", asked.content_type)
    if asked.content_id:
        check_content_id(f"{field}.content_id", asked.content_id)
    try:
        content = Base64.parse(asked.content)
    except Base64Error as error:
        raise invalid_field(f"{field}.content", error.reason) from error
    return Attachment(name, asked.content_type, content, asked.content_id, asked.inline)


def unsubscribe(given: Mapping[str, Any] | None) -> Unsubscribe | None:
    """List-Unsubscribe as asked for; the composer checks its grammar."""
    return None if given is None else Unsubscribe(**given)


def outgoing(message: UUID, at: datetime, asked: Asked, who: Mailbox, boxes: Sequence[list[Mailbox]]) -> Outgoing:
    """The message to compose; `boxes` are to, cc and bcc. Checks reply_to, headers and attachments, in this order."""
    to, cc, bcc = boxes
    answer_to = reply_to(asked.reply_to)
    custom = headers(asked.headers)
    attachments = [attachment(index, each) for index, each in enumerate(asked.attachments)]
    return Outgoing(
        sender=who,
        to=to,
        cc=cc,
        bcc=bcc,
        reply_to=answer_to,
        subject=asked.subject,
        message_id=f"<{message}@{who.address.domain}>",
        date=at,
        text_body=asked.text_body,
        html_body=asked.html_body,
        attachments=attachments,
        headers=custom,
        in_reply_to=asked.in_reply_to,
        references=asked.references,
        list_unsubscribe=unsubscribe(asked.unsubscribe),
    )


def refuse_too_large(size: int, limit: int) -> None:
    """Hold a message to the size limit: headers, bodies and base64 without its line breaks, exact to the byte."""
    if size > limit:
        raise PayloadTooLarge(f"The message has {size} bytes, {limit} are allowed.", limit=limit, size=size)
