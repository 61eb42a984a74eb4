"""An unsubscribe group, and what a link says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from msgspec import Struct


class UnsubscribeGroup(Struct, frozen=True):
    """Messages of a domain from which recipients can unsubscribe, such as a newsletter."""

    id: UUID
    domain_id: UUID
    domain_name: str
    name: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class UnsubscribeLink:
    """What the token of a link names."""

    group_id: UUID
    message_id: UUID
    address: str
