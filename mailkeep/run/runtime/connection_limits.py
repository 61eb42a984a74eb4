"""Limits of an HTTP listener for its clients, and the number of their connections."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mailkeep.core.network import is_within, source_of
from mailkeep.web.origin import UNIX_PEER


def peer_address(transport: asyncio.Transport) -> str:
    """The address of a client; UNIX_PEER for nginx, empty if the client has gone already."""
    own: Any = transport.get_extra_info("socket")
    if own is not None and own.family == socket.AF_UNIX:
        return UNIX_PEER
    peer: Any = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits for clients; times in seconds. `per_address` does not apply to nginx, nor to the networks (CIDR) in
    `trusted`.
    """

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
        is_counted = address != UNIX_PEER and not is_within(address, self.limits.trusted)
        is_full = is_counted and self._sources[source] >= self.limits.per_address
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
