"""Find and report problems of backups."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.clock import iso_or_none
from mailkeep.db.pool import Conn
from mailkeep.features.operations.backup_alerts import rules, store
from mailkeep.features.operations.backup_alerts.model import AlertKind, BackupHealth, BackupProblem, BackupSituation
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.recovery_key import service as recovery_keys
from mailkeep.features.operations.wal_archive import service as wal_archive
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import (
    Event,
    EventPayload,
    SystemBackupFailed,
    SystemBackupLate,
    SystemBackupUnverified,
)

_watched_since: dict[Path, datetime] = {}  # of each data directory: when this process first looked
_LASTING: tuple[AlertKind, ...] = ("late", "unverified")


async def read_health(app: App) -> BackupHealth:
    """The component `backups` of the health."""
    async with app.db.autocommit() as conn:
        state = await _read_state(conn, app)
    return rules.describe_health(state, app.clock())


async def report(app: App) -> None:
    """Emit the events of cases that were not reported yet."""
    at = app.clock()
    async with app.db.tx() as conn:
        await _report_failures(conn, app, at)
        state = await _read_state(conn, app)
        problems = {each.kind: each for each in rules.find_problems(state, at)}
        for kind in _LASTING:
            problem = problems.get(kind)
            if problem is None:
                await store.delete(conn, kind)
            elif await store.save(conn, kind, problem.subject, at):
                await _emit(conn, at, _to_payload(app, state, problem))


async def _report_failures(conn: Conn, app: App, at: datetime) -> None:
    reported = await store.find_subject(conn, "failed")
    for backup in await backups.list_failed(conn, UUID(reported) if reported else None):
        if await store.save(conn, "failed", str(backup.id), at):
            await _emit(
                conn, at, SystemBackupFailed(backup_id=str(backup.id), reason=backup.error or "See log/backup.log.")
            )


def _to_payload(app: App, state: BackupSituation, problem: BackupProblem) -> EventPayload:
    if problem.kind == "late":
        last = iso_or_none(state.last_backup_at)
        return SystemBackupLate(schedule=app.settings.backup.schedule, last_backup_at=last)
    backup_id = str(problem.backup_id) if problem.backup_id else None
    return SystemBackupUnverified(backup_id=backup_id, reason=problem.reason)


async def _emit(conn: Conn, at: datetime, payload: EventPayload) -> None:
    await events.emit(conn, at, Event(None, None, payload))


async def _read_state(conn: Conn, app: App) -> BackupSituation:
    settings, at = app.settings.backup, app.clock()
    times = await backups.read_times(conn, app, settings)
    verification = times.last_verified.verification if times.last_verified else None
    newest = times.last_attempt
    return BackupSituation(
        schedule=settings.schedule,
        verify_every=settings.verify_every,
        repository=settings.repository,
        last_backup_at=times.last_backup.created_at if times.last_backup else None,
        first_stored_at=times.first_stored_at,
        verified_at=verification.at if verification else None,
        verified_ok=verification.is_ok if verification else False,
        verified_id=times.last_verified.id if times.last_verified else None,
        verified_detail=verification.detail if verification else "",
        watched_since=_watched_since.setdefault(app.data_dir, at),
        last_failure=(newest.error or "") if newest and newest.state == "failed" else None,
        point_in_time=await wal_archive.read(conn, settings, at),
        has_recovery_key=await recovery_keys.find(conn, settings.repository) is not None,
    )
