"""A snapshot of mailboxes and message contents that costs no space: hard links of the files, which never change.

Files that Dovecot changes in place are copied. Locks, temporary files, caches and indexes are left out: Dovecot makes
them again. Everything here only adds to the snapshot, so that it can be called twice: what exists at the first call is
in it, even if it is deleted meanwhile.

A message is moved and renamed at any time, also while its folder is read. Folders are therefore read until a pass finds
nothing new; `new` before `cur`, because that is the way a message goes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from mailkeep.core import failpoint

MAILDIR = "Maildir"
_MOST_PASSES = 5
_MESSAGE_FOLDERS = ("new", "cur")
# Of a Maildir and its folders; the rest are indexes, caches and locks.
_COPIED = ("dovecot-uidlist", "dovecot-keywords", "dovecot-attributes", "subscriptions", "maildirfolder")
_COPIED_PREFIX = "dovecot-uidvalidity"
_PART = ".part"


class SnapshotCancelled(Exception):
    """The thread that makes a snapshot was told to end."""


@dataclass(slots=True)
class Stop:
    """Tells the threads that make a snapshot to end."""

    _event: threading.Event = field(default_factory=threading.Event)

    def set(self) -> None:
        """End at the next file."""
        self._event.set()

    def check(self) -> None:
        """Raise SnapshotCancelled if the snapshot is to end."""
        if self._event.is_set():
            raise SnapshotCancelled


def snapshot_mail(source: Path, target: Path, stop: Stop) -> None:
    """Add all mailboxes below `source` to the snapshot in `target`. Blocks: call it in a thread. OSError."""
    target.mkdir(mode=0o700, exist_ok=True)
    for home in _folders(source):
        with contextlib.suppress(ValueError):
            UUID(home.name)
            snapshot_mailbox(home, target / home.name, stop)


def snapshot_mailbox(home: Path, target: Path, stop: Stop) -> None:
    """Add one mailbox to a snapshot."""
    links = _MailboxLinks(target / MAILDIR, stop)
    for _ in range(_MOST_PASSES):
        stop.check()
        if not links.add(home / MAILDIR):
            break
    links.remove_moved(home / MAILDIR)
    failpoint.reach("backup.mailbox_linked")
    maildir = home / MAILDIR
    target.mkdir(mode=0o700, exist_ok=True)
    for folder in (maildir, *_mail_folders(maildir)):
        _copy_state(folder, target / MAILDIR / folder.relative_to(maildir))
    copy_tree(home, target, stop, skip={MAILDIR}, skipped_suffixes=(".svbin", ".lock", ".log"))


class _MailboxLinks:
    """The links of one mailbox's messages. `_linked`: by folder the base names and their inodes in the source."""

    def __init__(self, target: Path, stop: Stop) -> None:
        self._target = target
        self._stop = stop
        self._linked: dict[str, dict[str, int]] = {}
        self._seen: dict[str, set[str]] = {}

    def add(self, maildir: Path) -> int:
        """Link the messages that are not yet in the snapshot; returns how many."""
        added = 0
        self._seen = {}
        for folder in (maildir, *_mail_folders(maildir)):
            added += self._add_folder(folder, folder.name if folder != maildir else "")
        return added

    def _add_folder(self, folder: Path, name: str) -> int:
        target = self._target / name
        linked = self._linked.get(name)
        if linked is None:
            linked = self._linked[name] = _read_linked(target)
        seen = self._seen.setdefault(name, set())
        added = 0
        for part in _MESSAGE_FOLDERS:
            (target / part).mkdir(mode=0o700, parents=True, exist_ok=True)
            for entry in _files(folder / part):
                base = base_name(entry.name)
                seen.add(base)
                if base in linked:
                    continue
                self._stop.check()
                with contextlib.suppress(FileNotFoundError):  # renamed: the next pass finds it
                    linked[base] = entry.inode()
                    if not _link_message(Path(entry.path), target / part / entry.name):
                        del linked[base]
                        continue
                    added += 1
        return added

    def remove_moved(self, maildir: Path) -> None:
        """Remove the first of two copies that the passes found because a message was moved between folders."""
        moved = self._find_moved()
        if moved:
            self.add(maildir)  # a renamed file may be missing from one listing
            moved &= self._find_moved()
        for name, base in moved:
            del self._linked[name][base]
            for part in _MESSAGE_FOLDERS:
                for entry in _files(self._target / name / part):
                    if base_name(entry.name) == base:
                        Path(entry.path).unlink()

    def _find_moved(self) -> set[tuple[str, str]]:
        """The links, by folder and base name, whose file is gone while another link of it is in the snapshot."""
        links = Counter(inode for bases in self._linked.values() for inode in bases.values())
        found: set[tuple[str, str]] = set()
        for name, bases in self._linked.items():
            for base in bases.keys() - self._seen.get(name, set()):
                if links[bases[base]] > 1:
                    links[bases[base]] -= 1
                    found.add((name, base))
        return found


