"""Which problems backups have."""

from __future__ import annotations

from datetime import datetime

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.features.operations.backup_alerts.model import BackupHealth, BackupProblem, BackupSituation
from mailkeep.features.operations.backups.rules import is_overdue


def find_problems(state: BackupSituation, at: datetime) -> list[BackupProblem]:
    """Whether backups are late, and whether they are verified."""
    found: list[BackupProblem] = []
    if is_overdue(state.schedule, state.last_backup_at or state.watched_since, at):
        since = f"since {iso(state.last_backup_at)}" if state.last_backup_at else "yet"
        found.append(BackupProblem("late", "late", f"No backup has succeeded {since}."))
    if state.verified_at is not None and not state.verified_ok:
        subject = f"{state.verified_id} {iso(state.verified_at)}"
        found.append(BackupProblem("unverified", subject, state.verified_detail, state.verified_id))
    elif state.first_stored_at is not None:
        checked_at = max(state.verified_at or state.first_stored_at, state.first_stored_at)
        if is_overdue(state.verify_every, checked_at, at):
            since = f"since {iso(state.verified_at)}" if state.verified_at else "yet"
            found.append(BackupProblem("unverified", "overdue", f"No backup was verified {since}."))
    return found


def describe_health(state: BackupSituation, at: datetime) -> BackupHealth:
    """The component `backups`: degraded if there is a problem, or the newest backup has failed."""
    details = {
        "schedule": state.schedule,
        "last_backup_at": iso_or_none(state.last_backup_at),
        "last_verified_at": iso_or_none(state.verified_at),
        "recovery_key": state.has_recovery_key,
    }
    problems = [each.reason for each in find_problems(state, at)]
    if state.last_failure is not None:
        problems.append(f"The newest backup has failed: {state.last_failure}")
    if state.point_in_time:
        details["point_in_time_to"] = iso_or_none(state.point_in_time.end)
        problems += [state.point_in_time.problem] if state.point_in_time.problem else []
    if problems:
        return BackupHealth("degraded", f"{' '.join(problems)} docs/howto/backups.md.", details)
    if state.schedule == "off":
        advice = "Backups are off: set backup.schedule and backup.repository (docs/howto/backups.md)."
        return BackupHealth("disabled", advice, details)
    advice = None
    if state.last_backup_at is None:
        advice = "No backup has been made yet."
    elif not state.has_recovery_key:
        advice = (
            "Nobody can read the backups when this machine is lost: `mailkeep backup key create` makes a recovery key."
        )
    elif not state.repository or state.repository.startswith("/"):
        advice = "Backups are stored on this machine: set backup.repository to another one."
    return BackupHealth("ok", advice, details)
