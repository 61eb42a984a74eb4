"""Listens on a Unix socket at a fixed path, for clients of another account."""

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
    """Call `listen` for a socket with this mode and group, which replaces an existing one. Raises OSError.

    The socket is moved to `path` once it listens, so that clients never see one that does not.
    """
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    server = await listen(new)
    os.chown(new, -1, group)
    new.chmod(mode)
    new.replace(path)
    return server


def bind_unix_socket(path: Path, mode: int, group: int) -> socket.socket:
    """Return a listening socket with this mode and group, which replaces an existing one. Raises OSError."""
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
