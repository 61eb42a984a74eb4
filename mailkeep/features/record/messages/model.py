"""A message, its recipients, and where its content lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from mailkeep.core.ids import uuid7_time

Direction = Literal["outbound", "inbound"]
Source = Literal["api", "smtp", "system"]


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a mail server said of a recipient: SMTP code, enhanced code (RFC 3463), its words, its name."""

    smtp_code: int | None = None
    enhanced_code: str | None = None
    diagnostic: str | None = None
    remote_host: str | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """One recipient of a message and what became of it; `attempts` counts tries of delivery."""

    address: str
    status: str
    attempts: int = 0
    reply: ServerReply = ServerReply()
    next_attempt_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `message_id` is the header's value with its angle brackets; `size` in bytes.

    `accepted_at` is when the MTA took it, None for inbound mail; `request_id` and `batch_index` are the request that
    it was sent with and its place in it.
    """

    id: UUID
    direction: Direction
    message_id: str
    queue_id: str | None
    domain_id: UUID | None
    domain_name: str
    mailbox_id: UUID | None
    source: Source
    admin_id: UUID | None
    api_key_id: UUID | None
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
    auth: Mapping[str, Any] = field(default_factory=dict[str, Any])
    accepted_at: datetime | None = None
    request_id: UUID | None = None
    batch_index: int | None = None


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What became of one recipient of an outbound message.

    `queue_id` is given where our own MTA tells it: it has accepted the message then, whoever has heard of that.
    `attempts` counts the tries; None: this is one more than are on record. `at` is when it was, None: now.
    """

    message_id: UUID
    address: str
    status: Literal["delivered", "relayed", "deferred", "bounced", "failed"]
    attempts: int | None
    reply: ServerReply
    next_attempt_at: datetime | None = None
    queue_id: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """A try to deliver to `recipient`; None: to submit the message. `number` counts from 1."""

    id: UUID
    message_id: UUID
    at: datetime
    kind: str
    recipient: str | None
    number: int
    reply: ServerReply
    next_attempt_at: datetime | None = None


def content_folder(data_dir: Path) -> Path:
    """The folder of contents, with one for each day (UTC)."""
    return data_dir / "content"


def content_path(data_dir: Path, message_id: UUID) -> Path:
    """Where the content of a message lies while it is kept."""
    return content_folder(data_dir) / f"{uuid7_time(message_id):%Y-%m-%d}" / f"{message_id}.eml"
