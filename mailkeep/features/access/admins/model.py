"""An administrator's account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.principal import Role

FIRST_ADMIN_EMAIL = "admin@localhost"
NO_PASSWORD = ""
"""The hash of an account without a password: no password verifies against it."""
INITIAL_ADMIN_FILE = "initial-admin"
"""File in the data directory with the first administrator's generated password, until the first login."""


@dataclass(frozen=True, slots=True)
class Admin:
    """An administrator's account. `domain_ids` are the assigned domains, used for a domain_admin only."""

    id: UUID
    email: str
    role: Role
    totp_enabled: bool
    oidc_provider: str | None
    last_login_at: datetime | None
    created_at: datetime
    updated_at: datetime
    domain_ids: tuple[UUID, ...]
    passkeys: int = 0
    active: bool = True
    must_change_password: bool = False

    @property
    def second_factor(self) -> bool:
        """Whether it has a second factor of any kind."""
        return self.totp_enabled or self.passkeys > 0


@dataclass(frozen=True, slots=True)
class NewAdmin:
    """An account to create."""

    email: Address
    password_hash: str
    role: Role = Role.ADMIN
    domain_ids: tuple[UUID, ...] = ()
    active: bool = True
    must_change_password: bool = False


@dataclass(frozen=True, slots=True)
class AdminChanges:
    """Changes of an account in the version that `if_match` names; None changes nothing."""

    email: Address | None = None
    password_hash: str | None = None
    role: Role | None = None
    domain_ids: tuple[UUID, ...] | None = None
    active: bool | None = None
    must_change_password: bool | None = None
    if_match: IfMatch = ANY_VERSION


@dataclass(frozen=True, slots=True)
class FirstAdmin:
    """The new first administrator. `generated`: the password was generated, so it must be shown to the operator."""

    email: str
    password: str
    generated: bool
