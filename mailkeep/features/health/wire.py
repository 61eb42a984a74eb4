"""JSON of health and version."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from mailkeep.features.health.model import Build, Health

StatusTold = Literal["ok", "degraded", "down"]


class CheckTold(Struct, frozen=True):
    """A part and how it does: `database`, `disk`, `mta` (the sandbox's port); in the full profile each daemon and
    agent, and the `supervisor` that tells of them.
    """

    component: str
    status: StatusTold


class HealthTold(Struct, frozen=True):
    """The whole, and each part."""

    status: StatusTold
    checks: list[CheckTold]


class VersionTold(Struct, frozen=True):
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


def health(found: Health) -> HealthTold:
    """A state as it is answered."""
    checks = [CheckTold(check.component, check.status) for check in found.checks]
    return HealthTold(found.status, checks)


def details(found: Health) -> dict[str, Any]:
    """A state as it stands in `error.details`."""
    return msgspec.to_builtins(health(found))


def version(found: Build, *, full: bool) -> VersionTold:
    """A build as it is answered."""
    return VersionTold(found.version, found.commit, "v1", "full" if full else "embedded")
