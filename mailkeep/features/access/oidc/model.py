"""Identities, logins in progress, and responses of a provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.address import Address

COOKIE = "svc_oidc"
FLOW_LIFETIME = timedelta(minutes=10)
"""Of a login in progress."""


@dataclass(frozen=True, slots=True)
class LoginFlow:
    """A login in progress. `next`: the local path where it ends. `link_session_id`: the session to whose account the
    identity is linked, None for a login.
    """

    provider: str
    next: str
    link_session_id: UUID | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkingSession:
    """The active session from which an identity is linked, and its account."""

    admin_id: UUID
    email: str
    role: str
    session_id: UUID


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """The provider's response in the browser's redirect (RFC 6749 §4.1.2)."""

    state: str
    code: str
    issuer: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """An identity that the provider has verified; `email` only if it is verified too and in an allowed domain.

    `multi_factor`: the provider has verified a second factor.
    """

    provider: str
    issuer: str
    subject: str
    email: Address | None
    multi_factor: bool


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """The provider's page, and the cookie that binds the login to the browser."""

    location: str
    cookie: str


@dataclass(frozen=True, slots=True)
class LocalRedirect:
    """The local page where a login ends, with the session's cookie if one was opened."""

    location: str
    cookie: str | None = None
