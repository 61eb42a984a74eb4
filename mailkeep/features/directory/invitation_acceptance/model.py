"""The account of an invitation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class InvitedAccount:
    """The account whose password an invitation sets until `expires_at`; `address` is what its owner signs in with."""

    type: Literal["admin", "mailbox"]
    address: str
    expires_at: datetime
