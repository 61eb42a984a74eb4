"""Ports for those who have to know theirs before they listen."""

from __future__ import annotations

import contextlib
import random
import socket

_BELOW_WHAT_THE_KERNEL_GIVES = range(12_000, 31_000)
# One name a port, in the namespace of abstract sockets (unix(7)): taken for as long as this process lives.
_claims: list[socket.socket] = []


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody has, that nobody else who asks here is given, and the kernel nobody who connects somewhere."""
    while True:
        port = random.choice(_BELOW_WHAT_THE_KERNEL_GIVES)
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with socket.socket() as probe, contextlib.suppress(OSError):
            claim.bind(f"\0mailkeep.tests.port.{port}")
            probe.bind((host, port))
            _claims.append(claim)
            return port
        claim.close()
