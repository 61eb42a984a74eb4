"""UUIDv7 identifiers (RFC 9562 §5.7): time-ordered, so that ids sort by creation and partition by month."""

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
    """A new id for the instant `at`; ids made by one process rise strictly, also within a millisecond.

    The 12 bits of `rand_a` and the top bits of `rand_b` count (RFC 9562 §6.2, method 1 with a random start);
    the low 48 bits are random.
    """
    global _last
    tick = (int(at.timestamp() * 1000) << 26) | (int.from_bytes(os.urandom(3), "big") & 0xFFFFF)
    with _lock:
        # A clock that stands or steps back must not reorder ids: count on from the last one.
        tick = tick if tick > _last else (_last + 1 if _last - tick < (10_000 << 26) else tick)
        _last = tick
    millis, counter = tick >> 26, tick & 0x3FFFFFF
    high = (millis << 16) | (0x7 << 12) | (counter >> 14)
    low = (0b10 << 62) | ((counter & 0x3FFF) << 48) | int.from_bytes(os.urandom(6), "big")
    return UUID(int=(high << 64) | low)


def uuid7_floor(at: datetime) -> UUID:
    """The smallest UUIDv7 of the instant `at` (of 1970, where it lies before): the bound of a range of ids."""
    return UUID(int=(max(0, int(at.timestamp() * 1000)) << 80) | (0x7 << 76) | (0b10 << 62))


def uuid7_time(value: UUID) -> datetime:
    """The instant that an id carries, to the millisecond; the last of year 9999 for a foreign id that goes beyond."""
    return datetime.fromtimestamp(min(value.int >> 80, _LAST_MILLISECOND) / 1000, UTC)


def parse_uuid(text: str) -> UUID | None:
    """An id in canonical lower-case form, else None (`uuid.UUID` also takes braces, `urn:` and full-width digits)."""
    return UUID(text) if _CANONICAL.fullmatch(text) else None
