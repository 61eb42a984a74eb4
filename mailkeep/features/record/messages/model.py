"""Messages, recipients, delivery attempts, and the events about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, field as struct_field

from mailkeep.features.record.events.model import (
    DomainName,
    EventPayload,
    FromAddress,
    Kind,
    MessageIdHeader,
    OptionalQueueId,
    QueueId,
    SizeInBytes,
    SubjectText,
)
from mailkeep.mail.smtp import bounce_class
from mailkeep.mail.smtp.bounce_class import BounceClass

Direction = Literal["outbound", "inbound"]
Source = Literal["api", "smtp", "system", "mailkeep"]
"""How a message came here: by API, by SMTP, forwarded (`system`), or written by Mailkeep itself (`mailkeep`)."""
OutboundStatus = Literal[
    "scheduled",
    "cancelled",
    "submitting",
    "lost",
    "unknown",
    "queued",
    "relayed",
    "deferred",
    "delivered",
    "bounced",
    "failed",
    "suppressed",
    "partial",
]
"""Statuses of outbound messages and, except `partial`, of their recipients.

`scheduled`: it waits for its time; `cancelled`: it was withdrawn before. `lost`: it did not reach the MTA. `unknown`:
the connection or the log was lost, so that the outcome is not known.
`relayed`: accepted by a smarthost, which reports no outcome. `bounced`: rejected permanently by the recipient's server,
or returned later. `suppressed`: not submitted to the MTA.
"""
InboundStatus = Literal["received", "rejected"]


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A mail server's reply about a recipient: SMTP code, enhanced status code (RFC 3463), text, server name."""

    smtp_code: int | None = None
    enhanced_code: str | None = None
    diagnostic: str | None = None
    remote_host: str | None = None

    @property
    def bounce(self) -> tuple[BounceClass, str | None]:
        """The class of a refusal or failure, and the provider of the server (`mail.smtp.bounce_class`)."""
        found = bounce_class.classify(self.smtp_code, self.enhanced_code, self.diagnostic, self.remote_host)
        return found, bounce_class.provider_of(self.remote_host)


UNDELIVERED = frozenset({"deferred", "bounced", "failed"})
"""The statuses of recipients whose last reply has a bounce class."""
OUTCOMES = UNDELIVERED | {"delivered"}
"""The results of attempts at the recipient's server."""


@dataclass(frozen=True, slots=True)
class RecipientSuppression:
    """The suppression because of which a recipient got nothing, and its reason."""

    id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Recipient:
    """A recipient of a message; `attempts` is the number of delivery attempts, `reply` that of the last one.

    `suppression` is set for status `suppressed`.
    """

    address: str
    status: str
    attempts: int = 0
    reply: ServerReply = ServerReply()
    next_attempt_at: datetime | None = None
    suppression: RecipientSuppression | None = None

    @property
    def bounce(self) -> tuple[BounceClass, str | None] | None:
        """Class and provider of the last reply, if it was a refusal or failure."""
        return self.reply.bounce if self.status in UNDELIVERED else None


@dataclass(frozen=True, slots=True)
class MessageDomain:
    """The sender's domain of an outbound message, the recipient's of an inbound one; `id` is None if not managed."""

    id: UUID | None
    name: str


