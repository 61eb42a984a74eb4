"""JSON of health and version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from mailkeep.core.clock import iso_or_none
from mailkeep.features.operations.health.model import Build, Component, ServerHealth
from mailkeep.web.fields import Timestamp

StatusTold = Literal["ok", "degraded", "down"]


class HealthCheckResponse(Struct, frozen=True):
    """A part and how it does: `database`, `disk`, `mta` (the sandbox's port); in the full profile each daemon and
    agent, and the `supervisor` that tells of them.
    """

    component: str
    status: StatusTold


class HealthResponse(Struct, frozen=True):
    """The whole, and each part."""

    status: StatusTold
    checks: list[HealthCheckResponse]


class ComponentResponse(Struct, frozen=True):
    """A component in detail: `since` when the process that answers has seen this status, `advice` what to do (null:
    nothing), `details` what the status was judged by.
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
    """The program's version, the commit it was taken from (null where unknown), the API's version, and the profile that
    runs: `full` has a mail server behind it, and a queue.
    """

    version: str
    commit: str | None
    api: Literal["v1"]
    profile: Literal["embedded", "full"]


class Alive(Struct, frozen=True):
    """Always `ok`; what is not ok does not answer, or with 503."""

    status: Literal["ok"]


def health(found: ServerHealth) -> HealthResponse:
    """A state as it is answered."""
    checks = [HealthCheckResponse(check.component, check.status) for check in found.checks]
    return HealthResponse(found.status, checks)


def components(found: Sequence[Component]) -> HealthDetails:
    """Components as they are answered."""
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
    """A state as it stands in `error.details`."""
    return msgspec.to_builtins(health(found))


def version(found: Build, *, full: bool) -> VersionResponse:
    """A build as it is answered."""
    return VersionResponse(found.version, found.commit, "v1", "full" if full else "embedded")