def base_name(name: str) -> str:
    """The name of a message's file without its flags."""
    return name.partition(":")[0]


def copy_tree(
    source: Path, target: Path, stop: Stop, *, skip: Collection[str] = (), skipped_suffixes: tuple[str, ...] = (_PART,)
) -> None:
    """Copy the regular files below a folder that are missing or older in `target`. `skip`: names at its top."""
    for path in _walk(source, skip):
        if path.name.endswith(skipped_suffixes):
            continue
        stop.check()
        with contextlib.suppress(FileNotFoundError):
            copy = target / path.relative_to(source)
            found, existing = path.lstat(), copy.lstat() if copy.exists() else None
            if existing and (existing.st_size, existing.st_mtime_ns) == (found.st_size, found.st_mtime_ns):
                continue
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)


def link_tree(source: Path, target: Path, stop: Stop) -> None:
    """Link the regular files below a folder, which never change, into `target`, unless they are there."""
    target.mkdir(mode=0o700, exist_ok=True)
    for path in _walk(source, ()):
        stop.check()
        copy = target / path.relative_to(source)
        if not path.name.endswith(_PART):
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError, FileNotFoundError):
                _link(path, copy)


def _link_message(path: Path, target: Path) -> bool:
    """Link or copy a message; False if it is gone."""
    try:
        _link(path, target)
    except FileExistsError:
        pass
    except FileNotFoundError:
        return False
    return True


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if isinstance(error, FileExistsError | FileNotFoundError):
            raise
        # Another file system, or too many links.
        if target.exists():
            raise FileExistsError from None
        shutil.copy2(path, target, follow_symlinks=False)


def _read_linked(target: Path) -> dict[str, int]:
    return {base_name(entry.name): entry.inode() for part in _MESSAGE_FOLDERS for entry in _files(target / part)}


def _copy_state(folder: Path, target: Path) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        names = [
            entry.name for entry in _files(folder) if entry.name in _COPIED or entry.name.startswith(_COPIED_PREFIX)
        ]
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy2(folder / name, target / name, follow_symlinks=False)
                _cut_half_line(target / name)


def _cut_half_line(path: Path) -> None:
    """Remove what a writer had not finished: the text after the last newline."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end != len(content):
        status = path.stat()
        with path.open("r+b") as file:
            file.truncate(end)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _mail_folders(maildir: Path) -> Iterator[Path]:
    for folder in _folders(maildir):
        if folder.name.startswith("."):
            yield folder


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The regular files in a folder; none if it is gone."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield entry


def _walk(source: Path, skip: Collection[str]) -> Iterator[Path]:
    for entry in _files(source):
        if entry.name not in skip:
            yield Path(entry.path)
    for folder in _folders(source):
        if folder.name not in skip:
            yield from _walk(folder, ())
