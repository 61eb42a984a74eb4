"""The files of a log that is rotated by renaming: which there are, and what has been added to each.

A file is known by its inode and its first line, since numbers of inodes come again. `mail.log` is written now,
`mail.log.<time>` was before; they sort by their names. All functions block: call them in a thread.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_FIRST_LINE = 4096


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log that has a line at least; `first_line` is the SHA-256 of its first."""

    path: Path
    inode: int
    first_line: bytes
    size: int
    current: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of a file from `start` on, without their ends; `end` is where the next piece begins."""

    file: LogFile
    start: int
    end: int
    lines: list[bytes]


def split_lines(piece: Piece) -> list[Piece]:
    """A piece as pieces of one line each."""
    found: list[Piece] = []
    start = piece.start
    for line in piece.lines:
        end = start + len(line) + 1
        found.append(Piece(piece.file, start, end, [line]))
        start = end
    return found


def log_files(log: Path) -> list[LogFile]:
    """The files of a log, the oldest first. The one that is written is looked up first: when there is a newer one,
    nobody writes to those before it. PermissionError where one can't be read yet: what follows waits for it.
    """
    current = _file(log, current=True)
    older = sorted(
        path for path in log.parent.glob(f"{log.name}.*") if not path.name.endswith((".gz", ".xz", ".zst", ".part"))
    )
    found = [each for path in older if (each := _file(path, current=False))]
    if current and current.inode not in {each.inode for each in found}:
        found.append(current)
    return found


def find_log_file(path: Path) -> LogFile | None:
    """A rotated file of a log; None where it is gone or has no line."""
    return _file(path, current=False)


def _file(path: Path, *, current: bool) -> LogFile | None:
    with suppress(FileNotFoundError), path.open("rb") as file:
        known = os.fstat(file.fileno())
        first = file.readline(_FIRST_LINE)
        if first.endswith(b"\n") or len(first) == _FIRST_LINE:
            return LogFile(path, known.st_ino, hashlib.sha256(first).digest(), known.st_size, current)
    return None


def read_piece(file: LogFile, start: int, most: int) -> Piece | None:
    """What follows `start`, at most `most` bytes; None where that is no whole line, or the file has gone.

    What a file that nobody writes to any more ends with without a line end is passed over, and so is a line longer
    than `most`.
    """
    with suppress(FileNotFoundError), file.path.open("rb") as opened:
        if os.fstat(opened.fileno()).st_ino != file.inode:
            return None  # it has been renamed: it is found under its other name
        opened.seek(start)
        content = opened.read(most)
        end = content.rfind(b"\n") + 1
        if not end and content and (len(content) == most or not file.current):
            return Piece(file, start, start + len(content), [])
        return Piece(file, start, start + end, content[:end].split(b"\n")[:-1]) if end else None
    return None
