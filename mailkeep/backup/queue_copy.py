"""A copy of Postfix's queue while Postfix runs. It changes its files in place, so they are copied, not linked."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from mailkeep.backup.mail_snapshot import Stop
from mailkeep.backup.source_tree import SourceFolder, copy_file, open_below, open_top, unless_blocked, walk

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
    with open_top(queue) as top:
        if top is None:
            return
        for _ in range(_MOST_PASSES):
            if not sum(_copy_folder(top, name, target / name, copied, stop, _is_complete) for name in _MESSAGES):
                break
        for name in _LOGS:
            _copy_folder(top, name, target / name, set(), stop)


def _is_complete(status: os.stat_result) -> bool:
    return bool(status.st_mode & stat.S_IXUSR)


def _copy_folder(
    queue: SourceFolder,
    name: str,
    target: Path,
    copied: set[str],
    stop: Stop,
    is_wanted: Callable[[os.stat_result], bool] | None = None,
) -> int:
    """Copy the files whose names are not in `copied`; returns how many."""
    added = 0
    with open_below(queue, name) as top:
        for folder, file, path in walk(top) if top else ():
            stop.check()
            if file in copied:
                continue
            with unless_blocked():
                (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if copy_file(folder, file, target / path, is_wanted):
                    copied.add(file)
                    added += 1
    return added
