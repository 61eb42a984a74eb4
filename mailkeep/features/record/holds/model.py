"""A full restore, and what is held because of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """The last full restore of this instance. `began_at`: until when the backup has everything."""

    backup_id: UUID
    began_at: datetime
    restored_at: datetime
    released_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HeldRows:
    """The numbers of held rows."""

    scheduled_messages: int = 0
    webhook_deliveries: int = 0
    system_mails: int = 0


@dataclass(frozen=True, slots=True)
class EndedAccess:
    """The numbers of sessions, invitations and unfinished sign-ins that a restore ended."""

    sessions: int
    invitations: int
    sign_ins: int
