"""Reads the files of a log that is rotated by renaming.

A file is identified by its inode and its first line, because inode numbers are reused. Postfix writes `mail.log`;
`mail.log.<time>` are rotated files, in the order of their names. All functions block: call them in a thread.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MAX_FIRST_LINE = 4096


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log with at least one line; `first_line` is the SHA-256 of the first."""

    path: Path
    inode: int
    first_line: bytes
    size: int
    current: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Complete lines of a file from offset `start` to `end`, without their line ends."""

    file: LogFile
    start: int
    end: int
    lines: list[bytes]


def split_lines(piece: Piece) -> list[Piece]:
    """Split a piece into pieces of one line each."""
    pieces: list[Piece] = []
    start = piece.start
    for line in piece.lines:
        end = start + len(line) + 1
        pieces.append(Piece(piece.file, start, end, [line]))
        start = end
    return pieces


def log_files(log: Path) -> list[LogFile]:
    """Return the files of a log, oldest first. The current one is read first: once there is a newer one, older
    files do not change. Raises PermissionError if one can't be read yet: newer ones must wait for it.
    """
    current = _read_log_file(log, current=True)
    older = sorted(
        path for path in log.parent.glob(f"{log.name}.*") if not path.name.endswith((".gz", ".xz", ".zst", ".part"))
    )
    files = [each for path in older if (each := _read_log_file(path, current=False))]
    if current and current.inode not in {each.inode for each in files}:
        files.append(current)
    return files


def find_log_file(path: Path) -> LogFile | None:
    """Return a rotated file of a log; None if it is missing or empty."""
    return _read_log_file(path, current=False)


def _read_log_file(path: Path, *, current: bool) -> LogFile | None:
    with suppress(FileNotFoundError), path.open("rb") as file:
        status = os.fstat(file.fileno())
        first = file.readline(_MAX_FIRST_LINE)
        if first.endswith(b"\n") or len(first) == _MAX_FIRST_LINE:
            return LogFile(path, status.st_ino, hashlib.sha256(first).digest(), status.st_size, current)
    return None


def read_piece(file: LogFile, start: int, max_size: int) -> Piece | None:
    """Read complete lines from `start`, at most `max_size` bytes; None if there are none, or the file is missing.

    Skips a line longer than `max_size`, and an incomplete line at the end of a rotated file.
    """
    with suppress(FileNotFoundError), file.path.open("rb") as opened:
        if os.fstat(opened.fileno()).st_ino != file.inode:
            return None  # it was renamed, and is found under its new name
        opened.seek(start)
        content = opened.read(max_size)
        end = content.rfind(b"\n") + 1
        if not end and content and (len(content) == max_size or not file.current):
            return Piece(file, start, start + len(content), [])
        return Piece(file, start, start + end, content[:end].split(b"\n")[:-1]) if end else None
    return None
