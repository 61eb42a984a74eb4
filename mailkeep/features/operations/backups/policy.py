"""Which backups are kept, and when the next one and the next verification are due. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.backup.restic import Retention
from mailkeep.features.operations.backups.model import Backup

RETRY_AFTER = timedelta(minutes=15)
"""How long after a failed scheduled backup it is tried again."""
_OWN_KEPT = timedelta(days=1)
_INTERVALS = {"daily": timedelta(days=1), "weekly": timedelta(days=7), "monthly": timedelta(days=30)}


def select_removed(backups: Sequence[Backup], retention: Retention, at: datetime) -> list[UUID]:
    """The backups with a snapshot that the retention no longer keeps. Of each of the newest `n` hours (days, weeks,
    months) that have backups, the newest one is kept; and in any case the newest that succeeded, the newest that was
    verified, and for a day those that the schedule did not make.
    """
    if retention.keeps_all:
        return []
    stored = sorted((each for each in backups if each.state == "succeeded" and each.snapshot), key=_age, reverse=True)
    kept = {each.id for each in stored[:1]}
    kept |= {each.id for each in [each for each in stored if each.verification and each.verification.is_ok][:1]}
    kept |= {each.id for each in stored if each.trigger != "schedule" and each.created_at > at - _OWN_KEPT}
    for count, period in (
        (retention.hourly, _hour),
        (retention.daily, _day),
        (retention.weekly, _week),
        (retention.monthly, _month),
    ):
        newest: dict[object, UUID] = {}
        for each in stored:
            if period(each.created_at) not in newest and len(newest) < count:
                newest[period(each.created_at)] = each.id
        kept |= set(newest.values())
    return [each.id for each in stored if each.id not in kept]


def slot_before(schedule: str, start_time: str, at: datetime) -> datetime:
    """The last time at or before `at` when a backup was due: the full hour, or the time of day (UTC)."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    if schedule == "hourly":
        return hour
    hours, _, minutes = start_time.partition(":")
    slot = hour.replace(hour=int(hours), minute=int(minutes))
    return slot if slot <= at else slot - timedelta(days=1)


def next_backup_at(schedule: str, start_time: str, at: datetime) -> datetime | None:
    """When the next scheduled backup is due; None if there is no schedule."""
    if schedule == "off":
        return None
    return slot_before(schedule, start_time, at) + timedelta(hours=1 if schedule == "hourly" else 24)


def is_backup_due(
    schedule: str, start_time: str, last_success: datetime | None, last: Backup | None, at: datetime
) -> bool:
    """Whether a scheduled backup is due: none has succeeded since the last slot (`last_success` is its start), and the
    last attempt since then, if there was one, failed a while ago. A cancelled one counts as made.
    """
    if schedule == "off":
        return False
    slot = slot_before(schedule, start_time, at)
    if last_success is not None and last_success >= slot:
        return False
    if last is None or last.created_at < slot:
        return True
    ended_at = last.finished_at or at
    return last.state == "failed" and at - ended_at >= RETRY_AFTER


def next_verification_at(
    every: str, start_time: str, last: datetime | None, first_backup: datetime | None
) -> datetime | None:
    """When the next scheduled verification is due, which may be in the past; None if there is none. The first one is at
    the time of day after the first backup, not while an administrator waits for the next operation.
    """
    if every == "off":
        return None
    if last is None:
        return slot_before("daily", start_time, first_backup) + timedelta(days=1) if first_backup else None
    # At the time of day, not half a day later each week because the last one took long.
    return slot_before("daily", start_time, last + _INTERVALS[every] + timedelta(hours=12))


def _age(backup: Backup) -> tuple[datetime, UUID]:
    return backup.created_at, backup.id


def _hour(at: datetime) -> object:
    return at.date(), at.hour


def _day(at: datetime) -> object:
    return at.date()


def _week(at: datetime) -> object:
    return at.isocalendar()[:2]


def _month(at: datetime) -> object:
    return at.year, at.month
