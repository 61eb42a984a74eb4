"""Watches postlogd: all Postfix processes log through it, and if it hangs, they hang too.

While the log grows, postlogd works. If the log is silent, a line is sent to it like those of Postfix's processes. If
that line does not appear within `_PROBE_SECONDS`, postlogd hangs. On a full disk no postlogd could write the line, so
nothing is restarted.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import closing, suppress
from pathlib import Path

from mailkeep.mail.daemons.paths import InstancePaths

_PROBE_SECONDS = 12.0
_LINE = b"mailkeep: is this written?"
_LOOK_SECONDS = 0.5
_LEAST_BYTES = 1 << 20


def grant_read(log: Path, group: int) -> None:
    """Let a group read a log; create it if it is missing."""
    number = os.open(log, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        found = os.fstat(number)
        if found.st_gid != group or found.st_mode & 0o777 != 0o640:
            os.fchown(number, -1, group)
            os.fchmod(number, 0o640)
    finally:
        os.close(number)


async def keep_readable(log: Path, group: int) -> None:
    """Let a group read Postfix's log, until cancelled: Postfix creates a new one for root only at each rotation.

    Rotated logs are included, because a log may be rotated again before this notices.
    """
    while True:
        grant_read(log, group)
        for older in log.parent.glob(f"{log.name}.*"):
            with suppress(FileNotFoundError):
                if older.stat().st_gid != group:
                    grant_read(older, group)
        await asyncio.sleep(_LOOK_SECONDS)


class PostlogWatch:
    """Checks one instance's log."""

    def __init__(self, paths: InstancePaths) -> None:
        self._log = paths.mail_log
        self._socket = paths.postfix_queue / "public" / "postlog"
        self._seen = (0, 0)
        self._probed_at: float | None = None

    async def is_alive(self) -> bool:
        """Whether lines are written, or the probe line still has time."""
        state = self._state()
        if state != self._seen:
            self._seen, self._probed_at = state, None
            return True
        if self._probed_at is None:
            self._probed_at = time.monotonic()
            self._send_probe()
            return True
        if time.monotonic() - self._probed_at < _PROBE_SECONDS:
            return True
        if self._is_disk_full():
            self._probed_at = None  # a new postlogd could not write either: probe again later
            return True
        return False

    def reset(self) -> None:
        """Postfix was restarted: forget the probe of the previous one."""
        self._probed_at = None

    def _is_disk_full(self) -> bool:
        usage = os.statvfs(self._log.parent)
        return usage.f_bavail * usage.f_frsize < _LEAST_BYTES or bool(usage.f_files and not usage.f_favail)

    def _state(self) -> tuple[int, int]:
        try:
            found = self._log.stat()
        except FileNotFoundError:
            return (0, 0)
        return (found.st_ino, found.st_size)

    def _send_probe(self) -> None:
        # By a short path: the path of the queue may be too long for a socket address.
        folder = os.open(self._socket.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            probe = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            # After an error the line does not appear, which is noticed later.
            with closing(probe), suppress(OSError):
                probe.connect(f"/proc/self/fd/{folder}/{self._socket.name}")
                probe.send(_LINE)
        finally:
            os.close(folder)
