"""Keeps Postfix's log readable for our processes, and watches postlogd: if it hangs, all Postfix processes hang.

As long as the log grows, postlogd works. If the log is silent, a line is sent to it like those of Postfix. If that line
does not appear within `_PROBE_SECONDS`, postlogd hangs. On a full disk no postlogd could write the line, so nothing is
restarted.
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
_PROBE_LINE = b"mailkeep: probe of postlogd"
_CHECK_SECONDS = 0.5
_MIN_FREE_BYTES = 1 << 20


def grant_read(log: Path, group: int) -> None:
    """Let a group read a log; create it if it is missing."""
    descriptor = os.open(log, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        status = os.fstat(descriptor)
        if status.st_gid != group or status.st_mode & 0o777 != 0o640:
            os.fchown(descriptor, -1, group)
            os.fchmod(descriptor, 0o640)
    finally:
        os.close(descriptor)


async def keep_readable(log: Path, group: int) -> None:
    """Let a group read Postfix's log, until cancelled: Postfix creates a new one for root only at each rotation.

    Rotated logs are included, because a log may be rotated again before this notices.
    """
    while True:
        grant_read(log, group)
        for rotated in log.parent.glob(f"{log.name}.*"):
            with suppress(FileNotFoundError):
                if rotated.stat().st_gid != group:
                    grant_read(rotated, group)
        await asyncio.sleep(_CHECK_SECONDS)


class PostlogWatch:
    """Detects whether the postlogd of an instance hangs."""

    def __init__(self, paths: InstancePaths) -> None:
        self._log = paths.mail_log
        self._socket = paths.postfix_queue / "public" / "postlog"
        self._last_state = (0, 0)
        self._probed_at: float | None = None

    async def is_alive(self) -> bool:
        """Whether postlogd writes lines. False only when the probe line has not appeared in time; call it regularly."""
        state = self._state()
        if state != self._last_state:
            self._last_state, self._probed_at = state, None
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
        """Forget the probe: Postfix is restarted."""
        self._probed_at = None

    def _is_disk_full(self) -> bool:
        usage = os.statvfs(self._log.parent)
        return usage.f_bavail * usage.f_frsize < _MIN_FREE_BYTES or bool(usage.f_files and not usage.f_favail)

    def _state(self) -> tuple[int, int]:
        try:
            status = self._log.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_ino, status.st_size)

    def _send_probe(self) -> None:
        # Connect by a short path: the path of the queue may be too long for a socket address.
        folder = os.open(self._socket.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            probe = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            # After an error the line does not appear, and `is_alive` notices that.
            with closing(probe), suppress(OSError):
                probe.connect(f"/proc/self/fd/{folder}/{self._socket.name}")
                probe.send(_PROBE_LINE)
        finally:
            os.close(folder)
