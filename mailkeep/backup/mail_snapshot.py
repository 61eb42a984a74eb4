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
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from mailkeep.core import failpoint

MAILDIR = "Maildir"
_MOST_PASSES = 5
# A move links the message under its new name, then removes the old name: both exist for a moment.
_MOVE_SECONDS, _NEW_SECONDS = 0.3, 10
_MESSAGE_FOLDERS = ("new", "cur")
# Of a Maildir and its folders; the rest are indexes, caches and locks.
_COPIED = ("dovecot-uidlist", "dovecot-keywords", "dovecot-attributes", "subscriptions", "maildirfolder")
_COPIED_PREFIX = "dovecot-uidvalidity"
_PART = ".part"
_ACTIVE_SCRIPT = "sieve.active"  # a link, which a snapshot has as a file with its text (`restored_mail`)


class SnapshotCancelled(Exception):
    """The thread that makes a snapshot is to end."""


@dataclass(slots=True)
class Stop:
    """Tells the threads that make a snapshot to end."""

    _event: threading.Event = field(default_factory=threading.Event)

    def set(self) -> None:
        """End at the next file."""
        self._event.set()

    def pause(self, seconds: float) -> None:
        """Wait, unless the snapshot is to end."""
        self._event.wait(seconds)
        self.check()

    def check(self) -> None:
        """Raise SnapshotCancelled if the snapshot is to end."""
        if self._event.is_set():
            raise SnapshotCancelled


def snapshot_mail(source: Path, target: Path, stop: Stop, *, is_last: bool = True) -> None:
    """Add all mailboxes below `source` to the snapshot in `target`; `is_last`: it is not called again. Blocks: call it
    in a thread. OSError.
    """
    target.mkdir(mode=0o700, exist_ok=True)
    for home in _folders(source):
        with contextlib.suppress(ValueError):
            UUID(home.name)
            snapshot_mailbox(home, target / home.name, stop, is_last=is_last)


def snapshot_mailbox(home: Path, target: Path, stop: Stop, *, is_last: bool = True) -> None:
    """Add one mailbox to a snapshot."""
    links = _MailboxLinks(target / MAILDIR, stop)
    for number in range(_MOST_PASSES):
        if not links.add(home / MAILDIR) and number:
            break
    if is_last:
        links.remove_moved(home / MAILDIR)
    failpoint.reach("backup.mailbox_linked")
    maildir = home / MAILDIR
    target.mkdir(mode=0o700, exist_ok=True)
    for folder in (maildir, *_mail_folders(maildir)):
        _copy_state(folder, target / MAILDIR / folder.relative_to(maildir))
    with contextlib.suppress(OSError):  # no link
        (target / _ACTIVE_SCRIPT).write_text(os.readlink(home / _ACTIVE_SCRIPT), "utf-8")  # noqa: PTH115 - as text
    copy_tree(home, target, stop, skip={MAILDIR}, skipped_suffixes=(".svbin", ".lock", ".log"))


class _MailboxLinks:
    """The links of one mailbox's messages. `_linked`: by folder the base names and their inodes; `_seen` and
    `_seen_before`: the base names in the last two listings, by folder.
    """

    def __init__(self, target: Path, stop: Stop) -> None:
        self._target = target
        self._stop = stop
        self._linked: dict[str, dict[str, int]] = {}
        self._seen: dict[str, set[str]] = {}
        self._seen_before: dict[str, set[str]] = {}
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.touch()
        self._began = target.stat().st_mtime

    def add(self, maildir: Path) -> int:
        """Link the messages that are not yet in the snapshot; returns how many."""
        self._stop.check()
        added = 0
        self._seen_before, self._seen = self._seen, {}
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
        """Of several links of one message keep those that all listings since the first have: a message that is moved
        between folders gets a new name, and is found in both. A copied one has both names for longer. If it is moved
        all the time, keep what the last listing has: rather twice than not at all.
        """
        lasting = self._list_seen(self._seen_before) & self._list_seen(self._seen)
        for _ in range(_MOST_PASSES):
            found = self._find_repeated()
            if not any(self._is_new(base) for names in found for _, base in names):
                break
            self._stop.pause(_MOVE_SECONDS)
            self.add(maildir)
            lasting &= self._list_seen(self._seen)
        present = self._list_seen(self._seen)
        for names in self._find_repeated():
            kept = [each for each in names if each in lasting] or [each for each in names if each in present]
            kept = kept or names[-1:]
            for folder, base in set(names).difference(kept):
                self._remove(folder, base)

    def _find_repeated(self) -> list[list[tuple[str, str]]]:
        """The links of messages with more than one, by folder and base name."""
        names_by_inode: dict[int, list[tuple[str, str]]] = {}
        for folder, bases in self._linked.items():
            for base, inode in bases.items():
                names_by_inode.setdefault(inode, []).append((folder, base))
        return [names for names in names_by_inode.values() if len(names) > 1]

    def _is_new(self, base: str) -> bool:
        """Whether a name was given just before the snapshot: it begins with that time."""
        second = base.partition(".")[0]
        return second.isdecimal() and int(second) >= self._began - _NEW_SECONDS

    def _list_seen(self, seen: Mapping[str, set[str]]) -> set[tuple[str, str]]:
        return {(folder, base) for folder, bases in seen.items() for base in bases}

    def _remove(self, folder: str, base: str) -> None:
        for part in _MESSAGE_FOLDERS:
            for entry in _files(self._target / folder / part):
                if base_name(entry.name) == base:
                    Path(entry.path).unlink()


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
