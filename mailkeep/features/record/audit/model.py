"""Entries of the audit log, seals, and the result of a verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from mailkeep.core.principal import Role

Outcome = Literal["success", "denied", "failed"]
Position = tuple[int, UUID]
"""The position of an entry in the chain: its transaction and its ID."""
Leaf = tuple[UUID, bytes]
"""The ID and the hash of an entry, as a seal has them."""
Problem = Literal["altered", "removed", "inserted", "seal_altered", "seal_removed", "truncated"]

START: Position = (0, UUID(int=0))
SEAL_KEY_PURPOSE = "audit seal"
"""The purpose of the key that signs seals."""


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The object of an action; `domain_name` is stored as well as the ID, since the domain may be deleted."""

    type: str
    id: UUID | str | None
    domain_id: UUID | None = None
    domain_name: str | None = None


@dataclass(frozen=True, slots=True)
class AuditAction:
    """An action; `before` and `after` hold the changed fields as the API shows them, `details` other facts."""

    action: str
    target: AuditTarget
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    outcome: Outcome = "success"
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A stored entry."""

    id: UUID
    created_at: datetime
    admin_id: UUID | None
    actor_type: str
    actor_label: str
    key_id: UUID | None
    action: str
    resource_type: str
    resource_id: str | None
    domain_id: UUID | None
    domain_name: str | None
    ip_address: str | None
    user_agent: str | None
    request_id: UUID | None
    outcome: str
    error_code: str | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActorAccount:
    """The current role and domains of the account behind an entry; `role` is None if it was deleted."""

    role: Role | None
    assigned: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Filters of the list; `domains` are those that the caller sees, None for all."""

    domains: list[UUID] | None
    action: str | None = None
    admin_id: UUID | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChainEntry:
    """A stored entry and its transaction."""

    tx: int
    entry: AuditEntry

    @property
    def position(self) -> Position:
        """The position in the chain."""
        return self.tx, self.entry.id


@dataclass(frozen=True, slots=True)
class Seal:
    """Covers the `entries` (a number) after the position `last` of the previous seal, up to its own `last`.

    `leaves` has the ID and the SHA-256 of each of these entries; `latest_id` is the greatest of the IDs. When the seal
    was written, retention had deleted the seals before `first_sequence` and the entries before `dropped_before`.
    """

    sequence: int
    sealed_at: datetime
    entries: int
    last: Position
    latest_id: UUID | None
    leaves: bytes
    first_sequence: int
    dropped_before: datetime | None
    previous: bytes
    hash: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A problem of the entry with this ID, or of the seal with this number (then `id` is that of its last entry)."""

    problem: Problem
    id: UUID | None
    seal: int | None = None


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The result of a verification: numbers of `checked` and of newer, `unsealed` entries, and the first faults.

    `head` is the newest seal. `partial`: of an export with filters, in which removed entries are not detected.
    """

    checked: int
    unsealed: int
    faults: list[ChainFault]
    fault_count: int
    head: Seal | None
    public_key: bytes
    partial: bool = False

    @property
    def ok(self) -> bool:
        """Whether the sealed entries have no fault."""
        return self.fault_count == 0
