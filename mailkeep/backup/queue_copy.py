"""A copy of Postfix's queue while Postfix runs. It changes its files in place, so they are copied, not linked."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from mailkeep.backup.mail_snapshot import Stop

# In the order in which a message goes through them; a retried one goes back from `deferred` to `active`.
_MESSAGES = ("maildrop", "incoming", "active", "deferred", "hold", "corrupt")
_LOGS = ("bounce", "defer", "trace")
_MOST_PASSES = 5


def copy_queue(queue: Path, target: Path, stop: Stop) -> None:
    """Copy the messages and their logs. A message that is still being received, and not yet accepted, is left out.
    Blocks. OSError.
    """
    target.mkdir(mode=0o700, exist_ok=True)
    copied: set[str] = set()
    for _ in range(_MOST_PASSES):
        if not sum(_copy_folder(queue / name, target / name, copied, stop) for name in _MESSAGES):
            break
    for name in _LOGS:
        _copy_folder(queue / name, target / name, set(), stop)


def _copy_folder(folder: Path, target: Path, copied: set[str], stop: Stop) -> int:
    """Copy the files whose names are not in `copied`; returns how many."""
    added = 0
    for path in _walk(folder):
        stop.check()
        if path.name in copied:
            continue
        with contextlib.suppress(FileNotFoundError):  # it has just moved or gone
            status = path.stat(follow_symlinks=False)
            is_complete = status.st_mode & stat.S_IXUSR or folder.name in _LOGS
            if not stat.S_ISREG(status.st_mode) or not is_complete:
                continue
            copy = target / path.relative_to(folder)
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)
            copied.add(path.name)
            added += 1
    return added


def _walk(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path))
            else:
                yield Path(entry.path)
