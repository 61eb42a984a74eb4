"""The forecast of the disk, and what is said about disk and clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.kernel_clock import KernelClock
from mailkeep.features.operations.machine import rules, service, store
from mailkeep.features.operations.machine.model import ClockReading, DiskForecast, DiskMeasurement, DiskUsage
from mailkeep.net import ntp
from mailkeep.settings import parse_endpoint
from tests.support.client import Api
from tests.support.ntp import ntp_server

NOW = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)
GIB = 1 << 30
ROOMY = DiskUsage(50 * GIB, 50 * GIB, 100 * GIB, 1000, 9000, 10_000)


@pytest.mark.parametrize(
    "free, total, status",
    [
        (50 * GIB, 100 * GIB, "ok"),
        (4 * GIB, 100 * GIB, "degraded"),
        (100 * GIB, 10_000 * GIB, "ok"),
        (GIB - 1, 2 * GIB, "degraded"),
        (10 << 20, 100 << 20, "down"),
        (0, 0, "down"),
    ],
)
def test_the_status_of_a_disk_that_fills_up(free: int, total: int, status: str):
    found = rules.judge_disk(replace(ROOMY, free_bytes=free, total_bytes=total), DiskForecast())
    assert (found.status, found.advice is None) == (status, status == "ok")


def test_too_few_inodes():
    few = rules.judge_disk(replace(ROOMY, free_inodes=10), DiskForecast())
    assert few.status == "degraded"
    assert "Only 10 inodes" in (few.advice or "")
    without_limit = replace(ROOMY, free_inodes=0, total_inodes=0)
    assert rules.judge_disk(without_limit, DiskForecast()).status == "ok"


def measure(days: float, use: Callable[[float], float]) -> list[DiskMeasurement]:
    """A measurement per hour of the last days; `use`: the GiB in use by the days since the first."""
    hours = int(days * 24)
    return [
        DiskMeasurement(NOW - timedelta(hours=hours - each), int(use(each / 24) * GIB), 100 * GIB, each, 10_000)
        for each in range(hours + 1)
    ]


@pytest.mark.parametrize(
    "days, use, per_day, until_full",
    [
        (14, lambda day: 10 + 2 * day, 2, 25),
        (30, lambda day: 10 + (0 if day < 16 else 5 * (day - 16)), 5, 10),  # only the last 14 days count
        (14, lambda day: 10 + 2 * day + (30 if 0 < day % 1 <= 0.1 else 0), 2, 25),  # a backup each night
        (14, lambda day: 10 + 2 * day - (20 if day > 13 else 0), 2, 25),  # somebody has freed space
        (14, lambda day: 90 - day, -1, None),
        (14, lambda _: 10, 0, None),
        (14, lambda day: 10 + 0.05 * day, 0.05, None),  # in years
        (2, lambda day: 10 + 2 * day, None, None),  # too short
    ],
)
def test_the_forecast(days: float, use: Callable[[float], float], per_day: float | None, until_full: float | None):
    found = rules.forecast_disk(measure(days, use), ROOMY, NOW)
    if per_day is None:
        assert found == DiskForecast()
        return
    assert found.bytes_per_day == pytest.approx(per_day * GIB, rel=0.1, abs=GIB / 1000)
    assert found.days_until_full == (until_full and pytest.approx(until_full, rel=0.1))
    assert found.days_until_no_inodes == pytest.approx(9000 / 24, rel=0.01) or found.days_until_no_inodes is None


def test_without_measurements_there_is_no_forecast():
    assert rules.forecast_disk([], ROOMY, NOW) == DiskForecast()


def test_a_disk_that_will_be_full_within_a_week():
    soon = rules.judge_disk(ROOMY, DiskForecast(8.0 * GIB, 6.25, None))
    assert soon.status == "degraded"
    assert (soon.advice or "").startswith("The disk will be full in 6 days: it grows by 8.0 GiB a day.")
    assert rules.judge_disk(ROOMY, DiskForecast(1.0 * GIB, 50, None)).status == "ok"
    inodes = rules.judge_disk(ROOMY, DiskForecast(0, None, 1.5))
    assert "All inodes will be in use in a day" in (inodes.advice or "")


async def test_one_measurement_per_hour_is_kept_for_90_days(api: Api, monkeypatch: pytest.MonkeyPatch):
    for at in (NOW - timedelta(days=91), NOW - timedelta(days=89), NOW, NOW + timedelta(minutes=20)):
        monkeypatch.setattr(api.app, "clock", lambda at=at: at)
        await service.record_disk(api.app)
    async with api.app.db.autocommit() as conn:
        found = await store.list_since(conn, NOW - timedelta(days=100))
    assert [each.hour for each in found] == [
        NOW - timedelta(days=89, minutes=30),
        NOW - timedelta(minutes=30),
    ]
    shown = await service.forecast_disk(api.app)
    assert [each["day"] for each in shown.details["history"]] == ["2026-11-23"]


@pytest.mark.parametrize(
    "reading, status, advice",
    [
        (ClockReading(NOW), "ok", None),
        (ClockReading(NOW, KernelClock(True, 0.1), 0.2), "ok", None),
        (ClockReading(NOW, KernelClock(False, 16)), "ok", "no time service"),
        (ClockReading(NOW, KernelClock(False, 16), ntp_server="a:123", ntp_offset=0.1), "ok", None),
        (ClockReading(NOW, None, 0.1, "a:123", -5.2), "degraded", "5 seconds behind that of a:123"),
        (ClockReading(NOW, None, 61.0, "a:123", 5.0), "down", "61 seconds ahead of the database's"),
        (ClockReading(NOW, None, 0.1, "a:123", None, "It does not answer."), "degraded", "It does not answer."),
        (ClockReading(NOW, newest_file=NOW + timedelta(minutes=4)), "ok", None),
        (ClockReading(NOW, newest_file=NOW + timedelta(minutes=6)), "down", "files were written at 2026-11-23T12:36"),
        (ClockReading(NOW, KernelClock(True, 0.1), newest_file=NOW + timedelta(days=1)), "ok", None),
    ],
)
def test_what_is_said_about_the_clock(reading: ClockReading, status: str, advice: str | None):
    found = rules.judge_clock(reading)
    assert found.status == status
    assert (found.advice is None) if advice is None else (advice in (found.advice or ""))


async def test_an_ntp_server_is_asked_and_its_refusals_are_explained():
    async with ntp_server(ahead=-3.5) as server:
        assert await ntp.find_offset(*parse_endpoint(server), utc_now, 5) == pytest.approx(3.5, abs=0.5)
    async with ntp_server(stratum=0) as server:
        with pytest.raises(ntp.NtpError, match="not synchronized"):
            await ntp.find_offset(*parse_endpoint(server), utc_now, 5)
    with pytest.raises(ntp.NtpError, match=r"refused|does not answer"):
        await ntp.find_offset(*parse_endpoint(server), utc_now, 1)


async def test_the_time_of_an_ntp_server_after_2036():
    def clock() -> datetime:
        return utc_now() + timedelta(days=365 * 12)

    async with ntp_server(ahead=365 * 12 * 86_400) as server:
        assert await ntp.find_offset(*parse_endpoint(server), clock, 5) == pytest.approx(0, abs=0.5)
