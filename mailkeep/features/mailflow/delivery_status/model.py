"""Mail on its way through Postfix, as its log tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.features.record.messages.model import Reply

Status = Literal["delivered", "relayed", "deferred", "bounced"]
Origin = Literal["api", "submission", "inbound", "reinjection"]
"""Which port mail came in by: the API's, mail clients', other servers', Dovecot's."""
End = Literal["done", "expired", "deleted", "refused"]
"""How a message left the queue: `done` (each recipient has its line), given up, deleted by an operator, or it never
came in.
"""


@dataclass(frozen=True, slots=True)
class Pauses:
    """Postfix's `minimal_backoff_time` and `maximal_backoff_time`."""

    shortest: timedelta
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Try:
    """A try to deliver to `recipient`, which is what `asked` became; they are the same without an alias.

    `next_at`: when what was deferred is due again. `to_server`: it was a try of another mail server, by SMTP or through
    a relay.
    `hidden`: `recipient` lies behind an alias or forward of a domain whose settings the domain of the message may not
    see, so that only `asked` is shown of it. `forwarded_by`: the name of the domain that passes incoming mail on to
    `recipient`, where that is not the domain of `asked`; empty if it is not known.
    """

    asked: str
    recipient: str
    status: Status
    reply: Reply
    at: datetime
    next_at: datetime | None = None
    to_server: bool = False
    hidden: bool = False
    forwarded_by: str | None = None


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
    queue's. Mail that is passed on has a message for each domain that passes it on, by the domain's name (`passed_on`),
    and no `message_id`.
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
    passed_on: Mapping[str, UUID] = field(default_factory=dict[str, UUID])

    @property
    def is_passing(self) -> bool:
        """Whether nobody sent it from here, and it is followed for what goes on to the outside."""
        return self.origin in ("inbound", "reinjection")


@dataclass(frozen=True, slots=True)
class Story:
    """What a piece of the log tells of one message: what is known with it, the tries in it, and its end, if it came.

    `held`: an operator has put it on hold, and nothing of it was tried after that.
    """

    mail: Tracked
    tries: tuple[Try, ...] = ()
    end: End | None = None
    held: bool = False


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
