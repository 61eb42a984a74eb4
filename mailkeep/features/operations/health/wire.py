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
    """The status of a service: `database`, `disk`, `mta` (the sandbox); in the full profile also each daemon and
    process, and the `supervisor` that reports them.
    """

    component: str
    status: StatusName


class HealthResponse(Struct, frozen=True):
    """The status of the server and of each service."""

    status: StatusName
    checks: list[HealthCheckResponse]


class ComponentResponse(Struct, frozen=True):
    """A component in detail. `since`: when it was first seen to have this status (null: the database does not answer);
    `advice`: what to do (null: nothing); `details`: the measured values.
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
    has a mail server and a queue. `sandbox`: outbound mail goes to the sandbox, so that test addresses work.
    """

    version: str
    commit: str | None
    api: Literal["v1"]
    profile: Literal["embedded", "full"]
    sandbox: bool


class Alive(Struct, frozen=True):
    """Always `ok`; otherwise there is no response, or status 503."""

    status: Literal["ok"]


def health(server: ServerHealth) -> HealthResponse:
    """The JSON of the server's health."""
    checks = [HealthCheckResponse(check.component, check.status) for check in server.checks]
    return HealthResponse(server.status, checks)


def components(components: Sequence[Component]) -> HealthDetails:
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
            for each in components
        ]
    )


def details(server: ServerHealth) -> dict[str, Any]:
    """The server's health in `error.details`."""
    return msgspec.to_builtins(health(server))


def version(build: Build, *, full: bool, sandbox: bool) -> VersionResponse:
    """The JSON of the version."""
    return VersionResponse(build.version, build.commit, "v1", "full" if full else "embedded", sandbox)
