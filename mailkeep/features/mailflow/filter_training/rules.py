"""How many lessons a mailbox may teach, and when the classifier has an effect."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailkeep.features.mailflow.filter_training.model import (
    LESSONS_PER_HOUR,
    REQUIRED_LESSONS,
    TrainingState,
    TrainingStatus,
)
from mailkeep.mail.filter.controller import LearnedCounts

UNAVAILABLE = TrainingStatus("unavailable", 0, 0)


def minute_of(at: datetime) -> datetime:
    """The minute in which lessons of this time are counted."""
    return at.replace(second=0, microsecond=0)


def hour_before(at: datetime) -> datetime:
    """The first minute that counts at this time: an hour and up to a minute ago, so that it is never less."""
    return minute_of(at) - timedelta(hours=1)


def grant(wanted: int, accepted: int) -> int:
    """How many of `wanted` lessons a mailbox may teach that has taught `accepted` in the last hour."""
    return max(0, min(wanted, LESSONS_PER_HOUR - accepted))


def status(counts: LearnedCounts) -> TrainingStatus:
    """The status with these counts."""
    state: TrainingState = "active" if min(counts.spam, counts.ham) >= REQUIRED_LESSONS else "collecting"
    return TrainingStatus(state, counts.spam, counts.ham)
