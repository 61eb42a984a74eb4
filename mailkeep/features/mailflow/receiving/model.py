"""A message that arrived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.features.directory.routing.model import Route
from mailkeep.features.record.messages.model import Source
from mailkeep.mail.message.header_fields import MessageHeader

ReceiveOutcome = Literal["deliver", "mailbox_full", "message_too_large", "unknown_user"]
"""What became of a message: brought to at least one place, or why to none."""


@dataclass(frozen=True, slots=True)
class InboundMail:
    """A message for recipients whose routes say `deliver`. `content` opens it anew for each mailbox.

    `trace` is the Received field that stands before it (RFC 5321 §4.4), with its CRLF.
    """

    queue_id: str
    mail_from: str
    recipients: Sequence[tuple[str, Route]]
    head: MessageHeader
    size: int
    content: Callable[[], Iterable[bytes]]
    source: Source
    trace: bytes = b""


@dataclass(frozen=True, slots=True)
class TargetMailbox:
    """A mailbox as a place of delivery; `wants_full` says whether anybody wants its mail as an event."""

    mailbox_id: UUID
    domain_id: UUID
    domain_name: str
    quota_bytes: int
    used_bytes: int
    wants_full: bool

    def is_full(self, size: int) -> bool:
        """Whether mail of this many bytes has no room here; no quota is a quota of 0."""
        return 0 < self.quota_bytes < max(self.used_bytes + size, self.used_bytes + 1)


@dataclass(frozen=True, slots=True)
class SpamVerdict:
    """What the filter says of a message; `action` in Rspamd's words: `no action`, `add header`."""

    score: float
    action: str
    symbols: Sequence[str]

    @property
    def is_spam(self) -> bool:
        """Whether it belongs into the Junk folder. What the filter would have put off is not spam when it comes."""
        return self.action not in ("no action", "greylist", "soft reject")


@dataclass(frozen=True, slots=True)
class QueuedForward:
    """A copy for the outside that the MTA has not taken yet; `attempts` counts the tries so far."""

    queue_id: str
    recipient: str
    mail_from: str
    attempts: int


@dataclass(frozen=True, slots=True)
class RejectedRecipient:
    """A recipient that was refused at SMTP, from `source` (an address), with what was answered."""

    source: str
    mail_from: str
    rcpt_to: str
    smtp_code: int
    enhanced_code: str
    text: str
