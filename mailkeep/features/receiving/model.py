"""A message that arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailkeep.features.messages.model import Source
from mailkeep.features.routing.model import Route
from mailkeep.mail.head import Head


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message for recipients whose routes say `deliver`. `content` opens it anew for each mailbox.

    `trace` is the Received field that stands before it (RFC 5321 §4.4), with its CRLF.
    """

    queue_id: str
    mail_from: str
    recipients: Sequence[tuple[str, Route]]
    head: Head
    size: int
    content: Callable[[], Iterable[bytes]]
    source: Source
    trace: bytes = b""


@dataclass(frozen=True, slots=True)
class Home:
    """A mailbox as a place of delivery."""

    mailbox_id: UUID
    domain_id: UUID
    domain_name: str


@dataclass(frozen=True, slots=True)
class Forward:
    """A copy for the outside that the MTA has not taken yet; `attempts` counts the tries so far."""

    queue_id: str
    recipient: str
    mail_from: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """A recipient that was refused at SMTP, from `source` (an address), with what was answered."""

    source: str
    mail_from: str
    rcpt_to: str
    smtp_code: int
    enhanced_code: str
    text: str
