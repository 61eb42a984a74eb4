"""An event: about a message, or the system itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

MailKind = Literal[
    "mail.sent",
    "mail.delivered",
    "mail.bounced",
    "mail.failed",
    "mail.received",
    "mail.received.full",
    "mail.spam",
]
SystemKind = Literal["system.suspension", "system.alert", "system.webhook_disabled"]
"""What tells of the system itself; a subscription to `*` does not mean these."""
Kind = Literal[MailKind, SystemKind]


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is one of the published kinds (`mail.sent`, …); `message_id` the id of the message row."""

    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event on record; `tx` is the transaction that told it, by which the feed is ordered before the id."""

    id: UUID
    tx: str
    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events the feed shows; `domains` are those that the caller sees, None for all."""

    domains: list[UUID] | None
    kind: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedStart:
    """Where a reader goes on: beyond the event `after`; one from before `kept_since` may be gone."""

    after: UUID | None
    kept_since: datetime


FeedPosition = tuple[str, UUID]
"""A place in the order of the feed: (transaction, id) of the last event seen."""

BEGINNING = UUID(int=0)
"""Stands for the id of an event before the first one."""


@dataclass(frozen=True, slots=True)
class StreamStart:
    """Where a stream begins: beyond `position`, that of `event_id`; `truncated`: what was asked for is gone."""

    position: FeedPosition | None
    event_id: UUID
    truncated: bool


# What the data of each kind is; docs/reference/events.md is made from it.

_MessageId = Annotated[str, Meta(description="Its Message-ID header.")]
_From = Annotated[str, Meta(description="The address of its sender.")]
_Domain = Annotated[str, Meta(description="The managed domain that it is from, or for.")]
_Subject = Annotated[str, Meta(description="Its subject, decoded.")]
_QueueId = Annotated[str, Meta(description="What the mail server calls it.")]
_QueueIdIfAny = Annotated[str | None, Meta(description="What the mail server calls it, if it does.")]
_Size = Annotated[int, Meta(description="Bytes.")]
_Score = Annotated[float, Meta(description="What the filter counted.")]
_Action = Annotated[str, Meta(description="What the filter made of it, like `add header`.")]
_Tags = Annotated[list[str], Meta(description="As it was sent with, where it was.")]
_Metadata = Annotated[dict[str, str], Meta(description="As it was sent with, where it was.")]
_Truncated = Annotated[bool, Meta(description="Content is left out: it is over 25 MB, or no longer kept (3 days).")]


