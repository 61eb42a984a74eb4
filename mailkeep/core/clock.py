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
    text = at.isoformat(timespec="milliseconds")  # a fifth of the time of strftime, and a list has a hundred of them
    if text[-6:] != "+00:00":
        text = at.astimezone(UTC).isoformat(timespec="milliseconds")
    return text[:-6] + "Z"


def iso_or_none(at: datetime | None) -> str | None:
    """`iso`, for a time that may be absent."""
    return iso(at) if at else None
