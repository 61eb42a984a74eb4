"""An app password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

PROTOCOLS = ("imap", "pop3", "smtp", "sieve")
MAX_APP_PASSWORDS = 50
"""How many a mailbox may have, expired ones included."""


@dataclass(frozen=True, slots=True)
class AppPassword:
    """An app password without its secret. `protocols`: those that it opens; `smtp` is submission."""

    id: UUID
    mailbox_id: UUID
    name: str
    protocols: tuple[str, ...]
    expires_at: datetime | None
    created_at: datetime
    last_used_at: datetime | None = None
    last_used_ip: str | None = None


@dataclass(frozen=True, slots=True)
class NewAppPassword:
    """An app password to create; `protocols` None: all that the mailbox allows."""

    name: str
    protocols: tuple[str, ...] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AppPasswordUse:
    """A login with the app password that has this number."""

    number: int
    at: datetime
    ip: str
