"""JSON of sessions."""

from __future__ import annotations

from uuid import UUID

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.access.sessions.model import Session
from mailkeep.web.fields import Timestamp


class SessionRecord(Struct, frozen=True):
    """An active session; `current`: it is the session of this call. The `id` grants no access."""

    id: UUID
    ip_address: str | None
    user_agent: str | None
    created_at: Timestamp
    expires_at: Timestamp
    current: bool


class LogoutResponse(Struct, frozen=True):
    """The current session was ended."""

    message: str


class SessionEndResponse(Struct, frozen=True):
    """A session was ended."""

    message: str
    id: UUID


class SessionsEndResponse(Struct, frozen=True):
    """Sessions were ended; `sessions_ended` is their number."""

    message: str
    sessions_ended: int


def to_session(session: Session, current_id: UUID | None) -> SessionRecord:
    """The response for a session."""
    return SessionRecord(
        id=session.id,
        ip_address=session.ip_address,
        user_agent=session.user_agent,
        created_at=iso(session.created_at),
        expires_at=iso(session.expires_at),
        current=session.id == current_id,
    )
