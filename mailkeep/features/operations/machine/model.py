"""Measurements of the machine, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from mailkeep.core.kernel_clock import KernelClock


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """The use of a disk. `free_bytes` and `free_inodes` are for accounts without privileges; `total_inodes` is 0 if
    the file system has no fixed number.
    """

    used_bytes: int
    free_bytes: int
    total_bytes: int
    used_inodes: int
    free_inodes: int
    total_inodes: int


@dataclass(frozen=True, slots=True)
class DiskMeasurement:
    """The use of a disk at a time."""

    hour: datetime
    used_bytes: int
    total_bytes: int
    used_inodes: int
    total_inodes: int


@dataclass(frozen=True, slots=True)
class DiskForecast:
    """How the use grows, per day, and the days until bytes and inodes are used up (None: not within a year, or there
    are not enough measurements).
    """

    bytes_per_day: float | None = None
    days_until_full: float | None = None
    days_until_no_inodes: float | None = None


@dataclass(frozen=True, slots=True)
class ClockReading:
    """A clock, and what it is compared with. The offsets are the seconds that it is ahead; None: not compared.

    `ntp_problem`: why it could not be compared by NTP. `newest_file`: the newest time of a file of the data directory.
    """

    at: datetime
    kernel: KernelClock | None = None
    database_offset: float | None = None
    ntp_server: str = ""
    ntp_offset: float | None = None
    ntp_problem: str | None = None
    newest_file: datetime | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """The status of the disk or the clock, what to do, and the measured values."""

    status: Literal["ok", "degraded", "down"]
    advice: str | None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
