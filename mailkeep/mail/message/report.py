"""Parses reports about a message: delivery status notifications (RFC 3464) and feedback reports (RFC 5965, ARF).

Only the parts of the report count, never those of the attached original message. No I/O; `parse_process` limits its
time and memory. The result is what the report says: nothing in it is proved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from mailkeep.mail.message import feedback
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.header_text import printable
from mailkeep.mail.message.parse import parse

MAX_RECIPIENTS = 100
_MAX_TEXT = 1000
_STATUS_PARTS = ("message/delivery-status", "message/global-delivery-status")
_XTEXT = re.compile(r"\+([0-9A-F]{2})")
_BLOCK_END = re.compile(rb"\r?\n(?:[ \t]*\r?\n)+")


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
    complaint. UnparsableMessage.
    """
    types = [field.value for field in parse_head(content[:MAX_HEAD]).fields if field.name.lower() == "content-type"]
    if not types or types[0].partition(";")[0].strip().lower() != "multipart/report":
        return None
    for part in parse(content).attachments:
        if part.content_type in _STATUS_PARTS:
            return MessageReport("dsn", list(_recipients(part.content or b"")))
        if part.content_type == feedback.FEEDBACK_REPORT:
            found = feedback.read_feedback(part.content or b"")
            is_complaint = found.first("feedback-type").strip().lower() in feedback.COMPLAINTS
            return MessageReport("complaint", reported=found.recipients) if is_complaint else None
    return None


def _recipients(content: bytes) -> Iterator[ReportedRecipient]:
    """The recipients: each has a block of fields, after that of the message."""
    for block in _BLOCK_END.split(content.strip(), maxsplit=MAX_RECIPIENTS + 1)[: MAX_RECIPIENTS + 1]:
        fields: dict[str, str] = {}
        for field in parse_head(block + b"\r\n\r\n").fields:
            fields.setdefault(field.name.lower(), printable(" ".join(field.value.split()))[:_MAX_TEXT])
        if "final-recipient" not in fields and "original-recipient" not in fields:
            continue
        original = _value(fields, "original-recipient")
        yield ReportedRecipient(
            feedback.address(_value(fields, "final-recipient")),
            feedback.address(_XTEXT.sub(lambda hexadecimal: chr(int(hexadecimal[1], 16)), original)),
            fields.get("action", "").lower(),
            fields.get("status", "").partition(" ")[0],
            _value(fields, "diagnostic-code"),
            _value(fields, "remote-mta"),
        )


def _value(fields: dict[str, str], name: str) -> str:
    """A value with its type, such as `rfc822; someone@example.org`, without the type."""
    text = fields.get(name, "")
    kind, semicolon, value = text.partition(";")
    return value.strip() if semicolon and " " not in kind.strip() else text
