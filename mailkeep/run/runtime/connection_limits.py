"""Limits of an HTTP listener for its clients, and the number of their connections to all processes of the API."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mailkeep.core.errors import Unavailable
from mailkeep.core.network import is_within, source_of
from mailkeep.core.shared_memory import SharedMemory, key_of
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

    `per_process`: connections of one process, whose descriptors are limited.
    """

    connections: int = 256
    per_process: int = 256
    per_address: int = 256
    trusted: Sequence[str] = ()
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    unread_bytes: int = 160 << 20
    read_seconds: float = 30.0
    slowest_bytes_per_second: int = 32_768


class ConnectionLimiter:
    """Counts the connections of a listener, in total and by source. `is_stopping`: each has its last request."""

    def __init__(self, limits: HttpLimits, memory: SharedMemory | None = None, name: str = "") -> None:
        self.limits = limits
        self.is_stopping = False
        self._memory = memory or SharedMemory()
        self._name = f"connections {name}"

    @property
    def count(self) -> int:
        """The connections to all processes."""
        return sum(self._memory.read(key_of(self._name)))

    def acquire(self, address: str) -> bool:
        """Count a new connection if it is within the limits; whether it is. If so, call `release` when it closes."""
        memory, limits = self._memory, self.limits
        everybody, source = key_of(self._name), key_of(f"{self._name} {source_of(address)}")
        with memory:
            counts = memory.read(everybody)
            if sum(counts) >= limits.connections or counts[memory.slot] >= limits.per_process:
                return False
            is_counted = address != UNIX_PEER and not is_within(address, limits.trusted)
            if is_counted and sum(memory.read(source)) >= limits.per_address:
                return False
            try:
                memory.add(source, 1)
            except Unavailable:
                return False
            memory.add(everybody, 1)
        return True

    def release(self, address: str) -> None:
        """Count a closed connection."""
        with self._memory:
            self._memory.add(key_of(self._name), -1)
            self._memory.add(key_of(f"{self._name} {source_of(address)}"), -1)
