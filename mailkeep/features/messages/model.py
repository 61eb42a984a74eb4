"""A message of the history, and its recipients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Direction = Literal["outbound", "inbound"]
Source = Literal["api", "smtp", "system"]


@dataclass(frozen=True, slots=True)
class Reply:
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
    reply: Reply = Reply()
    next_attempt_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message. `message_id` is the header's value with its angle brackets; `size` in bytes."""

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


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one recipient of an outbound message."""

    message_id: UUID
    address: str
    status: str
    attempts: int
    reply: Reply
    next_attempt_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which messages a list shows; `domains` are those that the caller sees, None for all."""

    domains: list[UUID] | None
    direction: str | None = None
    status: str | None = None
    from_: str | None = None
    to: str | None = None
    subject: str | None = None
    message_id: str | None = None
    queue_id: str | None = None
    tag: str | None = None
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    q: str | None = None
