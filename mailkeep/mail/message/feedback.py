"""The part message/feedback-report of an abuse report (ARF, RFC 5965): what all readers of such reports use."""

from __future__ import annotations

from dataclasses import dataclass

from mailkeep.mail.message.header_fields import parse_head
from mailkeep.mail.message.header_text import printable

FEEDBACK_REPORT = "message/feedback-report"
COMPLAINTS = frozenset({"abuse", "fraud"})
"""Types of feedback by which a recipient complains about a message (RFC 5965 §3.5)."""
_MAX_RECIPIENTS = 100
_MAX_ADDRESS = 320


@dataclass(frozen=True, slots=True)
class Feedback:
    """The fields of the report by their names in lower case, as the reporter wrote them: nothing in it is proved."""

    fields: dict[str, list[str]]

    def first(self, name: str) -> str:
        """The first value of a field, or empty."""
        return self.fields.get(name, [""])[0]

    @property
    def recipients(self) -> list[str]:
        """The recipients that the report names, often none (Original-Rcpt-To, Removal-Recipient)."""
        named = [*self.fields.get("original-rcpt-to", []), *self.fields.get("removal-recipient", [])]
        return [address(each) for each in named[:_MAX_RECIPIENTS]]


def read_feedback(part: bytes) -> Feedback:
    """Read the content of the part; never fails."""
    by_name: dict[str, list[str]] = {}
    for field in parse_head(part.lstrip() + b"\r\n\r\n").fields:
        by_name.setdefault(field.name.lower(), []).append(field.value)
    return Feedback(by_name)


def address(text: str) -> str:
    """An address of a report without angle brackets, cut to a sensible length."""
    return printable(text.strip(" \t<>"))[:_MAX_ADDRESS]
