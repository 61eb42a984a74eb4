"""Steps of a login."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.core.principal import OwnMailbox
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.sessions.model import Session

SecondFactorMethod = Literal["totp", "passkey", "recovery_code"]

PENDING_LIFETIME = timedelta(minutes=5)
PENDING_ATTEMPTS = 5
RECENT_LOGIN = timedelta(minutes=15)
"""How old a session may be to change its account's ways to log in without the current password."""


@dataclass(frozen=True, slots=True)
class LoginAccount:
    """The credentials of an account. `name`: its email or address. `passkeys`: it has any. `known_source`: the caller's
    source has logged in to it.

    `credentials_epoch` is incremented when the credentials change, which ends sessions and pending logins. `mailbox` is
    None for an administrator; `self_service`: owners of mailboxes in its domain may sign in.
    """

    ref: AccountRef
    name: str
    password_hash: str
    totp_enabled: bool
    passkeys: bool
    credentials_epoch: int
    known_source: bool
    mailbox: OwnMailbox | None = None
    self_service: bool = True

    @property
    def id(self) -> UUID:
        """The ID of the account."""
        return self.ref.id


@dataclass(frozen=True, slots=True)
class FailedLogin:
    """A login that failed, for the audit log: the caller's name there, and the account if it is known."""

    label: str
    kind: AccountKind = "admin"
    account_id: UUID | None = None
    mailbox: OwnMailbox | None = None

    @classmethod
    def of(cls, account: LoginAccount) -> FailedLogin:
        """A failed login to an account."""
        return cls(account.name, account.ref.kind, account.id, account.mailbox)


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login that waits for its second factor; `credentials_epoch` as of its first step."""

    ref: AccountRef
    credentials_epoch: int


@dataclass(frozen=True, slots=True)
class SecondFactorChallenge:
    """The password was right: until `expires_at`, `token` and a second factor of `methods` complete the login."""

    token: str
    expires_at: datetime
    methods: tuple[SecondFactorMethod, ...]


@dataclass(frozen=True, slots=True)
class CompletedLogin:
    """A successful login, and the Set-Cookie value of its session. `admin` is None for the owner of a mailbox."""

    account: LoginAccount
    session: Session
    cookie: str
    admin: Admin | None
