"""A child process whose output goes to a log file that may be rotated at any time.

The child writes into a pipe, and a thread appends the output to the file. After a rotation the thread changes to a new
file at the end of a line: no line is lost, and no daemon needs a signal.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_CHUNK = 1 << 16
_PIPE_BYTES = 1 << 20  # buffer while the disk hangs: a daemon with a full pipe would block
_FINAL_OUTPUT_SECONDS = 1.0
MODE = 0o640


class LoggedProcess(subprocess.Popen[bytes]):
    """A process with its standard output and error in a log file."""

    def __init__(self, argv: Sequence[str], log: Path, **options: Any) -> None:
        self._pipe = _Pipe(log)
        try:
            super().__init__(
                list(argv), stdin=subprocess.DEVNULL, stdout=self._pipe.writer, stderr=self._pipe.writer, **options
            )
        finally:
            self._pipe.begin()

    def poll(self) -> int | None:
        """Return the exit status, once all output is in the log; None while the process runs."""
        status = super().poll()
        if status is not None:
            self._pipe.wait_until_written()
        return status


class _Pipe:
    def __init__(self, log: Path) -> None:
        self._log = log
        self._reader, self.writer = os.pipe2(os.O_CLOEXEC)
        with suppress(OSError):
            fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._file = -1
        self._whole_line = True
        self._busy = False
        self._all_written = False

    def begin(self) -> None:
        os.close(self.writer)
        threading.Thread(target=self._copy, name=f"log {self._log.name}", daemon=True).start()

    def wait_until_written(self) -> None:
        """Wait up to a second until an ended process's output is in the file. Its children may keep the pipe open."""
        deadline = time.monotonic() + _FINAL_OUTPUT_SECONDS
        while not self._all_written and time.monotonic() < deadline:
            self._all_written = not self._busy and not self._unread_bytes()
            time.sleep(0 if self._all_written else 0.005)

    def _unread_bytes(self) -> int:
        try:
            return struct.unpack("i", fcntl.ioctl(self._reader, termios.FIONREAD, b"\0" * 4))[0]
        except (OSError, ValueError):  # closed: all output is in the file
            return 0

    def _copy(self) -> None:
        readable = select.poll()
        readable.register(self._reader, select.POLLIN)
        while readable.poll():
            self._busy = True  # before the pipe is empty: `wait_until_written` checks both
            if not (content := os.read(self._reader, _CHUNK)):
                break
            with suppress(OSError):  # a full disk loses lines, never the daemon
                self._append(content)
            self._busy = False
        self._busy = False
        reader, self._reader = self._reader, -1
        os.close(reader)
        if self._file >= 0:
            os.close(self._file)

    def _append(self, content: bytes) -> None:
        if self._file < 0 or (self._whole_line and is_rotated(self._log, self._file)):
            file = open_log(self._log)
            if self._file >= 0:
                os.close(self._file)
            self._file = file
        self._whole_line = content.endswith(b"\n")
        while content:
            content = content[os.write(self._file, content) :]


def open_log(path: Path) -> int:
    """Open a log for appending, readable for its owner and group only; wider permissions are removed."""
    path.parent.mkdir(mode=0o755, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, MODE)
    with suppress(OSError):
        if os.fstat(file).st_mode & 0o7777 & ~MODE:
            os.fchmod(file, MODE)
    return file


def is_rotated(path: Path, file: int) -> bool:
    """Whether the log's path no longer leads to the open file."""
    try:
        current, opened = path.stat(), os.fstat(file)
    except FileNotFoundError:
        return True
    return (current.st_dev, current.st_ino) != (opened.st_dev, opened.st_ino)
