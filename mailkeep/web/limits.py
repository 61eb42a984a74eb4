"""Limits by source address, in the process: a bucket that refills evenly (GCRA), one number an address.

The proxy holds the same limits in front; these hold without one. An IPv6 source counts by its /64, which one
host commonly has to itself. At most 100,000 sources are remembered; the longest unseen go first.
"""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict
from datetime import datetime
from functools import lru_cache

from mailkeep.web.endpoint import Rate

_REMEMBERED = 100_000


class AddressLimit:
    """`per_second` requests a second for each source, `burst` (at least 1) at once; 0 a second: no limit."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._rate = per_second
        self._burst = burst
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._since: datetime | None = None

    def take(self, address: str, now: datetime) -> tuple[bool, Rate | None]:
        """Counts one request: whether it may go on, and what the RateLimit headers say (None when off)."""
        if not self._rate:
            return True, None
        # Since the first call: of all the seconds since 1970 a float keeps too few digits to add up fractions.
        self._since = self._since or now
        source, at = source_of(address), (now - self._since).total_seconds()
        # The instant at which the source's bucket will be full again; further off only where the clock was set back.
        full_at = min(max(self._full_at.pop(source, at), at), at + self._burst / self._rate)
        taken = (full_at - at) * self._rate
        allowed = taken + 1 <= self._burst + 1e-6
        if allowed:
            full_at += 1 / self._rate
            taken += 1
        self._full_at[source] = full_at
        if len(self._full_at) > _REMEMBERED:
            self._full_at.popitem(last=False)
        wait = (taken - self._burst + 1) / self._rate if not allowed else full_at - at
        return allowed, Rate(self._burst, max(0, int(self._burst - taken)), max(1, math.ceil(wait)))


@lru_cache(maxsize=4096)
def source_of(address: str) -> str:
    """The source that an address counts for: itself, or its /64."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped) if ip.ipv4_mapped else str(ipaddress.ip_network((int(ip) >> 64 << 64, 64)))
    return address
