"""UUIDv7 identifiers (RFC 9562 §5.7): time-ordered, so that IDs sort by creation and are partitioned by month."""

from __future__ import annotations

import os
import re
import threading
from datetime import UTC, datetime
from uuid import UUID

_CANONICAL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_lock = threading.Lock()
_last = 0
_LAST_MILLISECOND = 253_402_300_799_999


def uuid7(at: datetime) -> UUID:
    """A new ID for the instant `at`. IDs of one process increase strictly, also within a millisecond.

    The 12 bits of `rand_a` and the top bits of `rand_b` are a counter (RFC 9562 §6.2, method 1 with a random start);
    the low 48 bits are random.
    """
    global _last
    tick = (int(at.timestamp() * 1000) << 26) | (int.from_bytes(os.urandom(3), "big") & 0xFFFFF)
    with _lock:
        # If the clock stands still or steps back, count up from the last ID to keep the order.
        tick = tick if tick > _last else (_last + 1 if _last - tick < (10_000 << 26) else tick)
        _last = tick
    millis, counter = tick >> 26, tick & 0x3FFFFFF
    high = (millis << 16) | (0x7 << 12) | (counter >> 14)
    low = (0b10 << 62) | ((counter & 0x3FFF) << 48) | int.from_bytes(os.urandom(6), "big")
    return UUID(int=(high << 64) | low)


def uuid7_floor(at: datetime) -> UUID:
    """The smallest UUIDv7 of the instant `at` (at least 1970): the lower bound of a range of IDs."""
    return UUID(int=(max(0, int(at.timestamp() * 1000)) << 80) | (0x7 << 76) | (0b10 << 62))


def uuid7_time(value: UUID) -> datetime:
    """The instant in an ID, in milliseconds; at most the end of year 9999."""
    return datetime.fromtimestamp(min(value.int >> 80, _LAST_MILLISECOND) / 1000, UTC)


def parse_uuid(text: str) -> UUID | None:
    """Parse an ID in canonical lower-case form, else None. (`uuid.UUID` also accepts braces and `urn:`.)"""
    return UUID(text) if _CANONICAL.fullmatch(text) else None
