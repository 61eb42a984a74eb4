"""Figures, and what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

Period = Literal["24h", "7d", "30d", "90d"]
Interval = Literal["hour", "day"]
Dimension = Literal["", "tag", "api_key"]
FIGURES = (
    "messages", "accepted", "delivered", "first_attempt", "deferred", "bounced", "failed", "suppressed", "complained",
    "received", "rejected", "spam",
)  # fmt: skip
"""The columns of the counters: recipients, except `messages`, the accepted messages. `deferred`: at least once;
`first_attempt`: delivered at the first attempt; `rejected`: refused at SMTP; `spam`: received in Junk."""
DELAYS = (
    0.5, 1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400,
    172800, 432000,
)  # fmt: skip
"""The upper bounds of the buckets of delivery times, in seconds; the last bucket has longer times too. They are part of
the stored data: other bounds need another table."""
ALL_DOMAINS = UUID(int=0)
"""The domain of the counters for all domains together; they include mail of domains that are not managed."""
STEPS = (15, 60, 24 * 60)
"""The minutes that a counter covers: quarters of an hour, the smallest step in which time zones differ, and the hours
and days of UTC that they add up to."""
OTHER = ""
"""The provider of all mail, and the tag of the mail whose tag is not counted on its own."""
OTHER_TAGS = "other"
"""What the rest of the tags is called, so that a tag with this name is part of it."""


@dataclass(frozen=True, slots=True)
class MailEvent:
    """An event of the feed, with what is counted of it.

    `at`: the time of the delivery attempt, else of the event. `recipients`: those of its message that were not
    suppressed. `accepted_at`: when our MTA accepted the message.
    """

    tx: str
    id: UUID
    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    at: datetime
    api_key_id: UUID | None
    accepted_at: datetime | None
    recipients: int
    tags: Sequence[str]
    attempts: int
    is_temporary: bool
    is_forwarded: bool
    is_refused: bool
    bounce_class: str | None
    provider: str | None
    remote_host: str | None
    reply: str | None


@dataclass(frozen=True, slots=True)
class CounterKey:
    """What a counter counts: mail of a domain, of a tag or key, at a provider (`OTHER`: all), in the `step` minutes
    from `slot` on.
    """

    domain_id: UUID
    dimension: Dimension
    value: str
    provider: str
    step: int
    slot: datetime


@dataclass(slots=True)
class Counter:
    """Numbers by figure, and deliveries by bucket of `DELAYS`."""

    figures: dict[str, int] = field(default_factory=dict[str, int])
    delays: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, other: Counter) -> None:
        """Add another."""
        for name, number in other.figures.items():
            self.figures[name] = self.figures.get(name, 0) + number
        for bucket, number in other.delays.items():
            self.delays[bucket] = self.delays.get(bucket, 0) + number


@dataclass(slots=True)
class BounceCounter:
    """Numbers of a class of replies by figure (deferred, bounced, failed), and the latest of them."""

    figures: dict[str, int] = field(default_factory=dict[str, int])
    reply: str | None = None
    reply_at: datetime | None = None
    message_id: UUID | None = None

    def add(self, other: BounceCounter) -> None:
        """Add another; the later reply stays, of two at once the other."""
        for name, number in other.figures.items():
            self.figures[name] = self.figures.get(name, 0) + number
        if other.reply_at and (self.reply_at is None or other.reply_at >= self.reply_at):
            self.reply, self.reply_at, self.message_id = other.reply, other.reply_at, other.message_id


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose counters are added up. `domains`: None for all."""

    domains: Sequence[UUID] | None
    dimension: Dimension = ""
    value: str = ""
    provider: str = OTHER


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums of counters. `numbers` has each of `FIGURES`; `delays` the deliveries by bucket."""

    numbers: Mapping[str, int]
    delays: Sequence[int]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Times from `since` to `until`, cut at `edges` (the first is `since`), and the same length before."""

    edges: Sequence[datetime]
    until: datetime

    @property
    def since(self) -> datetime:
        """The beginning."""
        return self.edges[0]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The counters of `step` minutes that begin at `since` or later, before `until`."""

    step: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Group:
    """Sums for one domain, provider, tag or key (`key`); `name` is that of a domain or key that exists."""

    key: str
    name: str | None
    figures: Figures


@dataclass(frozen=True, slots=True)
class BounceSum:
    """Sums of a class of replies, and the latest."""

    bounce_class: str
    deferred: int
    bounced: int
    failed: int
    reply: str | None
    reply_at: datetime | None
    message_id: UUID | None
