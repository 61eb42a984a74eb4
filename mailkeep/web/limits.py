"""Rate limits by source address: the generic cell rate algorithm (GCRA) with one number per source, which all processes
of the API share.

An IPv6 address counts by its /64, which usually belongs to one host. About 100,000 sources are stored; of several that
compete for a place, the one whose requests are available again soonest is dropped.
"""

from __future__ import annotations

import math
from datetime import datetime

from mailkeep.core.network import source_of
from mailkeep.core.shared_memory import SharedMemory, key_of
from mailkeep.web.endpoint import Rate

_ROUNDING = 1e-3  # of a request


class AddressLimit:
    """`per_second` requests per second and source, `burst` (at least 1) at once. 0 per second: no limit."""

    def __init__(self, per_second: float, burst: int, memory: SharedMemory | None = None, name: str = "") -> None:
        self._rate = per_second
        self._burst = burst
        self._memory = memory or SharedMemory()
        self._name = name

    def take(self, address: str, now: datetime) -> tuple[bool, Rate | None]:
        """Count one request; returns whether it is allowed, and the RateLimit header values (None without a limit)."""
        if not self._rate:
            return True, None
        time = (now - self._memory.since).total_seconds()  # since 1970 a float has too few digits for fractions
        key = key_of(f"rate {self._name} {source_of(address)}")
        with self._memory:
            index = self._memory.find_time(key)
            # When all `burst` requests will be available to the source again; limited in case the clock was set back.
            full_at = min(max(self._memory.times[index], time), time + self._burst / self._rate)
            used = (full_at - time) * self._rate
            allowed = used + 1 <= self._burst + _ROUNDING
            if allowed:
                full_at += 1 / self._rate
                used += 1
            self._memory.times[index] = full_at
        wait = (used - self._burst + 1) / self._rate if not allowed else full_at - time
        return allowed, Rate(self._burst, max(0, int(self._burst - used)), max(1, math.ceil(wait)))
