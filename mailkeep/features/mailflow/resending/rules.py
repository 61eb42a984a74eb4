"""Which messages can be sent again, and what the new one looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import Conflict
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.headers import date_text

_OPEN = ("scheduled", "submitting", "queued", "deferred")
_DELIVERED = ("delivered", "relayed")
_SOURCES = ("api", "smtp")
# A field with its folded lines (RFC 5322 §2.2.3).
_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:[^\n]*\r?\n(?:[ \t][^\n]*\r?\n)*")
_DROPPED = (b"message-id", b"date", b"received", b"return-path", b"bcc", b"dkim-signature", b"authentication-results")


def list_undelivered(message: Message) -> list[str]:
    """The recipients to send to again. CONFLICT `not_outbound`, `still_open`, `nothing_undelivered`."""
    if message.status == "cancelled":
        text = "The message was cancelled, and its content deleted. Send it as a new message."
        raise Conflict(text, reason="content_gone")
    if message.direction != "outbound" or message.source not in _SOURCES:
        raise Conflict("Only messages that were sent by API or SMTP can be sent again.", reason="not_outbound")
    still_open = [each.address for each in message.recipients if each.status in _OPEN]
    if still_open:
        text = f"{len(still_open)} recipients have no final status yet. Wait for it, or retry the delivery."
        raise Conflict(text, reason="still_open", recipients=still_open[:20])
    undelivered = [each.address for each in message.recipients if each.status not in _DELIVERED]
    if not undelivered:
        raise Conflict("All recipients got the message.", reason="nothing_undelivered")
    return undelivered


def list_deferred(message: Message) -> list[str]:
    """The recipients whose delivery is deferred. CONFLICT `not_deferred`."""
    deferred = [each.address for each in message.recipients if each.status == "deferred"]
    if message.direction != "outbound" or not deferred or message.queue_id is None:
        text = f"Only a deferred delivery can be retried; the message is {message.status}."
        raise Conflict(text, reason="not_deferred", status=message.status)
    return deferred


def parse_addresses(message: Message, undelivered: Sequence[str]) -> tuple[Address, list[Address]]:
    """The author and these recipients. CONFLICT `malformed_address`: programs of mailboxes may write what the API
    refuses.
    """
    try:
        return parse_address(message.from_address), [parse_address(each) for each in undelivered]
    except AddressError as error:
        text = f"The message can't be sent again: an address in it is not one that the API takes ({error.reason})."
        raise Conflict(text, reason="malformed_address") from None


def content_gone() -> Conflict:
    """CONFLICT `content_gone`: the content is not kept any more, or never was."""
    return Conflict("The content of the message is not kept any more (retention.content_days).", reason="content_gone")


def rewrite_head(head: bytes, message_id: str, at: datetime) -> tuple[bytes, int]:
    """The header of the new message from the first bytes of the old one, and the length of the old header. The empty
    line after it is left out of both.
    """
    fields: list[bytes] = []
    end = 0
    while field := _FIELD.match(head, end):
        if field[1].lower() not in _DROPPED:
            fields.append(field[0])
        end = field.end()
    first = f"Message-ID: {message_id}\r\nDate: {date_text(at)}\r\n".encode()
    return first + b"".join(fields), end
