"""Scheduled messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailkeep.core.principal import Principal


@dataclass(frozen=True, slots=True)
class NewScheduledMessage:
    """A message to schedule. `creator`: whose rights it needs when it is sent; `sealed`: the parts of its content."""

    message_id: UUID
    domain_id: UUID
    creator: Principal
    scheduled_at: datetime
    recipients: int
    size: int
    sealed: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class ClaimedMessage:
    """A message that a worker has claimed. `claims` is the fencing token, `failures` the number of attempts that ended
    without acceptance. `creator` has no permissions yet: `sessions.refresh` adds the present ones.
    """

    message_id: UUID
    claims: int
    creator: Principal
    scheduled_at: datetime
    failures: int
    recipients: int
    size: int


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message that can still be changed and cancelled. `changed_at` is the time of its entity tag."""

    message_id: UUID
    scheduled_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """A submission whose result is known; `status` is that of the message in the history."""

    message_id: UUID
    scheduled_at: datetime
    failures: int
    status: str
    accepted: bool
