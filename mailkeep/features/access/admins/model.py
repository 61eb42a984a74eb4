"""An administrator's account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.core.principal import Role

FIRST_ADMIN_EMAIL = "admin@localhost"
NO_PASSWORD = ""
"""The hash of an account that has no password: none verifies against it."""
INITIAL_ADMIN_FILE = "initial-admin"
"""In the data directory, until the first login: the password that was made for the first administrator."""


@dataclass(frozen=True, slots=True)
class Admin:
    """An account as it is shown. `domain_ids` are the assigned domains, which count for a domain_admin."""

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

    @property
    def second_factor(self) -> bool:
        """Whether it has one of any kind."""
        return self.totp_enabled or self.passkeys > 0


@dataclass(frozen=True, slots=True)
class NewAdmin:
    """An account to make; the password has been checked and hashed."""

    email: Address
    password_hash: str
    role: Role = Role.ADMIN
    domain_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class AdminChanges:
    """What is to change of an account; None leaves it as it is."""

    email: Address | None = None
    password_hash: str | None = None
    role: Role | None = None
    domain_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class FirstAdmin:
    """The first administrator, just made; `generated` where the password is ours and must be shown once."""

    email: str
    password: str
    generated: bool
