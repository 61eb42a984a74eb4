"""Time: the one source of now() for the whole product, replaceable in tests, and its form on the wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present instant, with time zone UTC."""
    return datetime.now(UTC)


def iso(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: 2026-11-21T12:00:00.000Z."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def iso_or_none(at: datetime | None) -> str | None:
    """`iso`, for a time that may be absent."""
    return iso(at) if at else None
