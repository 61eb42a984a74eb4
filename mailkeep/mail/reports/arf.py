"""Parses abuse reports (ARF, RFC 5965): the part message/feedback-report, and the reported message or its header."""

from __future__ import annotations

import hashlib
from datetime import UTC
from email.utils import parsedate_to_datetime

from mailkeep.mail.message.feedback import FEEDBACK_REPORT, read_feedback
from mailkeep.mail.message.header_fields import MessageHeader, parse_head
from mailkeep.mail.message.parse import ParsedAttachment
from mailkeep.mail.reports import values
from mailkeep.mail.reports.model import AbuseReport, InvalidReport

_WHOLE = ("message/rfc822", "message/global")
_REPORTED = (*_WHOLE, "message/rfc822-headers", "text/rfc822-headers")
_MAX_RECIPIENTS = 20
_MAX_ORIGINAL = 1 << 20
_MAX_ADDRESS = 320


def parse_arf(head: MessageHeader, attachments: list[ParsedAttachment]) -> AbuseReport:
    """The report in the parts of a message whose header is `head`. InvalidReport."""
    feedback = [part.content for part in attachments if part.content_type == FEEDBACK_REPORT and part.content]
    if len(feedback) != 1:
        raise InvalidReport("The abuse report must have exactly one part message/feedback-report")
    fields = read_feedback(feedback[0])
    reported = next((part.content for part in attachments if part.content_type in _REPORTED and part.content), b"")
    original = parse_head(reported)
    whole = next((part.content for part in attachments if part.content_type in _WHOLE and part.content), b"")
    if not fields.first("feedback-type"):
        raise InvalidReport("The abuse report has no Feedback-Type")
    domain = original.from_address.rpartition("@")[2] or fields.first("reported-domain")
    arrived = _seconds(fields.first("arrival-date") or fields.first("received-date") or _date(head))
    source_ip = fields.first("source-ip")
    incidents = fields.first("incidents")
    return AbuseReport(
        domain=values.domain(domain, "The domain of the reported message"),
        organisation=values.text(head.from_address.rpartition("@")[2], 255),
        report_id=hashlib.sha256(feedback[0] + b"\0" + reported).hexdigest(),
        contact=values.text(head.from_address, _MAX_ADDRESS),
        begin=arrived,
        end=arrived,
        feedback_type=values.word(fields.first("feedback-type"), "The Feedback-Type"),
        source_ip=values.ip_address(source_ip, "The Source-IP") if source_ip else "",
        mail_from=values.text(fields.first("original-mail-from").strip(" <>"), _MAX_ADDRESS),
        recipients=tuple(fields.recipients[:_MAX_RECIPIENTS]),
        message_id=values.text(original.message_id, 998),
        subject=values.text(original.subject, 500),
        incidents=max(values.number(incidents, "Incidents"), 1) if incidents else 1,
        original=whole if len(whole) <= _MAX_ORIGINAL else b"",
    )


def _date(head: MessageHeader) -> str:
    return next((field.value for field in head.fields if field.name.lower() == "date"), "")


def _seconds(date: str) -> int:
    try:
        arrived = parsedate_to_datetime(date)
    except (ValueError, IndexError, TypeError, OverflowError):
        raise InvalidReport("The abuse report has no valid date") from None
    seconds = int((arrived if arrived.tzinfo else arrived.replace(tzinfo=UTC)).timestamp())
    return values.period(seconds, seconds)[0]
