"""JSON of domains."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.domains.model import Domain, Usage
from mailkeep.web.fields import Body, Patch, Query, Text, Timestamp

Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Bytes = Annotated[int, Meta(ge=0, le=2**53 - 1, description="Bytes; 0 is no limit")]
Name = Annotated[str, Meta(max_length=253)]
Description = Annotated[str, Meta(max_length=1000, extra={"multiline": True})]
Delimiter = Annotated[str, Meta(min_length=1, max_length=1)]
DnsStatus = Literal["unchecked", "ok", "attention", "failing"]


class DomainUsage(Struct, frozen=True):
    """What the domain holds; `bytes` of mail in its mailboxes."""

    mailboxes: int
    aliases: int
    bytes: int


class DomainDns(Struct, frozen=True):
    """What the last check of the domain's DNS records came to."""

    status: str
    checked_at: Timestamp | None


class DomainRecord(Struct, frozen=True):
    """A domain."""

    id: UUID
    name: str
    unicode_name: str
    active: bool
    sending_enabled: bool
    receiving_enabled: bool
    description: str
    max_mailboxes: int | None
    max_aliases: int | None
    default_quota_bytes: int
    plus_delimiter: str | None
    usage: DomainUsage
    dns: DomainDns
    created_at: Timestamp
    updated_at: Timestamp


class DomainCreate(Body, frozen=True):
    """A domain to make. Null for `max_*` is no limit; null for `plus_delimiter` switches tags off."""

    name: Name
    active: bool = True
    sending_enabled: bool = True
    receiving_enabled: bool = True
    description: Description = ""
    max_mailboxes: Count | None = None
    max_aliases: Count | None = None
    default_quota_bytes: Bytes = 0
    plus_delimiter: Delimiter | None = "+"


class DomainPatch(Patch, frozen=True):
    """What may change of a domain; its name is fixed."""

    active: bool | UnsetType = UNSET
    sending_enabled: bool | UnsetType = UNSET
    receiving_enabled: bool | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    max_mailboxes: Count | UnsetType | None = UNSET
    max_aliases: Count | UnsetType | None = UNSET
    default_quota_bytes: Bytes | UnsetType = UNSET
    plus_delimiter: Delimiter | UnsetType | None = UNSET


class DomainQuery(Query, frozen=True):
    """Filters of the list; `name` is a part of the name."""

    active: bool | None = None
    name: Text | None = None


class Deleted(Struct, frozen=True):
    """That a domain is deleted."""

    message: str
    id: UUID


def record(domain: Domain, usage: Usage) -> DomainRecord:
    """A domain as it is answered."""
    return DomainRecord(
        id=domain.id,
        name=domain.name,
        unicode_name=domain.unicode_name,
        active=domain.active,
        sending_enabled=domain.sending_enabled,
        receiving_enabled=domain.receiving_enabled,
        description=domain.description,
        max_mailboxes=domain.max_mailboxes,
        max_aliases=domain.max_aliases,
        default_quota_bytes=domain.default_quota_bytes,
        plus_delimiter=domain.plus_delimiter,
        usage=DomainUsage(usage.mailboxes, usage.aliases, usage.bytes),
        dns=DomainDns(domain.dns_status, iso_or_none(domain.dns_checked_at)),
        created_at=iso(domain.created_at),
        updated_at=iso(domain.updated_at),
    )


def audited(domain: Domain) -> dict[str, Any]:
    """What the audit log keeps of a domain: its writable fields and its name."""
    return {name: getattr(domain, name) for name in ("name", *DomainPatch.__struct_fields__)}
