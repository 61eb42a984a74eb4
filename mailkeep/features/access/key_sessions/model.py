"""An open submission session of an API key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class KeySession:
    """A session that a key opened: Postfix's process that serves it, and the client's address."""

    pid: int
    key_id: UUID
    client: str
    opened_at: datetime
