"""Steps of a login."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.sessions.model import AdminSession

SecondFactorMethod = Literal["totp", "passkey", "recovery_code"]

PENDING_LIFETIME = timedelta(minutes=5)
PENDING_ATTEMPTS = 5
RECENT_LOGIN = timedelta(minutes=15)
"""How old a session may be to change its account's ways to log in without the current password."""


@dataclass(frozen=True, slots=True)
class LoginAccount:
    """The credentials of an account. `passkeys`: it has any. `known_source`: the caller's source has logged in to it.

    `credentials_epoch` is incremented when the credentials change, which ends sessions and pending logins.
    """

    id: UUID
    email: str
    password_hash: str
    totp_enabled: bool
    passkeys: bool
    credentials_epoch: int
    known_source: bool


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login that waits for its second factor; `credentials_epoch` as of its first step."""

    admin_id: UUID
    credentials_epoch: int


@dataclass(frozen=True, slots=True)
class SecondFactorChallenge:
    """The password was right: until `expires_at`, `token` and a second factor of `methods` complete the login."""

    token: str
    expires_at: datetime
    methods: tuple[SecondFactorMethod, ...]


@dataclass(frozen=True, slots=True)
class CompletedLogin:
    """A successful login, and the Set-Cookie value of its session."""

    admin: Admin
    session: AdminSession
    cookie: str
