"""An API key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.principal import Role

KEY_PREFIX = "svc_sk_"
SHOWN_CHARACTERS = 12
"""Of a key these first characters are kept, to tell keys apart: five of the random ones."""

DEFAULT_RATE = 60
WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Key:
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
class Wanted:
    """A key as it is asked for: no `scoped_domain_ids` is no scope, `rate_limit` None what is usual.

    `allowed_networks` are in their shortest form.
    """

    name: str
    scoped_domain_ids: tuple[UUID, ...] = ()
    rate_limit: int | None = None
    expires_at: datetime | None = None
    allowed_networks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """A valid key that was shown with a request: its owner as it is now, and the requests of the present window.

    `assigned` are the owner's domains, `scope` those of the key (None: unscoped). `used` counts this request too;
    it and `window_started_at` are None where the key is unlimited.
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
    used: int | None
    window_started_at: datetime | None
