"""Services, drift and operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

ServiceAction = Literal["start", "stop", "restart", "reload"]
OperationKind = Literal["start", "stop", "restart", "reload", "apply", "rollback"]
OperationState = Literal["running", "succeeded", "failed", "rolled_back"]
StepState = Literal["running", "succeeded", "failed"]


@dataclass(frozen=True, slots=True)
class ManagedService:
    """A service. `since`: when its process started. Only the daemons have `config_hash` and `drift`: whether a file of
    its configuration was edited by hand.
    """

    name: str
    state: Literal["running", "starting", "stopped"]
    pid: int | None
    since: datetime | None
    version: str
    restarts: int = 0
    memory_bytes: int | None = None
    config_hash: str | None = None
    drift: bool | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of the daemons' configuration, with the revision of the settings that it was made from."""

    n: int
    created_at: datetime
    revision: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All services; `generation` None: the daemons use different ones, or there are no daemons. `generations` are all
    that are kept, newest first.
    """

    services: Sequence[ManagedService]
    generation: Generation | None = None
    generations: Sequence[Generation] = ()


@dataclass(frozen=True, slots=True)
class Adoption:
    """What adopting an edit by hand means: the setting that would have its lines, and all lines that it would have for
    this file then. `refused`: what can't be adopted, each with the reason; then nothing is.
    """

    setting: str | None
    lines: str
    refused: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DriftedFile:
    """A file that was edited by hand. `owner` is a user ID; it and `changed_at` are None if the file was deleted.
    `diff` is unified, at most 64 KiB.
    """

    service: str
    path: str
    kind: Literal["changed", "deleted", "added"]
    changed_at: datetime | None
    owner: int | None
    diff: str
    adoption: Adoption


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that changes, with its difference from the current one (unified, secrets masked, at most 64 KiB) and the
    SHA-256 of the new one, None if it is deleted. `drifted`: it was edited by hand, and stays as it is, unless the new
    one differs from the installed one too (`is_edited_and_changed`): then an administrator must decide.
    """

    service: str
    path: str
    change: Literal["create", "update", "delete", "drifted"]
    diff: str
    sha256: str | None
    is_edited_and_changed: bool = False


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """What a daemon must do, and the parameters or files because of which it must; `interrupts`: what users notice."""

    service: str
    action: Literal["none", "reload", "restart"]
    because: Sequence[str]
    interrupts: str | None


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """The result of a daemon's own check of the new files, with its output."""

    service: str
    ok: bool
    output: str


@dataclass(frozen=True, slots=True)
class ConfigurationPlan:
    """What would change from the applied revision of the settings (`base`) to the newest (`target`). `id` identifies
    the current and the new files, and contains `expires_at`. `settings`: the settings that take effect then.
    """

    id: str
    base: int
    target: int
    expires_at: datetime
    files: Sequence[PlannedFile] = ()
    actions: Sequence[PlannedAction] = ()
    checks: Sequence[PlannedCheck] = ()
    settings: Sequence[str] = ()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an operation, with its output."""

    name: str
    state: StepState
    started_at: datetime
    finished_at: datetime | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class NewListener:
    """The HTTPS listener (its ID and URL) that a change must be confirmed over, which shows that it can be reached."""

    id: str
    url: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on a service, or on the configuration of all (`service` None). `started_at`: when the process `node`
    began. `confirm_until`: until when it must be confirmed, else it is rolled back; at `confirm_url` if that is set.
    """

    id: UUID
    kind: OperationKind
    service: str | None
    state: OperationState
    author_id: UUID | None
    author: str
    created_at: datetime
    steps: Sequence[Step] = ()
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    confirm_until: datetime | None = None
    confirm_url: str | None = None
    confirmed_at: datetime | None = None

    @property
    def awaited_until(self) -> datetime | None:
        """Until when it waits for a confirmation; None if it does not."""
        return self.confirm_until if self.state == "running" and not self.confirmed_at else None

    @property
    def title(self) -> str:
        """What it does, for example `restart postfix`."""
        return f"{self.kind} {self.service or ''}".rstrip()


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What to apply: the plan that was shown, how long to watch the services afterwards, and the edits by hand
    (`service/path`) to overwrite and to adopt into the settings.
    """

    plan_id: str
    watch_seconds: int = 30
    overwrite_drift: Sequence[str] = ()
    adopt_drift: Sequence[str] = ()

    @property
    def drift_to_replace(self) -> frozenset[tuple[str, str]]:
        """The files (service, path) that do not keep their edits."""
        parts = [name.partition("/") for name in (*self.overwrite_drift, *self.adopt_drift)]
        return frozenset((service, path) for service, _, path in parts)


@dataclass(frozen=True, slots=True)
class ApplyRefusal:
    """Why an apply did not begin: the plan is another one now or has expired, checks failed, files (`service/path`)
    were edited by hand and an administrator must decide, or edits can't be adopted (`lines`, each with the reason).
    """

    reason: Literal["plan_stale", "check_failed", "drifted", "not_adoptable", "restart_required"]
    text: str
    plan: ConfigurationPlan | None = None
    checks: Sequence[PlannedCheck] = ()
    files: Sequence[str] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AdoptionResult:
    """What adopting edits changes in the settings, and the ID of the plan with these changes; or why they can't be
    adopted.
    """

    refusal: ApplyRefusal | None = None
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plan_id: str = ""
