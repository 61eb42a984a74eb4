"""Which backups are kept, and when the next ones are due."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mailkeep.backup.restic import Retention
from mailkeep.core.ids import uuid7
from mailkeep.features.operations.backups import policy
from mailkeep.features.operations.backups.model import Backup, BackupState, Verification

NOW = datetime(2026, 11, 26, 12, 30, tzinfo=UTC)


def backup(at: datetime, state: BackupState = "succeeded", *, is_ok: bool | None = None) -> Backup:
    verification = None if is_ok is None else Verification(at, is_ok, "")
    return Backup(uuid7(at), state, "schedule", at, at, "a" * 64, verification=verification)


def test_the_newest_of_each_period_is_kept():
    hourly = [backup(NOW - timedelta(hours=each)) for each in range(24 * 100)]
    removed = set(policy.select_removed(hourly, Retention(24, 7, 5, 12), NOW))
    kept = [each.created_at for each in hourly if each.id not in removed]
    assert kept[:24] == [NOW - timedelta(hours=each) for each in range(24)]
    # 7 days, the first of them within the 24 hours; 5 weeks, 12 months, as far as there are backups.
    days = {at.date() for at in kept}
    assert {(NOW - timedelta(days=each)).date() for each in range(7)} <= days
    assert len({at.isocalendar()[:2] for at in kept}) >= 5
    assert {(at.year, at.month) for at in kept} == {(at.created_at.year, at.created_at.month) for at in hourly}
    assert len(kept) < 24 + 7 + 5 + 4


def test_the_newest_and_the_newest_verified_are_always_kept():
    old, bad, newest = (
        backup(NOW - timedelta(days=400), is_ok=True),
        backup(NOW - timedelta(days=300), is_ok=False),
        backup(NOW - timedelta(days=200)),
    )
    failed = backup(NOW, "failed")
    assert policy.select_removed([old, bad, newest, failed], Retention(0, 1, 0, 0), NOW) == [bad.id]
    assert policy.select_removed([old, bad, newest], Retention(0, 0, 0, 0), NOW) == []


def test_what_the_schedule_did_not_make_is_kept_for_a_day():
    made = [replace(backup(NOW - timedelta(minutes=each)), trigger="manual") for each in range(3)]
    assert policy.select_removed(made, Retention(1, 0, 0, 0), NOW) == []
    later = NOW + timedelta(days=1, minutes=5)
    assert policy.select_removed(made, Retention(1, 0, 0, 0), later) == [made[1].id, made[2].id]


@pytest.mark.parametrize(
    "schedule, success, last, due",
    [
        ("off", None, None, False),
        ("daily", None, None, True),
        ("daily", NOW.replace(hour=1), NOW.replace(hour=1), True),  # before the slot at 02:30
        ("daily", NOW.replace(hour=3), NOW.replace(hour=3), False),
        ("hourly", NOW.replace(hour=11, minute=59), NOW.replace(hour=11, minute=59), True),
        ("hourly", NOW.replace(minute=5), NOW.replace(minute=5), False),
    ],
)
def test_a_missed_time_is_made_up_once(schedule: str, success: datetime | None, last: datetime | None, due: bool):
    attempt = backup(last) if last else None
    assert policy.is_backup_due(schedule, "02:30", success, attempt, NOW) is due


def test_a_failed_backup_is_tried_again_later_and_a_cancelled_one_is_not():
    slot, yesterday = NOW.replace(hour=3), NOW - timedelta(days=1)
    assert policy.is_backup_due("daily", "02:30", yesterday, backup(slot, "failed"), NOW)
    assert not policy.is_backup_due("daily", "02:30", yesterday, backup(NOW, "failed"), NOW)
    assert not policy.is_backup_due("daily", "02:30", yesterday, backup(slot, "cancelled"), NOW)
    assert not policy.is_backup_due("daily", "02:30", yesterday, backup(slot, "running"), NOW)


def test_the_next_times():
    assert policy.next_backup_at("off", "02:30", NOW) is None
    assert policy.next_backup_at("hourly", "02:30", NOW) == NOW.replace(hour=13, minute=0)
    assert policy.next_backup_at("daily", "12:31", NOW) == NOW.replace(minute=31)
    assert policy.next_backup_at("daily", "02:30", NOW) == NOW.replace(hour=2) + timedelta(days=1)
    assert policy.next_verification_at("off", "02:30", None, NOW) is None
    assert policy.next_verification_at("weekly", "02:30", None, None) is None
    assert policy.next_verification_at("weekly", "02:30", None, NOW) == NOW.replace(hour=2) + timedelta(days=1)
    last = NOW.replace(hour=3, minute=7)
    assert policy.next_verification_at("weekly", "02:30", last, None) == NOW.replace(hour=2) + timedelta(days=7)