class _Data(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of a kind."""


class EventAddress(_Data, frozen=True, kw_only=True):
    """An address of a header."""

    name: str
    email: str


class MailSent(_Data, frozen=True, kw_only=True):
    """An outbound message was accepted for delivery: once a message, whatever its recipients."""

    message_id: _MessageId
    from_: _From = field(name="from")
    to: Annotated[list[str], Meta(description="The addresses of its To field.")]
    subject: _Subject
    domain: _Domain
    tags: _Tags = []
    metadata: _Metadata = {}


class MailDelivered(_Data, frozen=True, kw_only=True):
    """The server of a recipient took the message: once a recipient."""

    message_id: _MessageId
    from_: _From = field(name="from")
    to: Annotated[str, Meta(description="The recipient.")]
    domain: _Domain
    subject: _Subject
    queue_id: _QueueIdIfAny
    smtp_code: Annotated[int | None, Meta(description="What the other server answered (RFC 5321), if it did.")]
    enhanced_code: Annotated[str | None, Meta(description="The same in detail (RFC 3463), if it said so.")]
    diagnostic: Annotated[str | None, Meta(description="The same in words.")]
    remote_host: Annotated[str | None, Meta(description="The other server.")]
    attempts: Annotated[int, Meta(description="How many tries it took so far.")]
    tags: _Tags = []
    metadata: _Metadata = {}
    source: Annotated[str, Meta(description="`system` where nobody here sent it: it was passed on.")] = ""


class MailBounced(MailDelivered, frozen=True, kw_only=True):
    """The server of a recipient refused the message; `temporary`: for now, told once, at the first time."""

    bounce_type: Annotated[str, Meta(description="`permanent` or `temporary`.")]


class MailFailed(MailDelivered, frozen=True, kw_only=True):
    """The message did not reach a recipient, and nobody tries any more: no server took it in time."""

    reason: Annotated[str | None, Meta(description="Why, in words.")]


class MailReceived(_Data, frozen=True, kw_only=True):
    """An inbound message was delivered to a mailbox: once for each mailbox that it reached."""

    message_id: _MessageId
    from_: _From = field(name="from")
    domain: _Domain
    subject: _Subject
    size: _Size
    queue_id: _QueueId


class EventAttachment(_Data, frozen=True, kw_only=True):
    """A part of a message that is a file."""

    filename: str | None
    content_type: str
    size: int
    content_base64: str | None


class EventEnvelope(_Data, frozen=True, kw_only=True):
    """The addresses of SMTP; `rcpt_to` before aliases."""

    mail_from: str
    rcpt_to: list[str]


class MailReceivedFull(_Data, frozen=True, kw_only=True):
    """The same as `mail.received`, with the message taken apart: made while a webhook wants it (`*` does)."""

    message_id: _MessageId
    from_: Annotated[EventAddress, Meta(description="Its sender: `name`, `email`.")] = field(name="from")
    to: Annotated[list[EventAddress], Meta(description="`name` and `email` of each in its To field.")]
    cc: Annotated[list[EventAddress], Meta(description="The same of its Cc field.")]
    reply_to: Annotated[EventAddress | None, Meta(description="Where answers shall go, where it says so.")]
    subject: _Subject
    body_text: Annotated[str | None, Meta(description="Its text, if it has one.")]
    body_html: Annotated[str | None, Meta(description="Its HTML as it came: not made safe.")]
    attachments: Annotated[
        list[EventAttachment], Meta(description="`filename`, `content_type`, `size` and `content_base64` of each.")
    ]
    headers: Annotated[
        dict[str, str | list[str]] | None, Meta(description="All by name; a list where one is repeated.")
    ]
    envelope: Annotated[EventEnvelope, Meta(description="`mail_from` and `rcpt_to`, before aliases.")]
    domain: _Domain
    size: _Size
    spam_score: _Score
    spam_action: _Action
    queue_id: _QueueId
    truncated: _Truncated
    parse_error: Annotated[str | None, Meta(description="Why it could not be taken apart, where it couldn't.")] = None


class MailSpam(_Data, frozen=True, kw_only=True):
    """An inbound message was flagged as spam; it lies in its mailbox's Junk folder, told as `mail.received` too."""

    message_id: _MessageId
    from_: _From = field(name="from")
    domain: _Domain
    spam_score: _Score
    spam_action: _Action


class SystemSuspension(_Data, frozen=True, kw_only=True):
    """Sending was suspended for an address, by the abuse rules or by an administrator."""

    address: Annotated[str, Meta(description="Who may send no more.")]
    domain: Annotated[str, Meta(description="Its domain.")]
    reason: Annotated[str, Meta(description="Why, in words.")]
    by: Annotated[str, Meta(description="`rules` or `admin`.")]


class SystemAlert(_Data, frozen=True, kw_only=True):
    """Somebody should have a look: `outcome_unknown`, when nobody can tell what became of a message."""

    alert: Annotated[str, Meta(description="What it is about: `outcome_unknown`.")]
    message_id: _MessageId
    from_: _From = field(name="from")
    to: Annotated[list[str], Meta(description="The recipients in question.")]
    domain: _Domain
    subject: _Subject
    queue_id: _QueueIdIfAny
    reason: Annotated[str, Meta(description="Why, in words.")]


class SystemWebhookDisabled(_Data, frozen=True, kw_only=True):
    """A webhook was made inactive: for `webhooks.disable_after_hours` nothing has arrived there."""

    webhook_id: Annotated[str, Meta(description="Its id.")]
    url: Annotated[str, Meta(description="Where it was.")]
    domain: Annotated[str | None, Meta(description="Its domain; null: it was told of all.")]
    failing_since: Annotated[str | None, Meta(description="When the first of these attempts failed.")]
    disabled_at: Annotated[str | None, Meta(description="When it was made inactive.")]


CATALOGUE: Mapping[Kind, type[Struct]] = {
    "mail.sent": MailSent,
    "mail.delivered": MailDelivered,
    "mail.bounced": MailBounced,
    "mail.failed": MailFailed,
    "mail.received": MailReceived,
    "mail.received.full": MailReceivedFull,
    "mail.spam": MailSpam,
    "system.suspension": SystemSuspension,
    "system.alert": SystemAlert,
    "system.webhook_disabled": SystemWebhookDisabled,
}
"""The shape of each kind's data. Its docstring says when it is told, `Meta` what a field means."""

_SENT = "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.com>"
_LETTER: Mapping[str, Any] = {
    "message_id": _SENT,
    "from": "shop@example.com",
    "to": "customer@elsewhere.example",
    "domain": "example.com",
    "subject": "Your order",
}
_FATE: Mapping[str, Any] = {**_LETTER, "queue_id": "4f1XyZ2kQbz3v"}
_CAUGHT: Mapping[str, Any] = {"message_id": "<CAF7b2q@elsewhere.example>", "from": "jane@elsewhere.example"}

EXAMPLES: Mapping[Kind, Mapping[str, Any]] = {
    "mail.sent": {**_LETTER, "to": ["customer@elsewhere.example"], "tags": ["order"]},
    "mail.delivered": {
        **_FATE,
        "smtp_code": 250,
        "enhanced_code": "2.0.0",
        "diagnostic": "2.0.0 Ok: queued as 9D3B",
        "remote_host": "mx.elsewhere.example",
        "attempts": 1,
        "tags": ["order"],
    },
    "mail.bounced": {
        **_FATE,
        "smtp_code": 550,
        "enhanced_code": "5.1.1",
        "diagnostic": "5.1.1 User unknown",
        "remote_host": "mx.elsewhere.example",
        "attempts": 1,
        "bounce_type": "permanent",
    },
    "mail.failed": {
        **_FATE,
        "smtp_code": None,
        "enhanced_code": "4.4.1",
        "diagnostic": "connection timed out",
        "remote_host": None,
        "attempts": 31,
        "reason": "connection timed out",
    },
    "mail.received": {
        **_CAUGHT,
        "domain": "example.com",
        "subject": "Hello",
        "size": 2310,
        "queue_id": "4f1XyZ2kR1z3w",
    },
    "mail.received.full": {
        **_CAUGHT,
        "from": {"name": "Jane", "email": "jane@elsewhere.example"},
        "to": [{"name": "", "email": "sales@example.com"}],
        "cc": [],
        "reply_to": None,
        "subject": "Hello",
        "body_text": "See the picture.\n",
        "body_html": None,
        "attachments": [
            {"filename": "dot.gif", "content_type": "image/gif", "size": 6, "content_base64": "R0lGODlh"},
        ],
        "headers": {"From": "Jane <jane@elsewhere.example>", "Received": ["from a by b", "from c by a"]},
        "envelope": {"mail_from": "jane@elsewhere.example", "rcpt_to": ["sales@example.com"]},
        "domain": "example.com",
        "size": 2310,
        "spam_score": 0.4,
        "spam_action": "no action",
        "queue_id": "4f1XyZ2kR1z3w",
        "truncated": False,
    },
    "mail.spam": {**_CAUGHT, "domain": "example.com", "spam_score": 12.1, "spam_action": "add header"},
    "system.suspension": {
        "address": "shop@example.com",
        "domain": "example.com",
        "reason": "More than 1000 recipients within an hour.",
        "by": "rules",
    },
    "system.alert": {
        "alert": "outcome_unknown",
        **_FATE,
        "to": ["customer@elsewhere.example"],
        "reason": "Its log was lost.",
    },
    "system.webhook_disabled": {
        "webhook_id": "0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a38",
        "url": "https://receiver.example/hook",
        "domain": None,
        "failing_since": "2026-03-01T12:00:00.000Z",
        "disabled_at": "2026-03-06T12:00:00.000Z",
    },
}
"""Data of each kind, as it may be."""
