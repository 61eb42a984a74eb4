"""A message that somebody asks to send, on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.mail.message.compose import ComposedMessage, OutgoingMessage
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

SubmissionResult = AcceptedSubmission | SmtpRefusal | ConnectionLost
"""What came of a submission."""


@dataclass(frozen=True, slots=True)
class AddressInput:
    """An address as it was asked for, not yet parsed, with its display name."""

    email: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class AttachmentInput:
    """An attachment as it was asked for; `content` is base64 text, still the request body's own bytes."""

    filename: str
    content_type: str
    content: bytes | memoryview
    content_id: str
    inline: bool


@dataclass(frozen=True, slots=True)
class SendRequest:
    """A message as it was asked for: the types are right, nothing else has been looked at."""

    sender: AddressInput
    to: Sequence[AddressInput]
    cc: Sequence[AddressInput]
    bcc: Sequence[AddressInput]
    reply_to: AddressInput | None
    subject: str
    text_body: str | None
    html_body: str | None
    attachments: Sequence[AttachmentInput]
    headers: Any
    in_reply_to: str
    references: Sequence[str]
    unsubscribe: Mapping[str, Any] | None
    tags: Sequence[str]
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SenderDomain:
    """A sender's domain, as far as sending cares; `owner_rank`: of the administrator whose address the sender is."""

    id: UUID
    name: str
    active: bool
    sending_enabled: bool
    has_relay: bool = False
    owner_rank: int | None = None


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A checked message: ready to be written down and submitted. `envelope` has each recipient once."""

    id: UUID
    sender: MailboxAddress
    domain: SenderDomain
    envelope: Sequence[Address]
    outgoing: OutgoingMessage
    composed: ComposedMessage
    request: SendRequest


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A message that the MTA took: our id, its Message-ID, and the recipients with their first status."""

    id: UUID
    message_id: str
    status: str
    recipients: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """An attempt that nobody ended; `queue_id` where the sandbox has the message."""

    id: UUID
    message_id: str
    queue_id: str | None
