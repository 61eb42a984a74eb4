"""Free ports for programs that must know theirs before they listen."""

from __future__ import annotations

import contextlib
import random
import socket

_BELOW_EPHEMERAL_PORTS = range(12_000, 31_000)
# One abstract socket (unix(7)) per port, held while this process lives.
_claims: list[socket.socket] = []


def free_port(host: str = "127.0.0.1") -> int:
    """A port that is free, not given to another caller, and outside the kernel's range of ephemeral ports."""
    while True:
        port = random.choice(_BELOW_EPHEMERAL_PORTS)
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with socket.socket() as probe, contextlib.suppress(OSError):
            claim.bind(f"\0mailkeep.tests.port.{port}")
            probe.bind((host, port))
            _claims.append(claim)
            return port
        claim.close()
