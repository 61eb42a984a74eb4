"""A suspension."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID


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
