"""The result of a test, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.features.mailflow.filtering.model import Decision, Rule, Scope

DecisionPoint = Literal["rcpt", "data", "delivery"]
"""Where a message is refused (RCPT, the end of DATA), or delivered."""


@dataclass(frozen=True, slots=True)
class TrialStep:
    """A step in plain words, and the point at which it is taken."""

    at: DecisionPoint
    step: str
    result: str
    is_deciding: bool
    scope: Scope | None = None
    rule: Rule | None = None
    entry_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What would happen to a message, and where in its way."""

    decision: Decision
    at: DecisionPoint
    steps: Sequence[TrialStep]
