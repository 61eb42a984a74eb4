"""Lessons and what has been learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.mail.filter.controller import Kind

LessonKind = Kind
TeachResult = Literal["taught", "known", "skipped", "off", "over_limit", "too_large", "refused", "unavailable"]
"""What became of a lesson. `known`: taught before as the same kind. `skipped`: too few words. `off`: `learn` is off,
the mailbox is gone, or the profile has no filter. `over_limit`: the mailbox has taught enough in this hour. `refused`:
the filter does not accept the message. `unavailable`: the filter does not answer.
"""
TrainingState = Literal["unavailable", "collecting", "active"]

REQUIRED_LESSONS = 200
"""Messages of each kind that the classifier learns before it gives a score."""
LESSONS_PER_HOUR = 100
"""Lessons of a mailbox in an hour; see `rules`."""
LARGEST_LESSON_BYTES = 1 << 20
"""Larger messages teach nothing: their size is attachments, and each takes memory until it is taught."""


@dataclass(frozen=True, slots=True)
class TrainingStatus:
    """What the filter has learned. `unavailable`: there is no filter, or it does not answer; the counts are then 0."""

    state: TrainingState
    spam_learned: int
    ham_learned: int
    required: int = REQUIRED_LESSONS


@dataclass(frozen=True, slots=True)
class LessonCounts:
    """Lessons of a mailbox in the last hour: those that were accepted, and those that were dropped by a limit."""

    accepted: int = 0
    dropped: int = 0
