"""The indexes of fts-lucene, in `Maildir/lucene-indexes` of each home.

Dovecot notes in its own index up to which message a folder is in the search index. If files of the search index go
alone, the next search after new mail finds only this mail. `doveadm fts rescan` corrects the note.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from mailkeep.mail.daemons.tool import run
from mailkeep.mail.mailbox.homes import MAILDIR

FOLDER = "lucene-indexes"
_PLUGIN = ("-o", "mail_plugins=quota fts fts_lucene", "-o", "plugin/fts=lucene", "-o", "plugin/fts_autoindex=no")
# From the start of the line, since the names that clients give at login are in the log too.
_FAILED = re.compile(
    rb"^\S+ (?:indexer-worker|imap|pop3|doveadm)\(([^()\s]+@[^()\s]+)\)(?:<[^<>\s]*>)*: Error: lucene index ",
    re.MULTILINE,
)


def is_on(conf: Path) -> bool:
    """Whether Dovecot has search indexes with this configuration. Blocks."""
    return "  fts = lucene\n" in conf.read_text("utf-8")


def list_indexed(mail_root: Path) -> list[str]:
    """The names of the homes that have an index, or its folder. Blocks."""
    with suppress(FileNotFoundError), os.scandir(mail_root) as homes:
        return [home.name for home in homes if (Path(home.path) / MAILDIR / FOLDER).is_dir()]
    return []


def list_emptied(mail_root: Path) -> list[str]:
    """The names of the homes whose index has lost its files. Blocks."""
    folders = {name: mail_root / name / MAILDIR / FOLDER for name in list_indexed(mail_root)}
    return [name for name, folder in folders.items() if next(folder.iterdir(), None) is None]


async def rescan(conf: Path, login: str) -> None:
    """Correct Dovecot's note of what is in the index of a mailbox; without an index nothing is. Raises Failure."""
    await run("doveadm", "-c", str(conf), *_PLUGIN, "fts", "rescan", "-u", login)


def empty(home: Path) -> None:
    """Delete the files of an index, but not its folder: it shows that the note is not yet correct. Blocks."""
    with suppress(FileNotFoundError, NotADirectoryError):
        folder = _open_folder(home)
        try:
            for name in os.listdir(folder):  # noqa: PTH208 - a descriptor
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)


def remove_empty(home: Path) -> None:
    """Delete the empty folder of an index; one that has files again stays. Blocks."""
    with suppress(OSError):
        (home / MAILDIR / FOLDER).rmdir()


def _open_folder(home: Path) -> int:
    """The folder of an index; never one that a symbolic link leads to, because root works here."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(home, flags)
    for name in (MAILDIR, FOLDER):
        try:
            inner = os.open(name, flags, dir_fd=folder)
        finally:
            os.close(folder)
        folder = inner
    return folder


class IndexErrorReader:
    """Finds the mailboxes whose index had an error since the last call, in Dovecot's log, over rotations of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def read(self) -> set[str]:
        """The logins; Dovecot may have deleted their index without correcting its note. Blocks."""
        found: set[str] = set()
        with suppress(FileNotFoundError):
            if self._descriptor is not None and os.fstat(self._descriptor).st_ino != self._path.stat().st_ino:
                found |= self._read_rest()
                self.close()
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return found | self._read_rest()

    def close(self) -> None:
        """Close the log."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _read_rest(self) -> set[str]:
        found: set[str] = set()
        while self._descriptor is not None and (chunk := os.read(self._descriptor, 1 << 20)):
            end = chunk.rfind(b"\n") + 1
            if not end:
                if len(chunk) < 1 << 20:
                    os.lseek(self._descriptor, -len(chunk), os.SEEK_CUR)  # half a line: the rest follows
                    break
                continue
            os.lseek(self._descriptor, end - len(chunk), os.SEEK_CUR)
            found |= {login.decode("utf-8", "replace") for login in _FAILED.findall(chunk[:end])}
        return found
