"""What a submitted message says, and the replies about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.key_submission.model import CheckedSubmission, SubmissionRefused
from mailkeep.features.record.messages.model import Message, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message import author
from mailkeep.mail.message.header_fields import MAX_HEAD, MessageHeader
from mailkeep.mail.message.headers import date_text
from mailkeep.mail.smtp.reply import SmtpReply

UNAVAILABLE = SmtpReply(451, "4.3.0", "Temporary server error, try again later")
PENDING = SmtpReply(
    451, "4.7.1", "A message with this Idempotency-Key is being accepted: the outcome is not known yet, try again later"
)
BAD_RECIPIENT = SmtpReply(553, "5.1.3", "A recipient is not a valid address")
HEADER_TOO_LARGE = SmtpReply(552, "5.6.0", f"The header is larger than {MAX_HEAD >> 10} KiB")
MISMATCH = SmtpReply(550, "5.7.1", "The Idempotency-Key was used for another message")


def read_author(head: bytes) -> tuple[Address, Address | None]:
    """The address in From of a whole header, and that in Sender, each the only one; else `SubmissionRefused`."""
    if len(head) > MAX_HEAD:
        raise SubmissionRefused(HEADER_TOO_LARGE)
    try:
        return author.read_author(head)
    except author.AuthorError as error:
        raise SubmissionRefused(SmtpReply(550, "5.6.0", str(error))) from None


def parse_recipients(recipients: Sequence[str]) -> dict[str, Address]:
    """The recipients by what RCPT had; `SubmissionRefused` if one is no address as the API takes it. Postfix would
    deliver to some of those, such as `"name"@example.com`, past the suppression of the address.
    """
    try:
        return {each: parse_address(each, min_labels=2) for each in recipients}
    except AddressError:
        raise SubmissionRefused(BAD_RECIPIENT) from None


def missing_fields(header: MessageHeader, at: datetime, message_id: UUID, domain: str) -> list[tuple[str, str]]:
    """The fields to add (RFC 6409 §8.2, §8.3): Date and Message-ID."""
    names = {field.name.lower() for field in header.fields}
    added: list[tuple[str, str]] = []
    if "date" not in names:
        added.append(("Date", date_text(at)))
    if "message-id" not in names:
        added.append(("Message-ID", f"<{message_id}@{domain}>"))
    return added


def build_message(
    who: Principal, at: datetime, message_id: UUID, checked: CheckedSubmission, mail_from: str
) -> Message:
    """The row for the history, before Postfix has accepted the message."""
    domain = MessageDomain(checked.domain.id, checked.domain.name)
    row = outbound_message(at, "smtp", domain, checked.header, mail_from, checked.recipients)
    return replace(
        row,
        id=message_id,
        recipients=[*row.recipients, *checked.suppressed],
        admin_id=who.admin_id,
        api_key_id=who.key_id,
        tags=list(checked.tags),
    )
