"""Rate limits by source address, per process: the generic cell rate algorithm (GCRA) with one number per source.

An IPv6 address counts by its /64, which usually belongs to one host. At most 100,000 sources are stored; the least
recently used one is dropped.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from datetime import datetime

from mailkeep.core.network import source_of
from mailkeep.web.endpoint import Rate

_MAX_SOURCES = 100_000


class AddressLimit:
    """`per_second` requests per second and source, `burst` (at least 1) at once. 0 per second: no limit."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._rate = per_second
        self._burst = burst
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._since: datetime | None = None

    def take(self, address: str, now: datetime) -> tuple[bool, Rate | None]:
        """Count one request; returns whether it is allowed, and the RateLimit header values (None without a limit)."""
        if not self._rate:
            return True, None
        # Seconds since the first request: a float of seconds since 1970 has too few digits for fractions.
        self._since = self._since or now
        source, time = source_of(address), (now - self._since).total_seconds()
        # When all `burst` requests will be available to the source again; limited in case the clock was set back.
        full_at = min(max(self._full_at.pop(source, time), time), time + self._burst / self._rate)
        used = (full_at - time) * self._rate
        allowed = used + 1 <= self._burst + 1e-6
        if allowed:
            full_at += 1 / self._rate
            used += 1
        self._full_at[source] = full_at
        if len(self._full_at) > _MAX_SOURCES:
            self._full_at.popitem(last=False)
        wait = (used - self._burst + 1) / self._rate if not allowed else full_at - time
        return allowed, Rate(self._burst, max(0, int(self._burst - used)), max(1, math.ceil(wait)))
