"""A managed domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from mailkeep.core.address import unicode_domain
from mailkeep.net.mta_sts import Mode as MtaStsMode

RelayTls = Literal["none", "starttls", "tls"]


@dataclass(frozen=True, slots=True)
class DomainRelay:
    """The server that delivers a domain's outbound mail.

    An empty `username` means no login. `password` is encrypted and bound to the domain's id; None if none was set, or
    if it was cleared because the other fields changed.
    """

    host: str
    port: int
    tls: RelayTls
    username: str = ""
    password: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class NewRelay:
    """A relay from a request; `password` in clear, None if the request has none."""

    host: str
    port: int
    tls: RelayTls
    username: str = ""
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class InheritedFlag:
    """A value of a higher level, and which one: the domain or the settings."""

    value: bool
    source: Literal["domain", "server"]


NOT_REQUIRED = InheritedFlag(False, "server")


@dataclass(frozen=True, slots=True)
class Domain:
    """A managed domain; `name` in A-labels. `max_*` None: unlimited; `default_quota_bytes` 0: unlimited.

    `require_app_passwords` None: as the setting. `self_service`: owners of its mailboxes may sign in (`/me`).
    `alias_of`: the target, if it is an alias domain. `dkim_delegated`: its DKIM records are CNAMEs to names of the
    server. `dns_managed`: Mailkeep writes its DNS records. `mta_sts_ended_at`: when another `mta_sts_mode` became none;
    `mta_sts_served_at`: when a check has fetched the policy; None after a check that could not.
    """

    id: UUID
    name: str
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
    mta_sts_mode: MtaStsMode
    mta_sts_ended_at: datetime | None
    mta_sts_served_at: datetime | None
    relay: DomainRelay | None
    dns_status: str
    dns_checked_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def unicode_name(self) -> str:
        """The name in U-labels, for people to read."""
        return unicode_domain(self.name)


@dataclass(frozen=True, slots=True)
class NewDomain:
    """A domain to create; `name` is not normalized yet."""

    name: str
    active: bool = True
    sending_enabled: bool = True
    receiving_enabled: bool = True
    description: str = ""
    max_mailboxes: int | None = None
    max_aliases: int | None = None
    default_quota_bytes: int = 0
    plus_delimiter: str | None = "+"
    require_app_passwords: bool | None = None
    alias_of: UUID | None = None
    self_service: bool = True
    dkim_delegated: bool = False
    dns_managed: bool = False
    mta_sts_mode: MtaStsMode = "none"
    relay: NewRelay | None = None


@dataclass(frozen=True, slots=True)
class DomainUsage:
    """Number of mailboxes and aliases in a domain, the bytes of mail in its mailboxes (without the trash), and the
    number of its alias domains.
    """

    mailboxes: int = 0
    aliases: int = 0
    bytes: int = 0
    alias_domains: int = 0


@dataclass(frozen=True, slots=True)
class DomainFilter:
    """Which domains to list. `domains` are those that the caller may see (None: all); `name` is a substring;
    `alias_of`: the alias domains of this domain.
    """

    domains: list[UUID] | None
    active: bool | None = None
    name: str | None = None
    alias_of: UUID | None = None
    dns_status: str | None = None
