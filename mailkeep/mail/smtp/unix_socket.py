"""Listening on a Unix socket that somebody else's process finds at a fixed place."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

_BACKLOG = 511


async def listen_unix(
    path: Path, mode: int, group: int, listen: Callable[[Path], Awaitable[asyncio.Server]]
) -> asyncio.Server:
    """`listen` on a socket with these permissions, for its owner and a group, in the place of one that is there.

    It is put there once it listens, so that nobody meets one that does not. Raises OSError.
    """
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    server = await listen(new)
    os.chown(new, -1, group)
    new.chmod(mode)
    new.replace(path)
    return server


def bind_unix_socket(path: Path, mode: int, group: int) -> socket.socket:
    """A socket that listens there with these permissions, in the place of one that is there. Raises OSError."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(new))
        os.chown(new, -1, group)
        new.chmod(mode)
        listening.listen(_BACKLOG)
        new.replace(path)
    except BaseException:
        listening.close()
        raise
    return listening
