"""JSON of backups and of operations on them."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.operations.backups.model import Backup, BackupOperation, RestoreRequest
from mailkeep.web.fields import Body, OwnPassword, Timestamp


class BackupCounts(Struct, frozen=True):
    """How much a backup contains."""

    domains: int
    mailboxes: int
    messages: int


class BackupVerification(Struct, frozen=True):
    """The last verification: whether the backup is as it should be, and what was compared."""

    at: Timestamp
    ok: bool
    detail: str


class BackupOperationRecord(Struct, frozen=True):
    """An operation: GET /operations/{id} follows it. `phase`: what it does now; `done` of `total` bytes (or steps)."""

    id: UUID
    kind: Literal["create", "verify", "restore", "prune", "key"]
    state: Literal["waiting", "running", "succeeded", "failed", "cancelled"]
    backup_id: UUID | None
    phase: str
    done: int
    total: int
    cancel_requested: bool
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    error: str | None


class BackupRecord(Struct, frozen=True):
    """A backup. `trigger`: what it was made for. `size_bytes`: what it contains; `added_bytes`: what it added to the
    repository. `verified` is null if it was never verified. `version`: of the Mailkeep that made it. `operation`: what
    waits or runs with this backup.
    """

    id: UUID
    state: Literal["running", "succeeded", "failed", "cancelled"]
    trigger: Literal["manual", "schedule", "upgrade"]
    created_at: Timestamp
    finished_at: Timestamp | None
    size_bytes: int | None
    added_bytes: int | None
    counts: BackupCounts | None
    verified: BackupVerification | None
    error: str | None
    version: str
    operation: BackupOperationRecord | None


class BackupStart(Body, frozen=True):
    """No fields."""


class BackupRestore(Body, frozen=True):
    """What to restore. `scope`: `domain` with `domain_id`, `mailbox` with `mailbox_id`: the IDs in the backup.

    `into`: `folder`, a new folder `Restored DATE` in each mailbox; `in_place`, the folders that the messages were in,
    where only missing ones are added. `dry_run` only counts. `confirm` must be true without it.
    `current_password` is needed if the session is older than ten minutes.
    """

    scope: Literal["all", "domain", "mailbox"]
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    into: Literal["folder", "in_place"] = "folder"
    dry_run: bool = False
    confirm: bool = False
    current_password: OwnPassword | UnsetType = UNSET


class BackupRemoved(Struct, frozen=True):
    """The operation that removes a backup from the repository; null if the backup was not there."""

    message: str
    operation: BackupOperationRecord | None


def to_backup(backup: Backup, operation: BackupOperation | None) -> BackupRecord:
    """The response for a backup; `operation`: the one that waits or runs."""
    counts, verification = backup.counts, backup.verification
    is_ours = operation is not None and operation.backup_id == backup.id and operation.finished_at is None
    return BackupRecord(
        id=backup.id,
        state=backup.state,
        trigger=backup.trigger,
        created_at=iso(backup.created_at),
        finished_at=iso_or_none(backup.finished_at),
        size_bytes=backup.size_bytes,
        added_bytes=backup.added_bytes,
        counts=BackupCounts(counts.domains, counts.mailboxes, counts.messages) if counts else None,
        verified=BackupVerification(iso(verification.at), verification.is_ok, verification.detail)
        if verification
        else None,
        error=backup.error,
        version=backup.version,
        operation=to_operation(operation) if operation and is_ours else None,
    )


def to_operation(operation: BackupOperation) -> BackupOperationRecord:
    """The response for an operation."""
    return BackupOperationRecord(
        id=operation.id,
        kind=operation.kind,
        state=operation.state,
        backup_id=operation.backup_id,
        phase=operation.phase,
        done=operation.done,
        total=operation.total,
        cancel_requested=operation.is_cancel_requested,
        created_at=iso(operation.created_at),
        started_at=iso_or_none(operation.started_at),
        finished_at=iso_or_none(operation.finished_at),
        error=operation.error,
    )


def read_restore(body: BackupRestore) -> RestoreRequest:
    """The request of a body."""
    return RestoreRequest(
        body.scope, body.domain_id, body.mailbox_id, body.into, dry_run=body.dry_run, is_confirmed=body.confirm
    )
