"""Reported and counted usage of mailboxes, delivered messages, and logins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from msgspec import Meta

from mailkeep.features.record.events.model import EventPayload, Kind


@dataclass(frozen=True, slots=True)
class MailboxLogin:
    """A successful login to a mailbox; `protocol` is imap, pop3, sieve or smtp (submission)."""

    mailbox_id: UUID
    at: datetime
    protocol: str
    ip: str


@dataclass(frozen=True, slots=True)
class MailboxUsage:
    """The usage of a mailbox, all folders together, at `at`. `may_be_stale`: a newer report may have arrived before."""

    mailbox_id: UUID
    at: datetime
    used_bytes: int
    message_count: int
    may_be_stale: bool = False


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Messages delivered to a mailbox: their total `size` in bytes, and when the last one arrived."""

    mailbox_id: UUID
    at: datetime
    size: int
    messages: int


@dataclass(frozen=True, slots=True)
class TrackedMailbox:
    """A mailbox whose usage is kept: when it was last reported and last counted (None: never)."""

    mailbox_id: UUID
    address: str
    has_mail: bool
    reported_at: datetime | None
    counted_at: datetime | None


@dataclass(frozen=True, slots=True)
class MailFolder:
    """A folder of a mailbox by its path, such as `INBOX` or `Archive/2026`; `size` in bytes."""

    name: str
    messages: int
    unseen: int
    size: int


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """A mailbox whose usage has passed a level (percent of its quota): the previous and the present one."""

    mailbox_id: UUID
    domain_id: UUID
    domain_name: str
    address: str
    before: int
    level: int
    used_bytes: int
    quota_bytes: int
    in_use: bool  # neither inactive nor in the trash


class MailboxQuota(EventPayload, frozen=True, kw_only=True):
    """The mail in a mailbox has reached 80 or 95 percent of its quota. Once for each, until it is 5 percent lower."""

    kind: ClassVar[Kind] = "mailbox.quota"
    example: ClassVar[Mapping[str, Any]] = {
        "mailbox_id": "0199a1b2-6a10-7d4e-8f52-1e9a7d2c3b49",
        "address": "alice@example.test",
        "domain": "example.test",
        "level": 80,
        "used_bytes": 4_311_744_512,
        "quota_bytes": 5_368_709_120,
    }

    mailbox_id: Annotated[str, Meta(description="Its ID.")]
    address: Annotated[str, Meta(description="Its address.")]
    domain: Annotated[str, Meta(description="Its domain.")]
    level: Annotated[int, Meta(description="80 or 95.")]
    used_bytes: Annotated[int, Meta(description="Bytes in all its folders.")]
    quota_bytes: Annotated[int, Meta(description="Its quota in bytes.")]
