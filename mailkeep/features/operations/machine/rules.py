"""What measurements of disk and clock mean."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations
from statistics import median
from typing import Any, Literal

from mailkeep.core.clock import iso
from mailkeep.features.operations.machine.model import (
    Assessment,
    ClockReading,
    DiskForecast,
    DiskMeasurement,
    DiskUsage,
)

HISTORY = timedelta(days=30)
"""Of the measurements that are shown."""
_GROWTH = timedelta(days=14)
_MIN_SPAN = timedelta(days=3)
_MAX_POINTS = 60  # the pairs of more would cost too much
_MAX_DAYS = 365
_WARN_DAYS = 7

_MIN_FREE, _ENOUGH_FREE_BYTES = 0.05, 20 << 30
_LITTLE_FREE_BYTES, _MIN_FREE_BYTES = 1 << 30, 64 << 20
_MIN_FREE_INODES = 0.02

_CLOCK_WARNING_SECONDS, _CLOCK_WRONG_SECONDS = 5.0, 60.0
_FILE_TOLERANCE = timedelta(minutes=5)
_SET_CLOCK = "Set the clock, and let a time service keep it right (apt install systemd-timesyncd)."


def disk_status(free: int, total: int) -> Literal["ok", "degraded", "down"]:
    """Degraded with less than 5 % (of large disks 20 GiB) or 1 GiB of free space; down with less than 64 MiB: no mail
    can be accepted.
    """
    if free < _MIN_FREE_BYTES:
        return "down"
    return "degraded" if free < max(_LITTLE_FREE_BYTES, min(total * _MIN_FREE, _ENOUGH_FREE_BYTES)) else "ok"


def judge_disk(usage: DiskUsage, forecast: DiskForecast, history: Sequence[DiskMeasurement] = ()) -> Assessment:
    """The disk: also degraded with less than 2 % of inodes, or if it will be full within a week."""
    status, advice = disk_status(usage.free_bytes, usage.total_bytes), None
    if status != "ok":
        advice = (
            f"Only {_size(usage.free_bytes)} are free. Free up disk space: with a full disk no mail is accepted, and "
            "deliveries are deferred."
        )
    elif usage.total_inodes and usage.free_inodes < usage.total_inodes * _MIN_FREE_INODES:
        status = "degraded"
        advice = f"Only {usage.free_inodes} inodes are free: remove small files, or use a file system with more inodes."
    elif forecast.days_until_full is not None and forecast.days_until_full <= _WARN_DAYS:
        status = "degraded"
        growth = _size(forecast.bytes_per_day or 0)
        advice = (
            f"The disk will be full in {_days(forecast.days_until_full)}: it grows by {growth} a day. Free up disk "
            "space, or use a larger disk."
        )
    elif forecast.days_until_no_inodes is not None and forecast.days_until_no_inodes <= _WARN_DAYS:
        status = "degraded"
        advice = (
            f"All inodes will be in use in {_days(forecast.days_until_no_inodes)}: remove small files, or use a file "
            "system with more inodes."
        )
    details: dict[str, Any] = {
        "free_bytes": usage.free_bytes,
        "total_bytes": usage.total_bytes,
        "free_inodes": usage.free_inodes,
        "total_inodes": usage.total_inodes,
        "bytes_per_day": _round(forecast.bytes_per_day, 0),
        "days_until_full": _round(forecast.days_until_full, 1),
        "days_until_no_inodes": _round(forecast.days_until_no_inodes, 1),
        "history": [
            {"day": each.hour.date().isoformat(), "used_bytes": each.used_bytes, "total_bytes": each.total_bytes}
            for each in last_of_days(history)
        ],
    }
    return Assessment(status, advice, details)


def forecast_disk(measurements: Sequence[DiskMeasurement], usage: DiskUsage, at: datetime) -> DiskForecast:
    """The growth of the last 14 days, continued from the use of now. `measurements` are ordered by time."""
    recent = [each for each in measurements if at - _GROWTH <= each.hour <= at]
    if not recent or recent[-1].hour - recent[0].hour < _MIN_SPAN:
        return DiskForecast()
    step = -(-len(recent) // _MAX_POINTS)
    points = recent[::-1][::step]
    bytes_per_day = _slope([(each.hour, each.used_bytes) for each in points])
    inodes_per_day = _slope([(each.hour, each.used_inodes) for each in points]) if usage.total_inodes else 0.0
    return DiskForecast(
        bytes_per_day, _days_left(usage.free_bytes, bytes_per_day), _days_left(usage.free_inodes, inodes_per_day)
    )


def _slope(points: Sequence[tuple[datetime, int]]) -> float:
    """The median of the slopes between all pairs, per day."""
    day = timedelta(days=1)
    return median((b - a) / ((then - since) / day) for (since, a), (then, b) in combinations(points, 2))


def _days_left(free: int, per_day: float) -> float | None:
    days = free / per_day if per_day > 0 else _MAX_DAYS + 1
    return days if days <= _MAX_DAYS else None


def last_of_days(measurements: Sequence[DiskMeasurement]) -> list[DiskMeasurement]:
    """The last measurement of each day (UTC)."""
    return list({each.hour.date(): each for each in measurements}.values())


def judge_clock(reading: ClockReading) -> Assessment:
    """The clock: degraded if it is off by 5 seconds, down by 60, or if files are newer than its time and nothing says
    that it is right.
    """
    offsets = {"the database's": reading.database_offset, f"that of {reading.ntp_server}": reading.ntp_offset}
    known = {name: offset for name, offset in offsets.items() if offset is not None}
    details = {
        "at": iso(reading.at),
        "synchronized": reading.kernel.synchronized if reading.kernel else None,
        "database_offset_seconds": _round(reading.database_offset, 3),
        "ntp_server": reading.ntp_server or None,
        "ntp_offset_seconds": _round(reading.ntp_offset, 3),
        "ntp_problem": reading.ntp_problem,
    }
    name, offset = max(known.items(), key=lambda each: abs(each[1]), default=("", 0.0))
    is_right = reading.ntp_offset is not None or (reading.kernel is not None and reading.kernel.synchronized)
    if abs(offset) >= _CLOCK_WARNING_SECONDS:
        direction = "ahead of" if offset > 0 else "behind"
        advice = (
            f"The clock is {abs(offset):.0f} seconds {direction} {name}. {_SET_CLOCK} Sessions, signatures and "
            "one-time codes need the right time."
        )
        return Assessment("down" if abs(offset) >= _CLOCK_WRONG_SECONDS else "degraded", advice, details)
    if reading.newest_file and reading.newest_file > reading.at + _FILE_TOLERANCE and not is_right:
        written = iso(reading.newest_file)
        advice = f"The clock says {iso(reading.at)}, but files were written at {written}. {_SET_CLOCK}"
        return Assessment("down", advice, details)
    if reading.ntp_problem:
        advice = f"The clock could not be compared with {reading.ntp_server}: {reading.ntp_problem}"
        return Assessment("degraded", advice, details)
    if reading.kernel and not reading.kernel.synchronized and reading.ntp_offset is None:
        advice = (
            "The kernel knows of no time service that sets the clock (apt install systemd-timesyncd). "
            "server.ntp_server compares it with another clock."
        )
        return Assessment("ok", advice, details)
    return Assessment("ok", None, details)


def _size(count: float) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _days(count: float) -> str:
    return "a day" if count < 2 else f"{count:.0f} days"


def _round(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)
