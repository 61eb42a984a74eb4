"""Parses reports about a message: delivery status notifications (RFC 3464) and feedback reports (RFC 5965, ARF).

Only the parts directly below the report count, never those of the attached original message. No I/O; `parse_process`
limits its time and memory. The result is what the report says: nothing in it is proved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from typing import Any, Literal, cast

from msgspec import Struct

from mailkeep.mail.message.header_text import printable

MAX_RECIPIENTS = 100
_MAX_TEXT = 1000
_XTEXT = re.compile(r"\+([0-9A-F]{2})")
_ADDRESS = re.compile(r"<([^<>]*)>")


class ReportedRecipient(Struct, frozen=True):
    """A recipient in a delivery status notification; texts are empty if the report lacks them."""

    final: str
    original: str
    action: str
    status: str
    diagnostic: str
    remote_mta: str


class MessageReport(Struct, frozen=True):
    """A report. `recipients`: of a `dsn`. `reported`: the recipients that a `complaint` names, often none."""

    kind: Literal["dsn", "complaint"]
    recipients: list[ReportedRecipient] = []
    reported: list[str] = []


def parse_report(content: bytes) -> MessageReport | None:
    """The report in a message; None if it is none. A feedback report of another type than `abuse` or `fraud` is no
    complaint.
    """
    try:
        message = message_from_bytes(content)
        if message.get_content_type() != "multipart/report":
            return None
        for part in _parts(message):
            match part.get_content_type():
                case "message/delivery-status":
                    return MessageReport("dsn", list(_recipients(part)))
                case "message/feedback-report":
                    return _complaint(part)
                case _:
                    pass
    except (RecursionError, LookupError, ValueError, TypeError, AttributeError):
        return None  # the standard library's parser does not accept everything
    return None


def _parts(message: Message) -> list[Message]:
    """The parts of a message, or the blocks of fields of a report."""
    payload: Any = message.get_payload()
    return cast(list[Message], payload)[: MAX_RECIPIENTS + 1] if isinstance(payload, list) else []


def _recipients(part: Message) -> Iterator[ReportedRecipient]:
    """The recipients: each has a block of fields, after that of the message."""
    for block in _parts(part):
        if block["Final-Recipient"] is None and block["Original-Recipient"] is None:
            continue
        original = _value_of(block, "Original-Recipient")
        yield ReportedRecipient(
            _value_of(block, "Final-Recipient"),
            _XTEXT.sub(lambda hexadecimal: chr(int(hexadecimal[1], 16)), original),
            _text(block, "Action").lower(),
            _text(block, "Status").partition(" ")[0],
            _value_of(block, "Diagnostic-Code"),
            _value_of(block, "Remote-MTA"),
        )


def _complaint(part: Message) -> MessageReport | None:
    blocks = _parts(part)
    if not blocks or _text(blocks[0], "Feedback-Type").lower() not in ("abuse", "fraud"):
        return None
    fields = blocks[0]
    values: list[Any] = fields.get_all("Original-Rcpt-To", []) + fields.get_all("Removal-Recipient", [])
    return MessageReport("complaint", reported=[_address(str(each)) for each in values[:MAX_RECIPIENTS]])


def _text(block: Message, name: str) -> str:
    return printable(" ".join(str(block[name] or "").split()))[:_MAX_TEXT]


def _value_of(block: Message, name: str) -> str:
    """A value with its type, such as `rfc822; someone@example.org`, without the type."""
    text = _text(block, name)
    kind, semicolon, value = text.partition(";")
    return _address(value.strip() if semicolon and " " not in kind.strip() else text)


def _address(text: str) -> str:
    text = printable(" ".join(text.split()))[:_MAX_TEXT]
    match = _ADDRESS.fullmatch(text)
    return match[1] if match else text
