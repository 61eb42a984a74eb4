"""What is known about a recovery key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class RecoveryKey:
    """The recovery key of a repository. `key_id` is restic's; `verified_at`: when somebody last showed that they have
    it.
    """

    key_id: str
    repository: str
    created_at: datetime
    verified_at: datetime | None = None
