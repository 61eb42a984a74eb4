"""JSON of sessions."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.sessions.model import AdminSession
from mailkeep.web.fields import Timestamp


class SessionRecord(Struct, frozen=True):
    """An active session; `current` is the one that calls. Its id identifies it and grants nothing."""

    id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: Timestamp
    expires_at: Timestamp
    current: bool


class LogoutResponse(Struct, frozen=True):
    """The session was ended."""

    message: str


class SessionEndResponse(Struct, frozen=True):
    """A session was ended."""

    message: str
    id: UUID


class SessionsEndResponse(Struct, frozen=True):
    """Sessions were ended; how many."""

    message: str
    sessions_ended: int


def to_session(found: AdminSession, current: UUID | None) -> SessionRecord:
    """The response for a session."""
    return SessionRecord(
        id=found.id,
        ip_address=found.ip_address,
        user_agent=found.user_agent,
        created_at=iso(found.created_at),
        expires_at=iso(found.expires_at),
        current=found.id == current,
    )
