"""A message to send, from the request to its acceptance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.suppressions.model import SuppressedAddress
from mailkeep.features.record.messages.model import Message, Recipient
from mailkeep.mail.message.compose import ComposedMessage, OutgoingMessage
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

SubmissionResult = AcceptedSubmission | SmtpRefusal | ConnectionLost


@dataclass(frozen=True, slots=True)
class AddressInput:
    """An address of a request, not yet parsed, with its display name."""

    email: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class AttachmentInput:
    """An attachment of a request; `content` is base64 text, a slice of the request body."""

    filename: str
    content_type: str
    content: bytes | memoryview
    content_id: str
    inline: bool


@dataclass(frozen=True, slots=True)
class SendRequest:
    """A message as requested: only the types are checked. `template_version`: the one it was rendered from."""

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
    template_id: UUID | None = None
    template_version: int | None = None
    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    scheduled_at: datetime | None = None
    unsubscribe_group: UUID | None = None


@dataclass(frozen=True, slots=True)
class SenderDomain:
    """The domain of a sender; `owner_rank` is the rank of the administrator whose address the sender is, if any.

    `suppressions`: those of the domain for the recipients that were asked for. `groups`: which of the unsubscribe
    groups that were asked for belong to it.
    """

    id: UUID
    name: str
    active: bool
    sending_enabled: bool
    has_relay: bool = False
    owner_rank: int | None = None
    suppressions: Sequence[SuppressedAddress] = ()
    groups: Collection[UUID] = ()


@dataclass(frozen=True, slots=True)
class SenderLookup:
    """What is looked up for messages: the names of senders' and recipients' domains with the senders' keys, the keys of
    recipients, and unsubscribe groups.
    """

    names: Collection[str]
    recipients: Collection[str]
    groups: Collection[UUID]


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """A checked message, ready to be recorded and submitted. `envelope` has each recipient once, without those that are
    suppressed. `mail_from` is the envelope sender.
    """

    id: UUID
    sender: MailboxAddress
    domain: SenderDomain
    envelope: Sequence[Address]
    outgoing: OutgoingMessage
    composed: ComposedMessage
    request: SendRequest
    mail_from: str
    suppressed: Sequence[Recipient] = ()


@dataclass(frozen=True, slots=True)
class SendAttempt:
    """The history's row of a message to submit, and what is counted for it."""

    message: Message
    charge: SendCharge

    @property
    def count(self) -> tuple[datetime, SendCharge]:
        """The charge with the time at which it was counted, to uncount it."""
        return self.message.submitted_at or self.message.created_at, self.charge


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A message that the MTA accepted: our ID, its Message-ID, and the recipients with their first status."""

    id: UUID
    message_id: str
    status: str
    recipients: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DueMessage:
    """A scheduled message that a worker has claimed: its row in the history, its request, and its fencing token."""

    message: Message
    request: SendRequest
    claims: int


@dataclass(frozen=True, slots=True)
class OpenSubmission:
    """An attempt without a recorded result; `queue_id` if the sandbox or our MTA has the message."""

    id: UUID
    message_id: str
    queue_id: str | None
