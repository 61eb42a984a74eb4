"""A suppression, and what selects suppressions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from mailkeep.core.address import Address

SuppressionReason = Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
NO_SUPPRESSION = UUID(int=0)
"""The ID of a suppression that is not stored: of an address to try out suppressions with."""
MAX_IMPORT = 10_000
"""Rows of an import."""


class Suppression(Struct, frozen=True):
    """An address to which a domain sends nothing; `group_id` None: no mail at all. `source_message_id`: the message
    whose failure, complaint or link led to it.
    """

    id: UUID
    domain_id: UUID
    domain_name: str
    address: str
    reason: SuppressionReason
    group_id: UUID | None
    source_message_id: UUID | None
    created_at: datetime


class SuppressedAddress(Struct, frozen=True):
    """What a send needs to know of a suppression."""

    address_key: str
    group_id: UUID | None
    id: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class NewSuppression:
    """A suppression to add."""

    domain_id: UUID
    address: Address
    reason: SuppressionReason
    group_id: UUID | None = None
    source_message_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row of an import. The domain is given by ID or by name, and not checked yet."""

    address: Address
    reason: SuppressionReason
    domain_id: UUID | None
    domain_name: str | None
    group_id: UUID | None


@dataclass(frozen=True, slots=True)
class SuppressionFilter:
    """Filters of the list; `domains`: those that the caller sees, None for all. `address`: a substring."""

    domains: list[UUID] | None
    domain_id: UUID | None = None
    address: str | None = None
    reason: str | None = None
    group_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class SuppressionCandidate:
    """A recipient of a message whose mail failed."""

    message_id: UUID
    address: str
