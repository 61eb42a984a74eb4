"""Accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from mailkeep.core.principal import Role

AccountKind = Literal["mailbox", "admin"]


@dataclass(frozen=True, slots=True)
class AccountRef:
    """The account of an administrator, or the mailbox of an owner."""

    kind: AccountKind
    id: UUID

    def columns(self) -> dict[str, Any]:
        """The arguments of statements about what belongs to the account."""
        is_admin = self.kind == "admin"
        return {
            "account_id": self.id,
            "admin_id": self.id if is_admin else None,
            "mailbox_id": None if is_admin else self.id,
        }


@dataclass(frozen=True, slots=True)
class Account:
    """An account and how it signs in. `name`: the email or address. `role` is None for a mailbox, the domain for an
    administrator.
    """

    ref: AccountRef
    name: str
    password_hash: str
    totp_enabled: bool
    passkeys: int
    role: Role | None = None
    oidc_provider: str | None = None
    domain_id: UUID | None = None
    domain_name: str | None = None

    @property
    def second_factor(self) -> bool:
        """Whether it has a second factor of any kind."""
        return self.totp_enabled or self.passkeys > 0
