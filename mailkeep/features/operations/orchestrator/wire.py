"""JSON of the orchestrator."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.errors import Conflict
from mailkeep.features.operations.orchestrator import rules
from mailkeep.features.operations.orchestrator.model import (
    ApplyRefusal,
    DriftedFile,
    Generation,
    ManagedService,
    Operation,
    OperationKind,
    OperationState,
    Overview,
    ServiceAction,
    Step,
    StepState,
)
from mailkeep.features.operations.orchestrator.plan_json import to_check, to_plan
from mailkeep.web.fields import Body, OwnPassword, Text, Timestamp

WatchSeconds = Annotated[int, Meta(ge=5, le=600)]
DriftNames = Annotated[list[Annotated[str, Meta(max_length=300)]], Meta(max_length=200)]


class ServiceResponse(Struct, frozen=True):
    """A daemon or process. `since`: when it started; `actions`: what can be done with it; `consequences`: what users
    notice of each action. Only daemons with files of configuration have `config_hash`, and `drift`: whether a file was
    edited by hand.
    """

    name: str
    state: Literal["running", "starting", "stopped"]
    pid: int | None
    since: Timestamp | None
    version: str
    restarts: int
    memory_bytes: int | None
    config_hash: str | None
    drift: bool | None
    actions: list[ServiceAction]
    consequences: dict[str, str]


class GenerationResponse(Struct, frozen=True):
    """A generation of the daemons' configuration. `revision`: the settings that it was made from."""

    n: int
    created_at: Timestamp
    revision: int


class OverviewResponse(Struct, frozen=True):
    """All services. `generation`: the configuration that all daemons use, null if they use different ones or there are
    none; `generations`: all that are kept, newest first; `operation_id`: the running operation.
    """

    services: list[ServiceResponse]
    generation: GenerationResponse | None
    generations: list[GenerationResponse]
    operation_id: UUID | None


class AdoptionResponse(Struct, frozen=True):
    """What adopting the edit would mean: the setting that gets the lines, and all `lines` that it would have for this
    file. `refused`: what can't be adopted, each with the reason; then nothing can.
    """

    setting: str | None
    lines: str
    refused: list[str]


class DriftResponse(Struct, frozen=True):
    """A file that was edited by hand since it was installed. `owner` is a user ID of the system."""

    service: str
    path: str
    kind: Literal["changed", "deleted", "added"]
    changed_at: Timestamp | None
    owner: int | None
    diff: str
    adoption: AdoptionResponse


class StepResponse(Struct, frozen=True):
    """A step of an operation."""

    name: str
    state: StepState
    started_at: Timestamp
    finished_at: Timestamp | None
    output: str


class OperationResponse(Struct, frozen=True):
    """An operation. `service` is null for `apply` and `rollback`; `error` says why it failed or was rolled back.
    `confirm_until`: it waits for POST /orchestrator/confirm, and is rolled back without it until then; null once it was
    confirmed. `confirm_url`: where that request must be sent, if the HTTPS listener changes.
    """

    id: UUID
    kind: OperationKind
    service: str | None
    state: OperationState
    steps: list[StepResponse]
    error: str | None
    author: str
    author_id: UUID | None
    created_at: Timestamp
    finished_at: Timestamp | None
    confirm_until: Timestamp | None
    confirm_url: str | None


class ApplyBody(Body, frozen=True):
    """`plan_id`: of the plan that was shown. The services are watched for `watch_seconds` afterwards.
    `overwrite_drift`: files that were edited by hand (`service/path`) whose edits are dropped. `adopt_drift`: files
    whose edits become settings (`overlays.*`), which needs a recent sign-in or `current_password`.
    """

    plan_id: Text
    watch_seconds: WatchSeconds = 30
    overwrite_drift: DriftNames = []
    adopt_drift: DriftNames = []
    current_password: OwnPassword | UnsetType = UNSET


class RollbackBody(Body, frozen=True):
    """The generation whose settings are applied again."""

    generation: Annotated[int, Meta(ge=1, le=999_999)]
    watch_seconds: WatchSeconds = 30


class OperationStarted(Struct, frozen=True):
    """The operation, whose progress GET /orchestrator/operations/{id} returns."""

    operation_id: UUID


def to_overview(overview: Overview, running: Operation | None) -> OverviewResponse:
    """The response for all services."""
    return OverviewResponse(
        services=[_to_service(each) for each in overview.services],
        generation=_to_generation(overview.generation) if overview.generation else None,
        generations=[_to_generation(each) for each in overview.generations],
        operation_id=running.id if running else None,
    )


def _to_generation(generation: Generation) -> GenerationResponse:
    return GenerationResponse(generation.n, iso(generation.created_at), generation.revision)


def _to_service(service: ManagedService) -> ServiceResponse:
    return ServiceResponse(
        name=service.name,
        state=service.state,
        pid=service.pid,
        since=iso_or_none(service.since),
        version=service.version,
        restarts=service.restarts,
        memory_bytes=service.memory_bytes,
        config_hash=service.config_hash,
        drift=service.drift,
        actions=rules.list_actions(service.name),
        consequences={
            action: rules.describe_consequence(service.name, action) for action in rules.list_actions(service.name)
        },
    )


def to_drift(drift: DriftedFile) -> DriftResponse:
    """The response for a file."""
    adoption = AdoptionResponse(drift.adoption.setting, drift.adoption.lines, list(drift.adoption.refused))
    return DriftResponse(
        drift.service, drift.path, drift.kind, iso_or_none(drift.changed_at), drift.owner, drift.diff, adoption
    )


def to_operation(operation: Operation) -> OperationResponse:
    """The response for an operation."""
    return OperationResponse(
        id=operation.id,
        kind=operation.kind,
        service=operation.service,
        state=operation.state,
        steps=[_to_step(step) for step in operation.steps],
        error=operation.error,
        author=operation.author,
        author_id=operation.author_id,
        created_at=iso(operation.created_at),
        finished_at=iso_or_none(operation.finished_at),
        confirm_until=None if operation.confirmed_at else iso_or_none(operation.confirm_until),
        confirm_url=operation.confirm_url if operation.awaited_until else None,
    )


def refuse(refusal: ApplyRefusal) -> Conflict:
    """The error for an apply that did not begin."""
    details: dict[str, Any] = {}
    if refusal.plan:
        details["plan"] = msgspec.to_builtins(to_plan(refusal.plan))
    if refusal.checks:
        details["checks"] = [msgspec.to_builtins(to_check(each)) for each in refusal.checks]
    if refusal.files:
        details["files"] = list(refusal.files)
    if refusal.lines:
        details["lines"] = list(refusal.lines)
    how = " Name them in overwrite_drift or adopt_drift." if refusal.reason == "drifted" else ""
    return Conflict(refusal.text + how, reason=refusal.reason, **details)


def _to_step(step: Step) -> StepResponse:
    return StepResponse(step.name, step.state, iso(step.started_at), iso_or_none(step.finished_at), step.output)
