"""The status of services and components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.operations.certificates.model import CertificateEnd
from mailkeep.jobs.runs import JobRun

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
    """A component in detail; `since`: None if the database does not answer;
    `advice`: what to do, if anything.
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
    """Version of the program, and its commit (None if unknown)."""

    version: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """What the components are described with that is in the database."""

    jobs: Sequence[JobRun] = ()
    ends: Sequence[CertificateEnd] = ()
    dns_problems: Sequence[str] = ()
    blocklists: Sequence[BlocklistResult] = ()
    dns_checked_at: datetime | None = None
    states: Mapping[str, tuple[State, datetime]] = field(default_factory=dict[str, tuple[State, datetime]])
