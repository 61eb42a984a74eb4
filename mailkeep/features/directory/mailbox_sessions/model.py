"""Sessions that must end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """Sessions of `subject` with these protocols that began before the change at `changed_at` must end.

    `subject` is an address, `alice@example.org/23` for the sessions of the app password with this number, or
    `@example.org` for all addresses of a domain. `password_only`: not the sessions of app passwords.
    """

    id: int
    subject: str
    protocols: tuple[str, ...]
    changed_at: datetime
    password_only: bool = False
