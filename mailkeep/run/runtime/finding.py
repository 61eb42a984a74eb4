"""The result of a check of `mailkeep doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, and what to do about it."""

    check: str
    level: Level
    message: str
    advice: str | None = None
