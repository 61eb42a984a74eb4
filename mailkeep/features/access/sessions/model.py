"""Sessions of accounts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.principal import OwnMailbox, Role
from mailkeep.features.access.accounts.model import AccountKind

COOKIES: dict[AccountKind, str] = {"admin": "svc_session", "mailbox": "svc_mailbox"}


@dataclass(frozen=True, slots=True)
class Session:
    """A session, without its token."""

    id: UUID
    account_id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CallerRights:
    """What an account may do now: its role, its domains, whether it has a second factor, and whether it must change its
    password first.
    """

    role: Role
    second_factor: bool
    must_change_password: bool
    assigned: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class OwnerSession:
    """The session of a request's cookie `svc_mailbox`, and its mailbox as it is now."""

    session_id: UUID
    signed_in_at: datetime
    address: str
    mailbox: OwnMailbox


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """The session of a request's cookie, and its account as it is now."""

    session_id: UUID
    signed_in_at: datetime
    admin_id: UUID
    email: str
    role: Role
    second_factor: bool
    must_change_password: bool
    assigned: frozenset[UUID]
