"""The setup of mail clients for a mailbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

DEFAULT_PERIOD, LONGEST_PERIOD = timedelta(days=7), timedelta(days=30)
"""Of which the list of messages shows mail."""


@dataclass(frozen=True, slots=True)
class MailService:
    """A service for mail clients."""

    protocol: Literal["imap", "pop3", "smtp", "sieve"]
    host: str
    port: int
    security: Literal["tls", "starttls"]


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """The services that a mailbox may use. `address` is also the user name."""

    address: str
    app_password_required: bool
    services: Sequence[MailService]
