"""Sessions that must end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """Sessions of `subject` with these protocols that began before the change at `changed_at` must end.

    `subject` is an address, or `@example.org` for all addresses of a domain.
    """

    id: int
    subject: str
    protocols: tuple[str, ...]
    changed_at: datetime
