"""The account of an invitation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mailkeep.features.access.invitations.model import AccountKind


@dataclass(frozen=True, slots=True)
class InvitedAccount:
    """The account whose password an invitation sets until `expires_at`; `address` is what its owner signs in with."""

    type: AccountKind
    address: str
    expires_at: datetime
