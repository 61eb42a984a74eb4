"""A submission session of an API key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class KeySession:
    """A session that a key opened from the address `client`. `pid`: Postfix's process that serves it, 0 if no message
    has been sent yet, so that the process is not known.
    """

    key_id: UUID
    client: str
    opened_at: datetime
    pid: int = 0
