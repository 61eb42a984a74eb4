"""The vacation reply of a mailbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

DEFAULT_DAYS = 7


@dataclass(frozen=True, slots=True)
class Vacation:
    """A vacation reply. `subject` None: `Auto:` and that of the message; at least one of the bodies is set.

    `start_at`: the first moment with replies, None: at once. `end_at`: the first moment without, None: never.
    `days`: a sender gets one reply in this time. `updated_at` None: not stored yet.
    """

    active: bool
    subject: str | None
    text_body: str | None
    html_body: str | None
    start_at: datetime | None = None
    end_at: datetime | None = None
    days: int = DEFAULT_DAYS
    updated_at: datetime | None = None
