"""The watch over postlogd: Postfix logs through it alone, and where it hangs every process of Postfix does.

A log that grows is one that is written. Where it is silent a line is asked for, as any process of Postfix would log
one, without waiting: where the line has not come after `_PATIENCE` seconds, nobody else's will. On a full disk no
postlogd could write it, and nothing is restarted.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import closing, suppress
from pathlib import Path

from mailkeep.mail.daemons.paths import InstancePaths

_PATIENCE = 12.0
_LINE = b"mailkeep: is this written?"
_LOOK_SECONDS = 0.5
_LEAST_BYTES = 1 << 20


def grant_read(log: Path, group: int) -> None:
    """Let a group read a log; one that is not there is made."""
    number = os.open(log, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        found = os.fstat(number)
        if found.st_gid != group or found.st_mode & 0o777 != 0o640:
            os.fchown(number, -1, group)
            os.fchmod(number, 0o640)
    finally:
        os.close(number)


async def keep_readable(log: Path, group: int) -> None:
    """Let a group read Postfix's log until cancelled: after each rotation Postfix makes it anew, for root alone.

    Rotated again before we looked, it is among the older ones.
    """
    while True:
        grant_read(log, group)
        for older in log.parent.glob(f"{log.name}.*"):
            with suppress(FileNotFoundError):
                if older.stat().st_gid != group:
                    grant_read(older, group)
        await asyncio.sleep(_LOOK_SECONDS)


class PostlogWatch:
    """Looks at one instance's log again and again."""

    def __init__(self, paths: InstancePaths) -> None:
        self._log = paths.mail_log
        self._socket = paths.postfix_queue / "public" / "postlog"
        self._seen = (0, 0)
        self._probed_at: float | None = None

    async def is_alive(self) -> bool:
        """Whether lines are written, or there is time yet for the one that was asked for."""
        found = self._state()
        if found != self._seen:
            self._seen, self._probed_at = found, None
            return True
        if self._probed_at is None:
            self._probed_at = time.monotonic()
            self._send_probe()
            return True
        if time.monotonic() - self._probed_at < _PATIENCE:
            return True
        if self._disk_is_full():
            # Nobody can write a line, and a new postlogd could not either: asked again once there is room.
            self._probed_at = None
            return True
        return False

    def reset(self) -> None:
        """Postfix was started anew: what was asked of the one before counts no more."""
        self._probed_at = None

    def _disk_is_full(self) -> bool:
        told = os.statvfs(self._log.parent)
        return told.f_bavail * told.f_frsize < _LEAST_BYTES or bool(told.f_files and not told.f_favail)

    def _state(self) -> tuple[int, int]:
        try:
            told = self._log.stat()
        except FileNotFoundError:
            return (0, 0)
        return (told.st_ino, told.st_size)

    def _send_probe(self) -> None:
        # By a short name: the queue may lie deeper than a socket's path has room for.
        folder = os.open(self._socket.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            asking = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            # A queue that is full, or a socket that is not there, shows in the line that does not come.
            with closing(asking), suppress(OSError):
                asking.connect(f"/proc/self/fd/{folder}/{self._socket.name}")
                asking.send(_LINE)
        finally:
            os.close(folder)
