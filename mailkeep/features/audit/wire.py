"""JSON of the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.audit.model import Entry
from mailkeep.web.fields import Query, Text, Timestamp


class Actor(Struct, frozen=True):
    """By what means, and under which name; `key_id` where it was an API key."""

    type: str
    label: str
    key_id: UUID | None


class AuditEntry(Struct, frozen=True):
    """An entry of the audit log."""

    id: UUID
    created_at: Timestamp
    admin_id: UUID | None
    actor: Actor
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
    details: dict[str, Any]


class AuditQuery(Query, frozen=True):
    """Filters of the list."""

    action: Text | None = None
    admin_id: UUID | None = None
    resource_type: Text | None = None
    resource_id: Text | None = None
    domain_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


def entry(found: Entry) -> AuditEntry:
    """An entry as it is answered."""
    return AuditEntry(
        id=found.id,
        created_at=iso(found.created_at),
        admin_id=found.admin_id,
        actor=Actor(found.actor_type, found.actor_label, found.key_id),
        action=found.action,
        resource_type=found.resource_type,
        resource_id=found.resource_id,
        domain_id=found.domain_id,
        domain_name=found.domain_name,
        ip_address=found.ip_address,
        user_agent=found.user_agent,
        request_id=found.request_id,
        outcome=found.outcome,
        error_code=found.error_code,
        details=dict(found.details),
    )
