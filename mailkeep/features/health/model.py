"""The state of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "degraded", "down"]


@dataclass(frozen=True, slots=True)
class Check:
    """One part and how it does."""

    component: str
    status: Status


@dataclass(frozen=True, slots=True)
class Health:
    """The whole and its parts."""

    status: Status
    checks: Sequence[Check]


@dataclass(frozen=True, slots=True)
class Build:
    """Which program runs: its version, the commit it was taken from (None where that is not known)."""

    version: str
    commit: str | None
