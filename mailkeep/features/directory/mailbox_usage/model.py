"""Reported and counted usage of mailboxes, delivered messages, and logins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


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
