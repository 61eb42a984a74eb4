"""Measure and judge disk and clock."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import mailkeep
from mailkeep.app import App
from mailkeep.core import kernel_clock
from mailkeep.features.operations.machine import rules, store
from mailkeep.features.operations.machine.model import (
    Assessment,
    ClockReading,
    DiskForecast,
    DiskMeasurement,
    DiskUsage,
)
from mailkeep.net import ntp
from mailkeep.settings import parse_endpoint

_KEPT = timedelta(days=90)
_NTP_SECONDS, _NTP_EVERY_SECONDS = 1.0, 60.0
_compared: dict[str, tuple[float, float | None, str | None]] = {}  # by server: when, the offset, the problem


def measure_disk(folder: Path) -> DiskUsage:
    """The use of the disk of a folder. Blocks. OSError."""
    found = os.statvfs(folder)
    return DiskUsage(
        used_bytes=(found.f_blocks - found.f_bfree) * found.f_frsize,
        free_bytes=found.f_bavail * found.f_frsize,
        total_bytes=(found.f_blocks - found.f_bfree + found.f_bavail) * found.f_frsize,  # without what root reserves
        used_inodes=found.f_files - found.f_ffree,
        free_inodes=found.f_favail,
        total_inodes=found.f_files,
    )


def judge_disk(folder: Path) -> Assessment:
    """The disk of a folder as it is now, without a forecast. Blocks."""
    try:
        return rules.judge_disk(measure_disk(folder), DiskForecast())
    except OSError as error:
        return _unreadable(folder, error)


async def forecast_disk(app: App) -> Assessment:
    """The data directory's disk with the forecast of its stored measurements. UNAVAILABLE."""
    at = app.clock()
    try:
        usage = await asyncio.to_thread(measure_disk, app.data_dir)
    except OSError as error:
        return _unreadable(app.data_dir, error)
    async with app.db.autocommit() as conn:
        history = await store.list_since(conn, at - rules.HISTORY)
    return rules.judge_disk(usage, rules.forecast_disk(history, usage, at), history)


async def record_disk(app: App) -> None:
    """Store the measurement of this hour. UNAVAILABLE, OSError."""
    at = app.clock()
    measured = to_measurement(await asyncio.to_thread(measure_disk, app.data_dir), at)
    async with app.db.autocommit() as conn:
        await store.add(conn, measured, at - _KEPT)


def to_measurement(usage: DiskUsage, at: datetime) -> DiskMeasurement:
    """The measurement of the hour."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    return DiskMeasurement(hour, usage.used_bytes, usage.total_bytes, usage.used_inodes, usage.total_inodes)


def read_own_clock(folder: Path, at: datetime) -> ClockReading:
    """The clock, which says `at`, compared with the newest file of the program and of a folder. Blocks."""
    paths = [Path(mailkeep.__file__)]
    with suppress(OSError):
        paths += folder.iterdir()
    times: list[float] = []
    for path in paths:
        with suppress(OSError):  # it was removed meanwhile
            times.append(path.lstat().st_mtime)
    newest = datetime.fromtimestamp(max(times), UTC) if times else None
    return ClockReading(at, kernel_clock.read(), newest_file=newest)


async def judge_clock(app: App, *, asks_database: bool) -> Assessment:
    """The clock, compared with all that is known. UNAVAILABLE."""
    reading = await asyncio.to_thread(read_own_clock, app.data_dir, app.clock())
    if asks_database:
        async with app.db.autocommit() as conn:
            before = app.clock()
            there = await store.read_clock(conn)
            offset = (before + (app.clock() - before) / 2 - there).total_seconds()
        reading = replace(reading, at=before, database_offset=offset)
    return rules.judge_clock(await _compare(app, reading))


def judge_own_clock(folder: Path, at: datetime) -> Assessment:
    """The clock, compared with the files of a folder. Blocks."""
    return rules.judge_clock(read_own_clock(folder, at))


async def _compare(app: App, reading: ClockReading) -> ClockReading:
    """Add the offset to the NTP server, which is asked once a minute."""
    server = app.settings.server.ntp_server
    if not server:
        return reading
    asked_at, offset, problem = _compared.get(server, (-_NTP_EVERY_SECONDS, None, None))
    if server not in _compared or monotonic() - asked_at >= _NTP_EVERY_SECONDS:
        try:
            offset, problem = await ntp.find_offset(*parse_endpoint(server), app.clock, _NTP_SECONDS), None
        except ntp.NtpError as error:
            offset, problem = None, str(error)
        _compared[server] = monotonic(), offset, problem
    return replace(reading, ntp_server=server, ntp_offset=offset, ntp_problem=problem)


def _unreadable(folder: Path, error: OSError) -> Assessment:
    return Assessment("down", f"The data directory {folder} can't be read: {error.strerror}.")
