"""JSON of the policy of backups."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.operations.backup_policy.service import BackupPolicy
from mailkeep.features.operations.backups import service as backups
from mailkeep.web.fields import MAY_BE_EMPTY, OwnPassword, Patch, Timestamp

_Count = Annotated[int, Meta(ge=0, le=10_000)]
_Location = Annotated[str, Meta(max_length=1000, extra=MAY_BE_EMPTY)]
_TimeOfDay = Annotated[str, Meta(max_length=5)]


class BackupRetention(Struct, frozen=True):
    """For how many hours, days, weeks and months the newest backup of each is kept. All 0: every backup is kept."""

    hourly: int
    daily: int
    weekly: int
    monthly: int


class BackupRetentionPatch(Patch, frozen=True):
    """Numbers to change; null: the default."""

    hourly: _Count | UnsetType | None = UNSET
    daily: _Count | UnsetType | None = UNSET
    weekly: _Count | UnsetType | None = UNSET
    monthly: _Count | UnsetType | None = UNSET


class RecoveryKeyRecord(Struct, frozen=True):
    """The recovery key of the repository; the key itself is not stored. `verified_at`: when `mailkeep backup key
    verify` last showed that somebody has it.
    """

    created_at: Timestamp
    verified_at: Timestamp | None


class BackupPolicyRecord(Struct, frozen=True):
    """The policy. `repository`: where backups are stored; empty: in the data directory. `start_time` is in UTC.
    `append_only`: the repository accepts no deletions, so that `retention` does not apply. `next_backup_at` and
    `next_verification_at` are null if none is planned; `last_backup_at` is when the newest one that succeeded began,
    `last_verified_at` when one was last verified. `operation`: what waits or runs, on whatever backup.
    """

    schedule: Literal["off", "hourly", "daily"]
    start_time: str
    retention: BackupRetention
    repository: str
    verify_every: Literal["off", "daily", "weekly", "monthly"]
    append_only: bool
    last_backup_at: Timestamp | None
    last_verified_at: Timestamp | None
    next_backup_at: Timestamp | None
    next_verification_at: Timestamp | None
    recovery_key: RecoveryKeyRecord | None
    operation: backups.OperationRecord | None


class BackupPolicyPatch(Patch, frozen=True):
    """Fields to change; null: the default. `current_password` is needed if the session is older than ten minutes."""

    schedule: Literal["off", "hourly", "daily"] | UnsetType | None = UNSET
    start_time: _TimeOfDay | UnsetType | None = UNSET
    retention: BackupRetentionPatch | UnsetType = UNSET
    repository: _Location | UnsetType | None = UNSET
    verify_every: Literal["off", "daily", "weekly", "monthly"] | UnsetType | None = UNSET
    append_only: bool | UnsetType | None = UNSET
    current_password: OwnPassword | UnsetType = UNSET


def to_policy(policy: BackupPolicy) -> BackupPolicyRecord:
    """The response for the policy."""
    settings, times, key = policy.settings, policy.times, policy.recovery_key
    verification = times.last_verified.verification if times.last_verified else None
    return BackupPolicyRecord(
        schedule=settings.schedule,
        start_time=settings.start_time,
        retention=BackupRetention(
            settings.keep_hourly, settings.keep_daily, settings.keep_weekly, settings.keep_monthly
        ),
        repository=settings.repository,
        verify_every=settings.verify_every,
        append_only=settings.append_only,
        last_backup_at=iso_or_none(times.last_backup.created_at if times.last_backup else None),
        last_verified_at=iso_or_none(verification.at if verification else None),
        next_backup_at=iso_or_none(times.next_backup_at),
        next_verification_at=iso_or_none(times.next_verification_at),
        recovery_key=RecoveryKeyRecord(iso(key.created_at), iso_or_none(key.verified_at)) if key else None,
        operation=backups.to_record(policy.operation) if policy.operation else None,
    )


def read_changes(body: BackupPolicyPatch) -> dict[str, Any]:
    """The fields that a body changes, those of `retention` with its name."""
    fields = {
        name: getattr(body, name) for name in ("schedule", "start_time", "repository", "verify_every", "append_only")
    }
    if body.retention is not UNSET:
        periods = ("hourly", "daily", "weekly", "monthly")
        fields |= {f"retention.{period}": getattr(body.retention, period) for period in periods}
    return {name: value for name, value in fields.items() if value is not UNSET}
