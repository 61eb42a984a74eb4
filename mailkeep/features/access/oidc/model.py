"""Identities, logins under way, and what comes back from a provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.address import Address

COOKIE = "svc_oidc"
FLOW_LIFETIME = timedelta(minutes=10)
"""Of a login under way."""


@dataclass(frozen=True, slots=True)
class LoginFlow:
    """A login under way. `link_session_id`: the session that wants the identity for its account, None for a login."""

    provider: str
    next: str
    link_session_id: UUID | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkingSession:
    """Who links an identity: an account with a session that still is."""

    admin_id: UUID
    email: str
    role: str
    session_id: UUID


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """What the browser brings back from the provider."""

    state: str
    code: str
    issuer: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """Whom the provider has vouched for; `email` only where it calls it verified."""

    provider: str
    issuer: str
    subject: str
    email: Address | None
    multi_factor: bool


@dataclass(frozen=True, slots=True)
class ProviderRedirect:
    """Where a login begins: the provider's page, and the cookie that ties the login to the browser."""

    location: str
    cookie: str


@dataclass(frozen=True, slots=True)
class LocalRedirect:
    """Where a login ends: a page of ours, with the session's cookie where one was opened."""

    location: str
    cookie: str | None = None
