"""A suspension, and what is asked of the counts of sending."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from mailkeep.core.address import Address

VerdictKind = Literal["counted", "suspended", "message_above_threshold", "sender_rate", "domain_rate"]


@dataclass(frozen=True, slots=True)
class Suspension:
    """That sending is suspended for an address; `by_rank` is the administrator's, None where the rules did
    it.
    """

    id: UUID
    domain_id: UUID
    address: str
    address_key: str
    reason: str
    by_kind: Literal["rules", "admin"]
    by_label: str
    by_rank: int | None
    created_at: datetime

    @property
    def domain_name(self) -> str:
        """The domain of the address."""
        return self.address_key.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Use:
    """A message that wants to go out: its sender, the sender's domain, and how many recipients it has."""

    sender: Address
    domain_id: UUID
    recipients: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a message may go out; `retry_after` (seconds) where it is over a rate."""

    kind: VerdictKind
    retry_after: int | None
