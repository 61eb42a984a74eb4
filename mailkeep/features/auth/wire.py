"""JSON of logins and sessions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.principal import Role
from mailkeep.features.admins.model import Admin
from mailkeep.features.auth.model import Session
from mailkeep.web.fields import Body, Text, Timestamp

Secret = Annotated[str, Meta(extra_json_schema={"format": "password"})]


class Account(Struct, frozen=True):
    """The caller's own account."""

    id: UUID
    email: str
    role: Role
    totp_enabled: bool
    oidc_provider: str | None
    last_login_at: Timestamp | None
    domain_ids: list[UUID]
    created_at: Timestamp


class SessionRecord(Struct, frozen=True):
    """An active session; `current` is the one that asks. Its id names it and opens nothing."""

    id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: Timestamp
    expires_at: Timestamp
    current: bool


class Login(Body, frozen=True):
    """Who logs in. Any text is taken: what is no account's is INVALID_CREDENTIALS."""

    email: Text
    password: Secret


class LoggedIn(Struct, frozen=True):
    """A session was opened; the cookie `svc_session` carries it."""

    admin: Account
    session_id: UUID
    expires_at: Timestamp


class PasswordChange(Body, frozen=True):
    """The present password, and the one to have from now on (8 to 256 characters)."""

    current_password: Secret
    new_password: Secret


class Done(Struct, frozen=True):
    """What was done."""

    message: str


class SessionEnded(Struct, frozen=True):
    """A session was ended."""

    message: str
    id: UUID


class SessionsEnded(Struct, frozen=True):
    """Sessions were ended: how many."""

    message: str
    sessions_ended: int


def account(admin: Admin) -> Account:
    """An account as its owner sees it."""
    return Account(
        id=admin.id,
        email=admin.email,
        role=admin.role,
        totp_enabled=admin.totp_enabled,
        oidc_provider=admin.oidc_provider,
        last_login_at=iso_or_none(admin.last_login_at),
        domain_ids=list(admin.domain_ids),
        created_at=iso(admin.created_at),
    )


def session(found: Session, current: UUID | None) -> SessionRecord:
    """A session as it is answered."""
    return SessionRecord(
        id=found.id,
        ip_address=found.ip_address,
        user_agent=found.user_agent,
        created_at=iso(found.created_at),
        expires_at=iso(found.expires_at),
        current=found.id == current,
    )
