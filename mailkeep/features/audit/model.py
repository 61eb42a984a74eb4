"""An entry of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Outcome = Literal["success", "denied", "failed"]


@dataclass(frozen=True, slots=True)
class Target:
    """What was acted on; `domain_name` is kept beside the id, since a domain may go."""

    type: str
    id: UUID | str | None
    domain_id: UUID | None = None
    domain_name: str | None = None


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done: `before` and `after` hold the changed fields as the API shows them, `more` anything else."""

    action: str
    target: Target
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    outcome: Outcome = "success"
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
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
class Filter:
    """Which entries a list shows; `domains` are those that the caller sees, None for all."""

    domains: list[UUID] | None
    action: str | None = None
    admin_id: UUID | None = None
    resource_type: str | None = None
    resource_id: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
