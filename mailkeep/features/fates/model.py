"""Mail on its way through Postfix, as its log tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from mailkeep.features.messages.model import Reply

Origin = Literal["api", "submission"]
End = Literal["done", "expired", "deleted", "refused"]
"""How a message left the queue: `done` (each recipient has its line), given up, deleted by an operator, or it never
came in.
"""


@dataclass(frozen=True, slots=True)
class Try:
    """A try to deliver to `recipient`, which is what `asked` became; they are the same without an alias."""

    asked: str
    recipient: str
    status: Literal["delivered", "deferred", "bounced"]
    reply: Reply
    at: datetime


@dataclass(frozen=True, slots=True)
class Expansion:
    """The last try for one of the addresses that an alias led to, and how many there were."""

    tried: Try
    tries: int


@dataclass(frozen=True, slots=True)
class Tracked:
    """What is known of a message that has not ended.

    `expected` counts the recipients in the queue, aliases expanded, `recipients` those that the message has (`noted`:
    all of them are known); `told` are the aliases among these whose fate is told. `sender` and `size` (bytes) are the
    queue's.
    """

    queue_id: str
    origin: Origin
    first_seen_at: datetime
    login: str | None = None
    header_id: str = ""
    head: Mapping[str, str] = field(default_factory=dict[str, str])
    sender: str = ""
    size: int = 0
    message_id: UUID | None = None
    expected: int | None = None
    recipients: int = 0
    noted: bool = False
    expansions: tuple[Expansion, ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """What a piece of the log tells of one message: what is known with it, the tries in it, and its end, if it came."""

    mail: Tracked
    tries: tuple[Try, ...] = ()
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """The envelope of a message that a mail client handed in, as the policy agent saw it."""

    queue_id: str
    login: str
    sender: str
    recipients: list[str]
    client: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file of a log is read: by inode and SHA-256 of its first line, in bytes."""

    inode: int
    first_line: bytes
    read_to: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A message that should be in the queue, or have ended, and is neither."""

    id: UUID
    queue_id: str
