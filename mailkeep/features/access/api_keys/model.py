"""API keys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.principal import KeyPermissions, Role

KEY_PREFIX = "svc_sk_"
PREFIX_LENGTH = 12
"""The number of characters from the start of a key that are stored to identify it; the last five of them are random."""

DEFAULT_RATE_LIMIT = 60


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret. `is_scoped` with no `scoped_domain_ids`: its domains are deleted, it has no access.

    `rate_limit` is in requests per 60 seconds, 0 for unlimited. `allowed_networks`: where it may be used from; empty:
    everywhere. `permissions` narrow the rights of its owner (`core/principal`). `disabled`: by an incident.
    """

    id: UUID
    admin_id: UUID
    parent_id: UUID | None
    name: str
    key_prefix: str
    is_scoped: bool
    scoped_domain_ids: tuple[UUID, ...]
    rate_limit: int
    allowed_networks: tuple[str, ...]
    last_used_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    permissions: KeyPermissions = KeyPermissions.FULL
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to create. Without `scoped_domain_ids` it is not scoped; `rate_limit` None means the default.

    `allowed_networks` are in their shortest form.
    """

    name: str
    scoped_domain_ids: tuple[UUID, ...] = ()
    rate_limit: int | None = None
    expires_at: datetime | None = None
    allowed_networks: tuple[str, ...] = ()
    permissions: KeyPermissions = KeyPermissions.FULL


@dataclass(frozen=True, slots=True)
class SubmissionServer:
    """Where keys send by SMTP. A port is None if it is not open."""

    host: str
    starttls_port: int | None
    tls_port: int | None
    user: str = "apikey"


@dataclass(frozen=True, slots=True)
class RateUsage:
    """The rate of a key after a request: whether it is accepted, the requests in the last 60 s (this one included),
    and the seconds until the next is accepted (0: at once).
    """

    accepted: bool
    used: int
    wait: int


@dataclass(frozen=True, slots=True)
class AuthenticatedKey:
    """The valid key of a request, its owner as of now, and its rate.

    `assigned` are the owner's domains, `scope` those of the key (None: unscoped). `rate` is None if the request was not
    counted or the key is unlimited.
    """

    id: UUID
    name: str
    admin_id: UUID
    role: Role
    second_factor: bool
    must_change_password: bool
    assigned: frozenset[UUID]
    scope: frozenset[UUID] | None
    rate_limit: int
    allowed_networks: tuple[str, ...]
    permissions: KeyPermissions
    rate: RateUsage | None
