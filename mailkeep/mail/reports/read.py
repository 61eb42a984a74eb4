"""Reads a report. The child process of `reader` runs `main`."""

from __future__ import annotations

import msgspec

from mailkeep.mail.message.feedback import FEEDBACK_REPORT
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.parse_worker import serve
from mailkeep.mail.reports.arf import parse_arf
from mailkeep.mail.reports.dmarc import parse_dmarc
from mailkeep.mail.reports.model import InvalidReport, Report
from mailkeep.mail.reports.tls import parse_tls
from mailkeep.mail.reports.unpack import find_report, is_archive, is_text_report, open_message, unpack


def read(content: bytes) -> Report:
    """Read a file or a message. InvalidReport."""
    if is_archive(content) or is_text_report(content):
        return _parse(unpack(content))
    head = parse_head(content[:MAX_HEAD])
    if not head.fields:
        raise InvalidReport("The file is neither XML, JSON, gzip, zip nor a mail message")
    attachments = open_message(content).attachments
    if any(part.content_type == FEEDBACK_REPORT for part in attachments):
        return parse_arf(head, attachments)
    return _parse(unpack(find_report(attachments)))


def _parse(text: bytes) -> Report:
    if text.startswith(b"<"):
        return parse_dmarc(text)
    if text.startswith(b"{"):
        return parse_tls(text)
    raise InvalidReport("The file is neither XML nor JSON")


def main(descriptor: int, cpu_seconds: int, memory: int) -> None:
    """Serve the socket with this file descriptor (see `parse_worker.serve`)."""
    serve(descriptor, cpu_seconds, memory, _answer)


def _answer(content: bytes, max_size: int, number: int) -> tuple[bytes, bytes]:
    text = msgspec.json.encode(read(content))
    if len(text) > max_size:
        raise InvalidReport("The report is too large")
    return b"", text
