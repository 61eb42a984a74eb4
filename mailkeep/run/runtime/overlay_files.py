"""An administrator's own lines in files of root: `overlays/postfix/main.cf`, `overlays/dovecot/dovecot.conf` and
`overlays/rspamd/local.d/*` in the data directory.

They may have anything that the daemon's own check accepts, also programs and modules. So nobody but root may be able to
write them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.overlays import DOVECOT_CONF, MAIN_CF, Files
from mailkeep.mail.daemons.paths import InstancePaths

_MAX_BYTES = 1 << 20


def read(paths: InstancePaths) -> dict[str, Files]:
    """The lines, by daemon and file. Failure if somebody else than root can write one of the files or folders, and for
    a file with another name.
    """
    if not os.path.lexists(paths.overlays):
        return {}
    possible = {"postfix": MAIN_CF, "dovecot": DOVECOT_CONF, "rspamd": "local.d"}
    found: dict[str, Files] = {}
    for folder in _list(paths.overlays):
        if folder.name not in possible:
            raise _failure(folder, f"expected {', '.join(possible)}")
        files: dict[str, str] = {}
        for path in _list(folder):
            if path.name != possible[folder.name]:
                raise _failure(path, f"expected {possible[folder.name]}")
            for file in _list(path) if folder.name == "rspamd" else [path]:
                files[str(file.relative_to(folder))] = _read(file)
        found[folder.name] = files
    return found


def _list(folder: Path) -> list[Path]:
    _require_root(folder, folder.lstat(), stat.S_ISDIR, "a folder")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _read(path: Path) -> str:
    _require_root(path, path.lstat(), stat.S_ISREG, "a file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(_MAX_BYTES + 1)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise _failure(path, "it is not UTF-8") from None
    if len(content) > _MAX_BYTES or "\0" in text or "\r" in text:
        raise _failure(path, "it has more than 1 MiB, a NUL or a carriage return")
    if text[:1] in (" ", "\t"):
        raise _failure(path, "its first line must not start with a space, which would continue a line of ours")
    return text


def _require_root(path: Path, status: os.stat_result, is_kind: Callable[[int], bool], kind: str) -> None:
    if not is_kind(status.st_mode):
        raise _failure(path, f"expected {kind}, no link")
    if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _failure(path, f"root must be its owner, and nobody else may write it (chown root, chmod go-w {path})")


def _failure(path: Path, reason: str) -> Failure:
    return Failure(f"{path} can't be used: {reason}.", permanent=True)
