"""Mail that the filter filed in Junk or refused, releases, and digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.features.record.history.model import MailboxMail
from mailkeep.features.record.messages.model import Message

DEFAULT_PERIOD, LONGEST_PERIOD = timedelta(days=30), timedelta(days=90)
"""Of which the list shows mail, and what can be released."""

JUNK, INBOX = "Junk", "INBOX"
"""The folders in Dovecot. Spam is delivered to the folder with this name, also after its owner has renamed it."""

JunkResult = Literal["junk", "refused"]
Digest = Literal["daily", "weekly"]


@dataclass(frozen=True, slots=True)
class JunkMessage:
    """A message of the list; `can_release`: its copy is in the folder Junk now."""

    message: Message
    can_release: bool


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """A copy to move to the inbox, by the ID of its delivery, which was between `since` and `before`. `needs_author`:
    only if it has one author.
    """

    mailbox_id: UUID
    delivery_id: str
    since: datetime
    before: datetime
    needs_author: bool


MoveOutcome = Literal["moved", "in_inbox", "elsewhere", "gone", "inactive", "no_author"]


@dataclass(frozen=True, slots=True)
class MovedCopy:
    """What became of a copy: `in_inbox`: it was there before; `elsewhere`: it is in another `folder`; `inactive`:
    Dovecot does not know the mailbox. `author`: its author, if the request needs it.
    """

    outcome: MoveOutcome
    folder: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class Release:
    """A released message, and the entry of the allow list, if one was wanted and is there."""

    message_id: UUID
    allow_entry_id: UUID | None
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class DueDigest:
    """A mailbox whose digest is due, and the mail that it may list."""

    address: str
    digest: Digest
    mail: MailboxMail
