"""Entries of the queue, and filters and selections of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Literal

from mailkeep.features.record.holds.model import HeldRows, RestoredBackup
from mailkeep.mail.daemons.held_mail import HeldMail

State = Literal["incoming", "active", "deferred", "hold"]
Action = Literal["flush", "hold", "release", "delete"]


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Filters; `sender` and `recipient` match substrings case-insensitively, `domain` the domain of a recipient."""

    queue_id: str | None = None
    state: State | None = None
    sender: str | None = None
    recipient: str | None = None
    domain: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueSelection:
    """The messages of an action: those with these IDs, or those that match the filter."""

    ids: Sequence[str] = ()
    filter: QueueFilter | None = None

    @property
    def is_all(self) -> bool:
        """Whether it selects every message."""
        return self.filter == QueueFilter()


@dataclass(frozen=True, slots=True)
class Affected:
    """The numbers of messages in the queue to which an action applied, and of what it released outside the queue."""

    messages: int = 0
    rows: HeldRows = field(default_factory=HeldRows)
    mail: HeldMail = field(default_factory=HeldMail)

    @property
    def release_counts(self) -> dict[str, int]:
        """The numbers of what it released outside the queue, by name."""
        return {**asdict(self.rows), **asdict(self.mail)}


@dataclass(frozen=True, slots=True)
class Held:
    """What is held since a full restore: messages in the queue (all on hold), rows, and mail that was stored apart.
    `restored` is None if there was no restore, or what it held is released.
    """

    restored: RestoredBackup | None = None
    affected: Affected = field(default_factory=Affected)


@dataclass(frozen=True, slots=True)
class QueueRecipient:
    """A recipient who is still waiting; `reason`: of the last deferral, empty before the first attempt."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A message in the queue; `size` in bytes."""

    queue_id: str
    state: str
    arrived_at: datetime
    size: int
    sender: str
    recipients: list[QueueRecipient]
    next_attempt_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueSlice:
    """A page of the list in order of arrival: up to `limit` entries after the position `after` (arrival, queue ID)."""

    limit: int
    descending: bool
    after: tuple[datetime, str] | None = None


@dataclass(frozen=True, slots=True)
class SenderQueue:
    """The messages of a sender in the queue: the queue IDs of those that are not on hold, and of those that are."""

    sender: str
    waiting: list[str] = field(default_factory=list[str])
    on_hold: list[str] = field(default_factory=list[str])
