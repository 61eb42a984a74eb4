"""The status of services and components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Status = Literal["ok", "degraded", "down"]
State = Literal["ok", "degraded", "down", "disabled"]


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The status of one service."""

    component: str
    status: Status


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The status of the server and its services."""

    status: Status
    checks: Sequence[HealthCheck]


@dataclass(frozen=True, slots=True)
class Component:
    """A component in detail; `since`: when this process first saw the status; `advice`: what to do, if anything."""

    name: str
    status: State
    advice: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    latency_ms: float | None = None
    version: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Build:
    """Version of the program, and its commit (None if unknown)."""

    version: str
    commit: str | None
