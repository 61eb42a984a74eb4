"""The state of the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Status = Literal["ok", "degraded", "down"]
State = Literal["ok", "degraded", "down", "disabled"]


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part and how it does."""

    component: str
    status: Status


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The whole and its parts."""

    status: Status
    checks: Sequence[HealthCheck]


@dataclass(frozen=True, slots=True)
class Component:
    """One component in detail: how it does, since when as far as this process has seen, how long its answer took, and
    what to do where it is not ok.
    """

    name: str
    status: State
    advice: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    latency_ms: float | None = None
    version: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Build:
    """Which program runs: its version, the commit it was taken from (None where that is not known)."""

    version: str
    commit: str | None
