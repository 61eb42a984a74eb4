"""JSON of health and version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from mailkeep.core.clock import iso_or_none
from mailkeep.features.operations.health.model import Build, Component, ServerHealth
from mailkeep.web.fields import Timestamp

StatusName = Literal["ok", "degraded", "down"]


class HealthCheckResponse(Struct, frozen=True):
    """The status of a service: `database`, `disk`, `mta` (the sandbox's port); in the full profile each daemon and
    agent, and the `supervisor` that reports them.
    """

    component: str
    status: StatusName


class HealthResponse(Struct, frozen=True):
    """The status of the server and of each service."""

    status: StatusName
    checks: list[HealthCheckResponse]


class ComponentResponse(Struct, frozen=True):
    """A component in detail. `since`: when the responding process first saw this status; `advice`: what to do (null:
    nothing); `details`: the measured values.
    """

    component: str
    status: Literal["ok", "degraded", "down", "disabled"]
    since: Timestamp | None
    latency_ms: float | None
    version: str | None
    advice: str | None
    details: dict[str, Any]


class HealthDetails(Struct, frozen=True):
    """All components."""

    components: list[ComponentResponse]


class VersionResponse(Struct, frozen=True):
    """The version of the program, its commit (null if unknown), the version of the API, and the profile: only `full`
    has a mail server and a queue.
    """

    version: str
    commit: str | None
    api: Literal["v1"]
    profile: Literal["embedded", "full"]


class Alive(Struct, frozen=True):
    """Always `ok`; otherwise there is no response, or status 503."""

    status: Literal["ok"]


def health(found: ServerHealth) -> HealthResponse:
    """The JSON of a status."""
    checks = [HealthCheckResponse(check.component, check.status) for check in found.checks]
    return HealthResponse(found.status, checks)


def components(found: Sequence[Component]) -> HealthDetails:
    """The JSON of components."""
    return HealthDetails(
        [
            ComponentResponse(
                component=each.name,
                status=each.status,
                since=iso_or_none(each.since),
                latency_ms=each.latency_ms,
                version=each.version,
                advice=each.advice,
                details=dict(each.details),
            )
            for each in found
        ]
    )


def details(found: ServerHealth) -> dict[str, Any]:
    """The JSON of a status in `error.details`."""
    return msgspec.to_builtins(health(found))


def version(found: Build, *, full: bool) -> VersionResponse:
    """The JSON of a version."""
    return VersionResponse(found.version, found.commit, "v1", "full" if full else "embedded")
