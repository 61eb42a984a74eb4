"""JSON of a plan, which the configuration's dry run returns too."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.operations.orchestrator.model import ConfigurationPlan, PlannedCheck
from mailkeep.web.fields import Timestamp


class PlannedFileResponse(Struct, frozen=True):
    """A file that changes: unified diff from the current file, secrets masked, and the SHA-256 of the new file (null:
    deleted). `drifted`: it was edited by hand, and stays as it is.
    """

    service: str
    path: str
    change: Literal["create", "update", "delete", "drifted"]
    diff: str
    sha256: str | None


class PlannedActionResponse(Struct, frozen=True):
    """What a daemon must do, because of which parameters or files, and what users notice."""

    service: str
    action: Literal["none", "reload", "restart"]
    because: list[str]
    interrupts: str | None


class PlannedCheckResponse(Struct, frozen=True):
    """The result of a daemon's own check of the new files."""

    service: str
    ok: bool
    output: str


class PlanResponse(Struct, frozen=True):
    """What changes from the applied revision of the settings (`base`) to the newest (`target`); `settings` take effect
    then. It can be applied until `expires_at`, which is part of the `id`.
    """

    id: str
    base: int
    target: int
    expires_at: Timestamp
    files: list[PlannedFileResponse]
    actions: list[PlannedActionResponse]
    checks: list[PlannedCheckResponse]
    settings: list[str]
    warnings: list[str]


def to_plan(plan: ConfigurationPlan) -> PlanResponse:
    """The response for a plan."""
    return PlanResponse(
        id=plan.id,
        base=plan.base,
        target=plan.target,
        expires_at=iso(plan.expires_at),
        files=[
            PlannedFileResponse(each.service, each.path, each.change, each.diff, each.sha256) for each in plan.files
        ],
        actions=[
            PlannedActionResponse(each.service, each.action, list(each.because), each.interrupts)
            for each in plan.actions
        ],
        checks=[to_check(each) for each in plan.checks],
        settings=list(plan.settings),
        warnings=list(plan.warnings),
    )


def to_check(check: PlannedCheck) -> PlannedCheckResponse:
    """The response for a check."""
    return PlannedCheckResponse(check.service, check.ok, check.output)
