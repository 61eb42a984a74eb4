"""Sign-ins to mailboxes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

WEB = "web"
MAX_PROGRAM = 200
"""Maximum length of the name of a program; longer ones are cut."""


@dataclass(frozen=True, slots=True)
class MailboxSignIn:
    """A sign-in to a mailbox. `number`: of the app password that was used."""

    mailbox_id: UUID
    at: datetime
    protocol: str
    ip: str
    program: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class SignInDay:
    """The sign-ins of a day with one protocol, address and program."""

    id: UUID
    protocol: str
    ip: str
    program: str
    first_at: datetime
    last_at: datetime
