"""Mail that a full restore stores apart, because its daemon can't hold it, until it is released.

held/sieve         messages of Sieve's spool (`mail/dovecot/sieve_spool`)
held/submissions   what local programs have submitted to Postfix (`maildrop`), which has another format than its queue

The folder is in the data directory, so that backups have it. Only root uses it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mailkeep.mail.message.content_file import sync_folder

FOLDER = "held"
_SIEVE, _SUBMISSIONS = "sieve", "submissions"


@dataclass(frozen=True, slots=True)
class HeldMail:
    """The numbers of messages that are stored apart, or were released."""

    sieve_messages: int = 0
    local_submissions: int = 0


def hold(data_dir: Path, spooled: Path, submitted: Path) -> None:
    """Store the files in these two folders apart. Blocks. OSError."""
    for name, source in ((_SIEVE, spooled), (_SUBMISSIONS, submitted)):
        for path in _files(source):
            folder = data_dir / FOLDER / name
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (folder / path.name).exists():  # else it was held already
                path.rename(folder / path.name)


def count(data_dir: Path) -> HeldMail:
    """What is stored apart. Blocks. OSError."""
    return HeldMail(*(sum(1 for _ in _files(data_dir / FOLDER / name)) for name in (_SIEVE, _SUBMISSIONS)))


def release(data_dir: Path, spool: Path, maildrop: Path) -> HeldMail:
    """Move everything to where the daemons find it, and give it their owners. Interrupted, it is called again. One
    whose name is taken stays until the next time. Blocks. OSError.
    """
    moved: list[int] = []
    for name, target in ((_SIEVE, spool), (_SUBMISSIONS, maildrop)):
        source, number = data_dir / FOLDER / name, 0
        for path in _files(source):
            if not (target / path.name).exists():
                owner = target.stat()
                os.chown(path, owner.st_uid, owner.st_gid)
                path.rename(target / path.name)
                number += 1
        if number:
            sync_folder(target)
        moved.append(number)
    return HeldMail(*moved)


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink())
