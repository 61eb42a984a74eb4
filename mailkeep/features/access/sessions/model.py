"""Sessions, and what a login is measured by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.core.principal import Role
from mailkeep.features.access.admins.model import Admin

SecondFactorMethod = Literal["totp", "passkey", "recovery_code"]

COOKIE = "svc_session"
PENDING_LIFETIME = timedelta(minutes=5)
PENDING_ATTEMPTS = 5
RECENT_LOGIN = timedelta(minutes=15)
"""So long after its login a session may change how its account logs in, without the password."""


@dataclass(frozen=True, slots=True)
class AdminSession:
    """A session as it is shown."""

    id: UUID
    admin_id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """The session that a request's cookie opens, and its account as it is now."""

    session_id: UUID
    admin_id: UUID
    email: str
    role: Role
    second_factor: bool
    assigned: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class LoginAccount:
    """What an account's password is verified with; `familiar`: the source has logged into it before.

    `passkeys`: it has one at least.
    """

    id: UUID
    email: str
    password_hash: str
    totp_enabled: bool
    passkeys: bool
    credentials_epoch: int
    familiar: bool


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login that waits for its second factor, and the credentials that began it."""

    admin_id: UUID
    credentials_epoch: int


@dataclass(frozen=True, slots=True)
class SecondFactorChallenge:
    """The password was right: what `token` opens takes one of the account's factors next, until `expires_at`."""

    token: str
    expires_at: datetime
    methods: tuple[SecondFactorMethod, ...]


@dataclass(frozen=True, slots=True)
class CompletedLogin:
    """A login that succeeded, and the cookie that it sets (a whole Set-Cookie value)."""

    admin: Admin
    session: AdminSession
    cookie: str
