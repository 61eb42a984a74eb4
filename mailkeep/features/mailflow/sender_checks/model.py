"""Outcomes of a sender's mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from uuid import UUID

from mailkeep.features.record.alerts.model import AlertProblem

KINDS = ("bounce_rate", "complaint_rate", "new_recipients", "sender_rate")
"""The kinds of alerts."""


@dataclass(frozen=True, slots=True)
class SenderEvent:
    """An event of the feed about sent mail.

    `domain_id`: the domain that the mail counts for; `has_domain`: whether it still exists, or never was managed.
    `author`: the address that sent it; empty for an event that is not about sent mail. `bits`: the recipients of
    `mail.sent`, as bits of a bitmap. `is_forwarded`: for a forwarding domain (`domain`), which nobody here sent.
    `by_mail`: a bounce that was reported by mail.
    """

    tx: str
    id: UUID
    kind: str
    at: datetime
    domain_id: UUID | None
    domain: str | None
    has_domain: bool
    author: str
    is_forwarded: bool
    is_temporary: bool
    by_mail: bool
    bounce_class: str | None
    bits: Sequence[int] | None


@dataclass(slots=True)
class OutcomeCounter:
    """Numbers of recipients. `outcomes`: delivered, bounced or failed; `unknown`: of these, those that do not exist."""

    outcomes: int = 0
    unknown: int = 0
    delivered: int = 0
    complaints: int = 0


@dataclass(slots=True)
class SenderCounts:
    """What a batch of events adds, by sender (address key, or the subject of a domain's forwarded copies)."""

    domains: dict[str, UUID | None] = field(default_factory=dict[str, UUID | None])
    slots: dict[tuple[str, datetime], OutcomeCounter] = field(
        default_factory=dict[tuple[str, datetime], OutcomeCounter]
    )
    recipients: dict[tuple[str, date], int] = field(default_factory=dict[tuple[str, date], int])


@dataclass(frozen=True, slots=True)
class WindowSums:
    """The sums of a sender over the last `hours`."""

    hours: int
    outcomes: int
    unknown: int
    delivered: int
    complaints: int


@dataclass(frozen=True, slots=True)
class CheckedSender:
    """A sender and the sums of its windows."""

    sender: str
    domain_id: UUID | None
    windows: Sequence[WindowSums]


@dataclass(frozen=True, slots=True)
class RateMinimum:
    """The least numbers of recipients for which rates are compared."""

    bounces: int
    complaints: int


@dataclass(frozen=True, slots=True)
class SenderProblems:
    """What is wrong with a sender, and why it is to be suspended, if it is."""

    problems: Sequence[AlertProblem]
    suspension: str | None


@dataclass(frozen=True, slots=True)
class RecipientDays:
    """The bits that are set in the bitmaps of a sender: in that of a day (`seen`), in those of the 30 days before
    together, in all of them, and how many of these days have one.
    """

    sender: str
    domain_id: UUID | None
    seen: int
    before: int
    both: int
    days: int


Limits = Mapping[str, float]
"""Thresholds by name; those of rates are in percent."""
