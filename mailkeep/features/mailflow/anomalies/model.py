"""Numbers of hours and sign-ins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

KINDS = ("spike", "silence", "sign_in_networks", "sign_in_after_pause")
"""The kinds of alerts."""
SERVER = "server"
"""The subject of an alert about the mail of all domains."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From `since`, before `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class HourHistory:
    """What is known about a domain's mail before the last hour: recipients in the same hour of the weeks before, the
    latest first (None: no figures yet), and those of the hours before, the oldest first.
    """

    weeks: Sequence[float | None]
    hours: Sequence[int]


@dataclass(frozen=True, slots=True)
class ComparedDomain:
    """A domain; `name` and `domain_id` are None for all domains together."""

    domain_id: UUID | None
    name: str | None


@dataclass(frozen=True, slots=True)
class MailboxSignIns:
    """Sign-ins to a mailbox with one address, first and last of a day."""

    mailbox: str
    domain_id: UUID
    ip: str
    first_at: datetime
    last_at: datetime
