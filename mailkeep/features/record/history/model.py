"""Filters of the history, search terms, timelines and contents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import IO, Literal
from uuid import UUID

from mailkeep.features.record.messages.model import ServerReply

_NO_REPLY = ServerReply()


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Filters of the list; `domains` are those that the caller sees, None for all. `api_key_id`: the key whose messages
    are the only ones that the caller sees. `provider` and `bounce_class` are those of a delivery attempt; `status` is
    then its result.
    """

    domains: list[UUID] | None
    direction: str | None = None
    status: str | None = None
    from_: str | None = None
    to: str | None = None
    subject: str | None = None
    message_id: str | None = None
    queue_id: str | None = None
    tag: str | None = None
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    api_key_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None
    provider: str | None = None
    bounce_class: str | None = None
    q: str | None = None


@dataclass(frozen=True, slots=True)
class MessageTotals:
    """How many messages there are in each status, since a time (None: of the whole history); a number that reaches
    `most` may be larger.
    """

    since: datetime | None
    by_status: dict[str, int]
    most: int


MailResult = Literal["received", "junk", "rejected"]
"""What became of mail for a mailbox. `junk`: it was delivered, to the folder Junk."""


@dataclass(frozen=True, slots=True)
class MailboxMail:
    """Inbound mail for a mailbox since a time: what was delivered to it or refused for it, or was rejected at its
    address (in a domain, by its key), which it has since `address_since`.
    """

    mailbox_id: UUID
    address_key: str
    domain_id: UUID
    since: datetime
    address_since: datetime


@dataclass(frozen=True, slots=True)
class MailSelection:
    """Which mail for a mailbox: `result` None: any. `filtered`: only what the spam filter filed in Junk or refused;
    `without_denied`: except for deny entries.
    """

    result: MailResult | None = None
    filtered: bool = False
    without_denied: bool = False


SearchField = Literal["subject", "sender", "recipients", "any"]


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A case-folded search term and the field in which it must occur; `any`: one of the three."""

    field: SearchField
    text: str


@dataclass(frozen=True, slots=True)
class WalkResult:
    """The result of a walk: the number of rows read, the ID of the last one, and the hits in order.

    `counts` is the number of rows in which each index term occurs.
    """

    rows_read: int
    last: UUID | None
    hits: list[UUID]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a list: at most `limit` hits after `after`, in descending or ascending order."""

    after: UUID | None
    limit: int
    descending: bool


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of a timeline; `attempt` is the number of the delivery attempt to its recipient, from 1."""

    id: UUID
    at: datetime
    kind: str
    recipient: str | None = None
    attempt: int | None = None
    reply: ServerReply = _NO_REPLY
    next_attempt_at: datetime | None = None
    queue_id: str | None = None


@dataclass(frozen=True, slots=True)
class MessageContent:
    """The content of a message: an open file, readable even if it is deleted meanwhile, and its size in bytes."""

    message_id: UUID
    size: int
    file: IO[bytes]
