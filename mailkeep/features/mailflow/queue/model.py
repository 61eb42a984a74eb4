"""A message that waits, and which of them are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

State = Literal["incoming", "active", "deferred", "hold"]
Action = Literal["flush", "hold", "release", "delete"]


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which messages; `sender` and `recipient` match substrings without case, `domain` that of a recipient whole."""

    queue_id: str | None = None
    state: State | None = None
    sender: str | None = None
    recipient: str | None = None
    domain: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueSelection:
    """What an action is done to: the messages with these ids, else those that the filter means."""

    ids: Sequence[str] = ()
    filter: QueueFilter | None = None


@dataclass(frozen=True, slots=True)
class QueueRecipient:
    """Who is not delivered to, and the last word about it; empty before the first try."""

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
    """Which part of the list, in the order of arrival: up to `most` beyond `after` (arrival, queue id)."""

    most: int
    down: bool
    after: tuple[datetime, str] | None = None
