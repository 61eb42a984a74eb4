"""A backup, and an operation on backups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from mailkeep.app import App
from mailkeep.backup.layout import Counts
from mailkeep.backup.stage import Report

BackupState = Literal["running", "succeeded", "failed", "cancelled"]
OperationKind = Literal["create", "verify", "restore", "prune", "key"]
OperationState = Literal["waiting", "running", "succeeded", "failed", "cancelled"]
Trigger = Literal["manual", "schedule", "upgrade"]
"""What a backup was made for."""
BACKUP_FOLDER = "backup"
"""The folder in the data directory with what backups need: password, index, caches, and the default repository."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The last verification of a backup: when, whether it is as it should be, and the text that says why."""

    at: datetime
    is_ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup. `snapshot` is restic's ID, empty until it is stored; `size_bytes` what it contains, `added_bytes` what
    it added to the repository. `version`: of the Mailkeep that made it.
    """

    id: UUID
    state: BackupState
    trigger: Trigger
    created_at: datetime
    finished_at: datetime | None = None
    snapshot: str = ""
    size_bytes: int | None = None
    added_bytes: int | None = None
    counts: Counts | None = None
    verification: Verification | None = None
    error: str | None = None
    version: str = ""

    @property
    def changed_at(self) -> datetime:
        """When it was last changed: made or verified."""
        verified_at = self.verification.at if self.verification else self.created_at
        return max(self.created_at, self.finished_at or self.created_at, verified_at)


@dataclass(frozen=True, slots=True)
class BackupOperation:
    """An operation. `phase` is what it does now, `done` of `total` its progress in bytes (or steps).

    `argument` is what the kind needs, `result` what it found. `backup_id`: the backup that it makes or uses.
    """

    id: UUID
    kind: OperationKind
    state: OperationState
    backup_id: UUID | None
    author_id: UUID | None
    author: str
    created_at: datetime
    argument: Mapping[str, Any] = field(default_factory=dict[str, Any])
    phase: str = ""
    done: int = 0
    total: int = 0
    is_cancel_requested: bool = False
    result: Mapping[str, Any] | None = None
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


RestoreScope = Literal["all", "domain", "mailbox"]
RestoreTarget = Literal["folder", "in_place"]


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """What to restore from a backup: a domain or a mailbox by its ID. `into`: a folder `Restored DATE`, or the folders
    that the messages were in, where only missing ones are added.
    """

    scope: RestoreScope
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    into: RestoreTarget = "folder"
    dry_run: bool = False
    is_confirmed: bool = False


class Cancelled(Exception):
    """The operation is to end because somebody cancelled it."""


Handler = Callable[[App, BackupOperation, Report], Awaitable[Mapping[str, Any]]]
"""Performs an operation and returns its result. `report` (phase, done, total) raises Cancelled. The message of a
Failure becomes the operation's error.
"""
