"""What is wrong with backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from mailkeep.features.operations.wal_archive.model import PointInTime

AlertKind = Literal["failed", "unverified", "late"]
Status = Literal["ok", "degraded", "disabled"]


@dataclass(frozen=True, slots=True)
class BackupSituation:
    """What the alerts depend on: settings and times. `first_stored_at`: when the oldest stored backup began;
    `watched_since`: since when backups could have been made, as far as this process knows.
    """

    schedule: str
    verify_every: str
    repository: str
    last_backup_at: datetime | None
    first_stored_at: datetime | None
    verified_at: datetime | None
    verified_ok: bool
    verified_id: UUID | None
    verified_detail: str
    watched_since: datetime
    last_failure: str | None = None
    has_recovery_key: bool = False
    point_in_time: PointInTime | None = None


@dataclass(frozen=True, slots=True)
class BackupProblem:
    """A case to report; `subject` tells it from the next one."""

    kind: AlertKind
    subject: str
    reason: str
    backup_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class BackupHealth:
    """The component `backups` of the health."""

    status: Status
    advice: str | None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
