"""An API key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.principal import Role

KEY_PREFIX = "svc_sk_"
PREFIX_LENGTH = 12
"""Of a key these first characters are kept, to tell keys apart: five of the random ones."""

DEFAULT_RATE_LIMIT = 60


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is shown. `is_scoped` with no `scoped_domain_ids` reaches nothing: its domains are gone.

    `allowed_networks`: where it may be used from; none: from everywhere.
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


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key as it is asked for: no `scoped_domain_ids` is no scope, `rate_limit` None what is usual.

    `allowed_networks` are in their shortest form.
    """

    name: str
    scoped_domain_ids: tuple[UUID, ...] = ()
    rate_limit: int | None = None
    expires_at: datetime | None = None
    allowed_networks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RateUsage:
    """A request counted against its key's rate: whether it is accepted, how many were in the last 60 s (with it), and
    the seconds until the next one is (0: at once).
    """

    accepted: bool
    used: int
    wait: int


@dataclass(frozen=True, slots=True)
class AuthenticatedKey:
    """A valid key that was shown with a request: its owner as it is now, and its rate.

    `assigned` are the owner's domains, `scope` those of the key (None: unscoped). `rate` is None where the request was
    not counted, or the key is unlimited.
    """

    id: UUID
    name: str
    admin_id: UUID
    role: Role
    second_factor: bool
    assigned: frozenset[UUID]
    scope: frozenset[UUID] | None
    rate_limit: int
    allowed_networks: tuple[str, ...]
    rate: RateUsage | None
