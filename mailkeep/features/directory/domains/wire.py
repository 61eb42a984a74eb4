"""JSON of domains."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.directory.domains.model import Domain, DomainRelay, DomainUsage, MtaStsMode, RelayTls
from mailkeep.settings.tree import AuthSettings
from mailkeep.web.fields import Body, Patch, Query, Text, Timestamp

Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Bytes = Annotated[int, Meta(ge=0, le=2**53 - 1, description="Bytes; 0 is unlimited")]
Name = Annotated[str, Meta(max_length=253)]
Description = Annotated[str, Meta(max_length=1000, extra={"multiline": True})]
Delimiter = Annotated[str, Meta(min_length=1, max_length=1)]
DnsStatus = Literal["unchecked", "ok", "attention", "failing"]


class DomainUsageRecord(Struct, frozen=True):
    """What the domain contains; `bytes` of mail in its mailboxes. `alias_domains`: their number."""

    mailboxes: int
    aliases: int
    bytes: int
    alias_domains: int


class DomainDns(Struct, frozen=True):
    """The result of the last check of the domain's DNS records."""

    status: str
    checked_at: Timestamp | None


class RelayRecord(Struct, frozen=True):
    """The server that delivers the domain's outbound mail. The password is never shown, only whether there is one."""

    host: str
    port: int
    tls: str
    username: str
    has_password: bool


class RelayRequest(Body, frozen=True):
    """The server that delivers mail from senders in the domain. With a username, `tls` must be `starttls` or `tls`, and
    the certificate must be valid for the host.
    """

    host: Name
    port: Annotated[int, Meta(ge=1, le=65535)] = 587
    tls: RelayTls = "starttls"
    username: Annotated[str, Meta(max_length=320, extra={"may_be_empty": True})] = ""
    password: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None


class SettingFlag(Struct, frozen=True):
    """The value of a setting of the server."""

    value: bool
    source: Literal["server"] = "server"


class DomainInherited(Struct, frozen=True):
    """What the domain's fields inherit while they are null."""

    require_app_passwords: SettingFlag


class DomainRecord(Struct, frozen=True):
    """A domain. `require_app_passwords`: whether mail clients must use app passwords; null: as `inherited` says.
    `self_service`: whether owners of its mailboxes may sign in (POST /me/login). `alias_of`: for an alias domain, the
    domain as whose addresses its own are routed. `dkim_delegated`: its DKIM records are CNAMEs to names of the server
    (GET /domains/{id}/dkim-delegation). `dns_managed`: Mailkeep writes its DNS records by `dns.provider`.
    `mta_sts_mode`: the MTA-STS policy that other servers get (RFC 8461).
    """

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
    require_app_passwords: bool | None
    alias_of: UUID | None
    self_service: bool
    dkim_delegated: bool
    dns_managed: bool
    mta_sts_mode: str
    inherited: DomainInherited
    relay: RelayRecord | None
    usage: DomainUsageRecord
    dns: DomainDns
    created_at: Timestamp
    updated_at: Timestamp


class DomainCreate(Body, frozen=True):
    """A domain to create. Null for `max_*` is unlimited; null for `plus_delimiter` switches tags off; null for
    `require_app_passwords`: as the setting. `alias_of` makes it an alias domain of that domain. Only a super_admin sets
    `dns_managed`.
    """

    name: Name
    active: bool = True
    sending_enabled: bool = True
    receiving_enabled: bool = True
    description: Description = ""
    max_mailboxes: Count | None = None
    max_aliases: Count | None = None
    default_quota_bytes: Bytes = 0
    plus_delimiter: Delimiter | None = "+"
    require_app_passwords: bool | None = None
    alias_of: UUID | None = None
    self_service: bool = True
    dkim_delegated: bool = False
    dns_managed: bool = False
    mta_sts_mode: MtaStsMode = "none"
    relay: RelayRequest | None = None


class DomainPatch(Patch, frozen=True):
    """Changes of a domain; its name can't change. Null for `require_app_passwords`: as the setting; for `alias_of`: no
    alias domain. `self_service` false ends the sessions of owners of its mailboxes. `dkim_delegated` applies to new
    keys. Only a super_admin changes `dns_managed`.
    """

    active: bool | UnsetType = UNSET
    sending_enabled: bool | UnsetType = UNSET
    receiving_enabled: bool | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    max_mailboxes: Count | UnsetType | None = UNSET
    max_aliases: Count | UnsetType | None = UNSET
    default_quota_bytes: Bytes | UnsetType = UNSET
    plus_delimiter: Delimiter | UnsetType | None = UNSET
    require_app_passwords: bool | UnsetType | None = UNSET
    alias_of: UUID | UnsetType | None = UNSET
    self_service: bool | UnsetType = UNSET
    dkim_delegated: bool | UnsetType = UNSET
    dns_managed: bool | UnsetType = UNSET
    mta_sts_mode: MtaStsMode | UnsetType = UNSET
    relay: RelayRequest | UnsetType | None = UNSET


class DomainQuery(Query, frozen=True):
    """Filters of the list; `name` is a substring of the name; `alias_of`: the alias domains of this domain;
    `dns_status`: the result of the last check of the DNS records.
    """

    active: bool | None = None
    name: Text | None = None
    alias_of: UUID | None = None
    dns_status: DnsStatus | None = None


class DomainDeleteQuery(Query, frozen=True):
    """Parameters of a deletion."""

    cancel_scheduled: Annotated[bool, Meta(description="Cancel the domain's scheduled messages.")] = False


class DomainDeletion(Struct, frozen=True):
    """A domain was deleted."""

    message: str
    id: UUID
    cancelled_messages: int


def to_record(domain: Domain, usage: DomainUsage, auth: AuthSettings) -> DomainRecord:
    """The response for a domain."""
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
        require_app_passwords=domain.require_app_passwords,
        alias_of=domain.alias_of,
        self_service=domain.self_service,
        dkim_delegated=domain.dkim_delegated,
        dns_managed=domain.dns_managed,
        mta_sts_mode=domain.mta_sts_mode,
        inherited=DomainInherited(SettingFlag(auth.require_app_passwords)),
        relay=_to_relay(domain.relay),
        usage=DomainUsageRecord(usage.mailboxes, usage.aliases, usage.bytes, usage.alias_domains),
        dns=DomainDns(domain.dns_status, iso_or_none(domain.dns_checked_at)),
        created_at=iso(domain.created_at),
        updated_at=iso(domain.updated_at),
    )


def _to_relay(relay: DomainRelay | None) -> RelayRecord | None:
    if relay is None:
        return None
    return RelayRecord(relay.host, relay.port, relay.tls, relay.username, relay.password is not None)


def audit_fields(domain: Domain, before: Domain | None = None) -> dict[str, Any]:
    """The audit log's fields of a domain: its name and the writable fields. Instead of the relay's password they have
    `authentication`: none, set, or changed since `before`.
    """
    fields = {name: getattr(domain, name) for name in ("name", *DomainPatch.__struct_fields__)}
    relay = domain.relay
    if relay is None:
        return fields
    state = "none" if relay.password is None else "set"
    if relay.password and before and before.relay and before.relay.password not in (None, relay.password):
        state = "changed"
    relay_fields = {"host": relay.host, "port": relay.port, "tls": relay.tls, "username": relay.username}
    return fields | {"relay": relay_fields | {"authentication": state}}
