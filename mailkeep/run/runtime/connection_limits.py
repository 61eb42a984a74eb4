"""Limits of an HTTP listener for its clients, and the number of their connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mailkeep.core.network import is_within, source_of


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits for clients; times in seconds. `per_address` does not apply to the networks (CIDR) in `trusted`."""

    connections: int = 256
    per_address: int = 256
    trusted: Sequence[str] = ()
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    unread_bytes: int = 160 << 20
    read_seconds: float = 30.0
    slowest_bytes_per_second: int = 32_768


class ConnectionLimiter:
    """Counts the connections of a listener, in total and by source. `is_stopping`: each has its last request."""

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self.is_stopping = False
        self.count = 0
        self._sources: Counter[str] = Counter()

    def acquire(self, address: str) -> bool:
        """Count a new connection if it is within the limits; whether it is. If so, call `release` when it closes."""
        source = source_of(address)
        is_full = self._sources[source] >= self.limits.per_address and not is_within(address, self.limits.trusted)
        if is_full or self.count >= self.limits.connections:
            if not self._sources[source]:
                del self._sources[source]
            return False
        self.count += 1
        self._sources[source] += 1
        return True

    def release(self, address: str) -> None:
        """Count a closed connection."""
        source = source_of(address)
        self.count -= 1
        self._sources[source] -= 1
        if not self._sources[source]:
            del self._sources[source]