@dataclass(frozen=True, slots=True)
class HeaderSummary:
    """The recorded header fields of a message. `message_id` has its angle brackets; `size` is that of the message."""

    message_id: str
    from_address: str
    to_addresses: list[str]
    cc_addresses: list[str]
    subject: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message; `messages/rules` constructs new ones. These fields, except `recipients`, are the columns of the table:
    a new column is a field here, with a value where the message is constructed.

    `message_id` is the header field with its angle brackets; `size` is in bytes. `accepted_at` is when the MTA accepted
    it, None for inbound mail. `scheduled_at` is the time that a message was scheduled for, also after it was sent, and
    `submitted_at` that of its latest submission: None for messages that were submitted at once. `request_id` is the API
    request that sent it, `batch_index` its position there. `client_address` is that of the server from which an inbound
    message came; None for mail of this server, and if it is not known.
    """

    id: UUID
    direction: Direction
    message_id: str
    queue_id: str | None = None
    domain_id: UUID | None
    domain_name: str
    mailbox_id: UUID | None = None
    source: Source
    admin_id: UUID | None = None
    api_key_id: UUID | None = None
    client_address: str | None = None
    mail_from: str
    from_address: str
    to_addresses: list[str]
    cc_addresses: list[str]
    subject: str
    size: int
    status: str
    created_at: datetime
    recipients: list[Recipient]
    tags: list[str] = field(default_factory=list[str])
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    spam_score: float | None = None
    spam_action: str | None = None
    spam_symbols: list[str] = field(default_factory=list[str])
    spam_decided_by: Mapping[str, Any] | None = None
    auth: Mapping[str, Any] = field(default_factory=dict[str, Any])
    accepted_at: datetime | None = None
    scheduled_at: datetime | None = None
    submitted_at: datetime | None = None
    request_id: UUID | None = None
    batch_index: int | None = None
    template_id: UUID | None = None
    template_version: int | None = None
    unsubscribe_group_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """An outbound message; `submitted_at` as in `Message`."""

    id: UUID
    submitted_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """The outcome of a delivery attempt to one recipient of an outbound message.

    `queue_id` is set if our own MTA reported the outcome, which implies that it accepted the message. `attempts` is the
    number of the attempt; None: the next number. `at` is the time of the attempt; None: the time of recording.
    `reason` is that of a `mail.failed`; None: the reply's text.
    """

    message_id: UUID
    address: str
    status: Literal["delivered", "relayed", "deferred", "bounced", "failed"]
    attempts: int | None
    reply: ServerReply
    next_attempt_at: datetime | None = None
    queue_id: str | None = None
    at: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """An attempt to deliver to `recipient`, or to submit the message if that is None. `number` is from 1; 0: none."""

    id: UUID
    message_id: UUID
    at: datetime
    kind: str
    recipient: str | None
    number: int
    reply: ServerReply
    next_attempt_at: datetime | None = None

    @property
    def provider(self) -> str | None:
        """The provider of the server that decided about the recipient."""
        return bounce_class.provider_of(self.reply.remote_host) if self.kind in OUTCOMES else None

    @property
    def bounce_class(self) -> BounceClass | None:
        """Why the recipient was deferred, bounced or failed."""
        return self.reply.bounce[0] if self.recipient and self.kind in UNDELIVERED else None


_Tags = Annotated[list[str], Meta(description="The tags that it was sent with, if any.")]
_Metadata = Annotated[dict[str, str], Meta(description="The metadata that it was sent with, if any.")]
BounceClassField = Annotated[str, Meta(description="Why: one of 16 classes, such as `mailbox_full`.")]
ProviderField = Annotated[
    str | None, Meta(description="The provider of the other server, such as `google`; null if there was none.")
]
_OUTBOUND_EXAMPLE: Mapping[str, Any] = {
    "message_id": "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.com>",
    "from": "shop@example.com",
    "to": "customer@elsewhere.example",
    "domain": "example.com",
    "subject": "Your order",
    "queue_id": "4f1XyZ2kQbz3v",
}


class MailSent(EventPayload, frozen=True, kw_only=True):
    """An outbound message was accepted for delivery: once for each message, whatever its recipients."""

    kind: ClassVar[Kind] = "mail.sent"
    example: ClassVar[Mapping[str, Any]] = {
        **{name: value for name, value in _OUTBOUND_EXAMPLE.items() if name != "queue_id"},
        "to": ["customer@elsewhere.example"],
        "tags": ["order"],
    }

    message_id: MessageIdHeader
    from_: FromAddress = struct_field(name="from")
    to: Annotated[list[str], Meta(description="The addresses of its To field.")]
    subject: SubjectText
    domain: DomainName
    tags: _Tags = []
    metadata: _Metadata = {}


class MailDelivered(EventPayload, frozen=True, kw_only=True):
    """The server of a recipient accepted the message: once for each recipient."""

    kind: ClassVar[Kind] = "mail.delivered"
    example: ClassVar[Mapping[str, Any]] = {
        **_OUTBOUND_EXAMPLE,
        "smtp_code": 250,
        "enhanced_code": "2.0.0",
        "diagnostic": "2.0.0 Ok: queued as 9D3B",
        "remote_host": "mx.elsewhere.example",
        "attempts": 1,
        "tags": ["order"],
    }

    message_id: MessageIdHeader
    from_: FromAddress = struct_field(name="from")
    to: Annotated[str, Meta(description="The recipient.")]
    domain: DomainName
    subject: SubjectText
    queue_id: OptionalQueueId
    smtp_code: Annotated[int | None, Meta(description="The other server's reply code (RFC 5321), if it replied.")]
    enhanced_code: Annotated[str | None, Meta(description="Its enhanced status code (RFC 3463), if it sent one.")]
    diagnostic: Annotated[str | None, Meta(description="The text of its reply.")]
    remote_host: Annotated[str | None, Meta(description="The other server.")]
    attempts: Annotated[int, Meta(description="The number of delivery attempts so far.")]
    tags: _Tags = []
    metadata: _Metadata = {}
    source: Annotated[str, Meta(description="`system` for a forwarded message, which nobody here sent.")] = ""


class MailBounced(MailDelivered, frozen=True, kw_only=True):
    """The server of a recipient refused the message, permanently or for now (`temporary`: published once, after the
    first attempt).
    """

    kind: ClassVar[Kind] = "mail.bounced"
    example: ClassVar[Mapping[str, Any]] = {
        **_OUTBOUND_EXAMPLE,
        "smtp_code": 550,
        "enhanced_code": "5.1.1",
        "diagnostic": "5.1.1 User unknown",
        "remote_host": "mx.elsewhere.example",
        "attempts": 1,
        "bounce_type": "permanent",
        "class": "invalid_recipient",
        "provider": "other",
    }

    bounce_type: Annotated[str, Meta(description="`permanent` or `temporary`.")]
    class_: BounceClassField = struct_field(name="class")
    provider: ProviderField


class MailFailed(MailDelivered, frozen=True, kw_only=True):
    """The message did not reach a recipient and is not retried: no server accepted it in time."""

    kind: ClassVar[Kind] = "mail.failed"
    example: ClassVar[Mapping[str, Any]] = {
        **_OUTBOUND_EXAMPLE,
        "smtp_code": None,
        "enhanced_code": "4.4.1",
        "diagnostic": "connection timed out",
        "remote_host": None,
        "attempts": 31,
        "reason": "connection timed out",
        "class": "network",
        "provider": None,
    }

    reason: Annotated[
        str | None,
        Meta(description="Why, in words. Of a scheduled message that was not submitted a code, such as `permission`."),
    ]
    class_: BounceClassField = struct_field(name="class")
    provider: ProviderField


class _AboutRecipient(EventPayload, frozen=True, kw_only=True):
    message_id: MessageIdHeader
    from_: FromAddress = struct_field(name="from")
    to: Annotated[str, Meta(description="The recipient.")]
    domain: DomainName
    subject: SubjectText
    queue_id: OptionalQueueId
    tags: _Tags = []
    metadata: _Metadata = {}
    reason: Annotated[str, Meta(description="Of the suppression: `hard_bounce`, `complaint`, `unsubscribe`, `manual`.")]
    suppression_id: Annotated[str, Meta(description="GET /suppressions/{id}; zeros for a test address.")]


class MailSuppressed(_AboutRecipient, frozen=True, kw_only=True):
    """A recipient got nothing because its address is suppressed; the message was sent to the others."""

    kind: ClassVar[Kind] = "mail.suppressed"
    example: ClassVar[Mapping[str, Any]] = {
        **_OUTBOUND_EXAMPLE,
        "reason": "hard_bounce",
        "suppression_id": "0199a1b2-6a10-7d11-8c33-1f2e3d4c5b6a",
    }


class MailComplained(_AboutRecipient, frozen=True, kw_only=True):
    """A recipient reported the message as spam; its address is suppressed for the domain."""

    kind: ClassVar[Kind] = "mail.complained"
    example: ClassVar[Mapping[str, Any]] = {
        **_OUTBOUND_EXAMPLE,
        "reason": "complaint",
        "suppression_id": "0199a1b2-6a10-7d11-8c33-1f2e3d4c5b6b",
    }


class MailReceived(EventPayload, frozen=True, kw_only=True):
    """An inbound message was delivered to a mailbox: once for each mailbox that it reached."""

    kind: ClassVar[Kind] = "mail.received"
    example: ClassVar[Mapping[str, Any]] = {
        "message_id": "<CAF7b2q@elsewhere.example>",
        "from": "jane@elsewhere.example",
        "domain": "example.com",
        "subject": "Hello",
        "size": 2310,
        "queue_id": "4f1XyZ2kR1z3w",
    }

    message_id: MessageIdHeader
    from_: FromAddress = struct_field(name="from")
    domain: DomainName
    subject: SubjectText
    size: SizeInBytes
    queue_id: QueueId
