"""JSON of the progress of an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from msgspec import Raw, Struct

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.directory.bulk.model import BulkItemResult, BulkOperation, BulkProgress
from mailkeep.features.operations.backups.model import BackupOperation
from mailkeep.features.operations.orchestrator.model import Operation
from mailkeep.web.fields import Timestamp


class ProgressRecord(Struct, frozen=True):
    """How many items (or steps) of `total` are done, and how many of these have failed."""

    done: int
    total: int
    failed: int


class ItemResultRecord(Struct, frozen=True):
    """The result of an item: its index in the call (of CSV: the first row after the names is 0), and the object, or an
    `error` {code, message, details}. Both are null where a dry run would create an object.
    """

    index: int
    id: UUID | None
    error: dict[str, Any] | None


class OperationStatusRecord(Struct, frozen=True):
    """An operation. `kind`: `mailbox.create`, …, `alias.delete`, `backup.create`, `backup.verify`, `backup.restore`,
    `backup.prune`, `backup.key`, or that of GET /orchestrator/operations.

    `succeeded` means for a bulk operation that each item has a result, which may be an error. `results` is empty for
    operations on services and backups. `phase`, `error` and `result` are of operations on backups: what it does now,
    why it has failed, and what it found; `progress` counts bytes or steps.
    """

    id: UUID
    kind: str
    state: Literal["running", "succeeded", "failed", "rolled_back", "cancelled"]
    dry_run: bool
    progress: ProgressRecord
    results: list[ItemResultRecord]
    created_at: Timestamp
    finished_at: Timestamp | None
    phase: str = ""
    error: str | None = None
    result: dict[str, Any] | None = None


def to_bulk(
    operation: BulkOperation, progress: BulkProgress, results: Sequence[BulkItemResult]
) -> OperationStatusRecord:
    """The response for a bulk operation."""
    records: list[Any] = [
        {"index": each.index, "id": each.id, "error": None if each.error is None else Raw(each.error)}
        for each in results
    ]
    return OperationStatusRecord(
        id=operation.id,
        kind=f"{operation.resource}.{operation.action}",
        state=operation.state,
        dry_run=operation.dry_run,
        progress=ProgressRecord(progress.done, operation.total, progress.failed),
        results=records,
        created_at=iso(operation.created_at),
        finished_at=iso_or_none(operation.finished_at),
    )


def to_service_operation(operation: Operation) -> OperationStatusRecord:
    """The response for an operation on services or configuration."""
    done = [step for step in operation.steps if step.state != "running"]
    failed = sum(step.state == "failed" for step in done)
    return OperationStatusRecord(
        id=operation.id,
        kind=operation.kind,
        state=operation.state,
        dry_run=False,
        progress=ProgressRecord(len(done), len(operation.steps), failed),
        results=[],
        created_at=iso(operation.created_at),
        finished_at=iso_or_none(operation.finished_at),
    )


def to_backup_operation(operation: BackupOperation) -> OperationStatusRecord:
    """The response for an operation on backups; one that waits counts as running."""
    return OperationStatusRecord(
        id=operation.id,
        kind=f"backup.{operation.kind}",
        state="running" if operation.state == "waiting" else operation.state,
        dry_run=bool(operation.argument.get("dry_run", False)),
        progress=ProgressRecord(operation.done, operation.total, 0),
        results=[],
        created_at=iso(operation.created_at),
        finished_at=iso_or_none(operation.finished_at),
        phase=operation.phase,
        error=operation.error,
        result=None if operation.result is None else dict(operation.result),
    )
