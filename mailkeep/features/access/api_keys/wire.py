"""JSON of API keys."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import KeyPermissions
from mailkeep.features.access.api_keys.model import ApiKey, SubmissionServer
from mailkeep.web.fields import Body, Text, Timestamp

Name = Annotated[str, Meta(max_length=200)]
DomainIds = Annotated[list[UUID], Meta(max_length=1000)]
RateLimit = Annotated[int, Meta(ge=0, le=1_000_000, description="Requests accepted in any 60 seconds; 0: unlimited")]
Networks = Annotated[
    list[Text], Meta(max_length=100, description="Where the key may be used from, in CIDR form; empty: everywhere")
]
Days = Annotated[int, Meta(ge=0, le=36_500, description="0: never expires")]


Permissions = Annotated[
    KeyPermissions,
    Meta(
        description="Narrows the rights of the owner. `sending`: /send, /send/batch, GET /auth/me, and its own "
        "messages: list, get, reschedule, cancel. `read`: every GET of the owner's role, except `/raw` of inbound mail"
    ),
]


class ApiKeyRecord(Struct, frozen=True):
    """An API key. With `is_scoped`, no `scoped_domain_ids` means that its domains are deleted and it has no access.
    `disabled`: an incident has disabled it, until that is undone (/abuse/incidents).
    """

    id: UUID
    admin_id: UUID
    parent_id: UUID | None
    name: str
    key_prefix: str
    is_scoped: bool
    scoped_domain_ids: list[UUID]
    rate_limit: int
    allowed_networks: list[str]
    permissions: KeyPermissions
    disabled: bool
    last_used_at: Timestamp | None
    expires_at: Timestamp | None
    created_at: Timestamp


class ApiKeyCreate(Body, frozen=True):
    """A key to create. The default of `rate_limit` is 60. A key passes on its own limits as defaults, if lower."""

    name: Name
    scoped_domain_ids: DomainIds = []
    rate_limit: RateLimit | UnsetType = UNSET
    expires_in_days: Days = 0
    expires_at: Annotated[
        datetime | UnsetType, Meta(description="The exact time, with a UTC offset; not with expires_in_days")
    ] = UNSET
    allowed_networks: Networks = []
    permissions: Permissions = KeyPermissions.FULL


class ApiKeySmtp(Struct, frozen=True):
    """Settings of a program that sends by SMTP; the key is the password. A port is null if it is not open."""

    host: str
    starttls_port: int | None
    tls_port: int | None
    user: str


class ApiKeyCreateResponse(Struct, frozen=True):
    """A new key. `key` is shown only once: it is null when the response is repeated for an Idempotency-Key. `smtp` is
    null if the key may not send, or no port is open.
    """

    key: str | None
    api_key: ApiKeyRecord
    smtp: ApiKeySmtp | None


class ApiKeyDeletion(Struct, frozen=True):
    """A key was revoked. `scheduled_messages` that were scheduled with it wait and will fail at their time
    (`mail.failed`, `reason` permission): cancel them, or schedule them again.
    """

    message: str
    id: UUID
    scheduled_messages: int


def create_response(raw_key: str | None, key: ApiKey, smtp: SubmissionServer | None) -> ApiKeyCreateResponse:
    """The response for a new key."""
    may_send = key.permissions is not KeyPermissions.READ
    return ApiKeyCreateResponse(raw_key, to_record(key), ApiKeySmtp(**asdict(smtp)) if smtp and may_send else None)


def to_record(key: ApiKey) -> ApiKeyRecord:
    """The response for a key."""
    return ApiKeyRecord(
        id=key.id,
        admin_id=key.admin_id,
        parent_id=key.parent_id,
        name=key.name,
        key_prefix=key.key_prefix,
        is_scoped=key.is_scoped,
        scoped_domain_ids=list(key.scoped_domain_ids),
        rate_limit=key.rate_limit,
        allowed_networks=list(key.allowed_networks),
        permissions=key.permissions,
        disabled=key.disabled,
        last_used_at=iso_or_none(key.last_used_at),
        expires_at=iso_or_none(key.expires_at),
        created_at=iso(key.created_at),
    )


def audit_fields(key: ApiKey) -> dict[str, Any]:
    """The audit log's fields of a key."""
    fields = msgspec.to_builtins(to_record(key))
    del fields["disabled"]  # not of the key: the audit log has the incident
    return fields
