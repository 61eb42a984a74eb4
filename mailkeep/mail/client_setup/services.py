"""The services for mail programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Protocol = Literal["imap", "pop3", "smtp", "sieve"]


@dataclass(frozen=True, slots=True)
class MailService:
    """A service for mail programs. `security`: `tls` from the start (preferred, RFC 8314 §3), or `starttls`."""

    protocol: Protocol
    host: str
    port: int
    security: Literal["tls", "starttls"]


def find_preferred(services: Iterable[MailService], protocol: Protocol) -> MailService | None:
    """The first service with this protocol."""
    return next((each for each in services if each.protocol == protocol), None)
