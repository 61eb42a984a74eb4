"""A snapshot of mailboxes and message contents that costs no space: hard links of the files, which never change.

Files that Dovecot changes in place are copied. Locks, temporary files, caches and indexes are left out: Dovecot makes
them again. Everything here only adds to the snapshot, so that it can be called twice: what exists at the first call is
in it, even if it is deleted meanwhile. `source_tree` reads the folders, whose owners are not trusted.

A message is moved and renamed at any time, also while its folder is read. Folders are therefore read until a pass finds
nothing new; `new` before `cur`, because that is the way a message goes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from mailkeep.backup import source_tree
from mailkeep.backup.source_tree import SourceFolder, copy_file, link_file, open_below, open_top, unless_blocked
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
    with open_top(source) as root:
        if root is None:
            return
        for name in filter(_is_mailbox, source_tree.list_folders(root)):
            with open_below(root, name) as home:
                if home:
                    snapshot_mailbox(home, target / name, stop, is_last=is_last)


def snapshot_mailbox(home: SourceFolder, target: Path, stop: Stop, *, is_last: bool = True) -> None:
    """Add one mailbox to a snapshot."""
    links = _MailboxLinks(target / MAILDIR, stop)
    for number in range(_MOST_PASSES):
        if not links.add(home) and number:
            break
    if is_last:
        links.remove_moved(home)
    failpoint.reach("backup.mailbox_linked")
    target.mkdir(mode=0o700, exist_ok=True)
    for name, folder in _mail_folders(home):
        _copy_state(folder, target / MAILDIR / name)
    with contextlib.suppress(OSError):  # no link
        active = os.readlink(_ACTIVE_SCRIPT, dir_fd=home.descriptor)
        (target / _ACTIVE_SCRIPT).write_bytes(os.fsencode(active))
    _copy_below(home, target, stop, {MAILDIR}, (".svbin", ".lock", ".log"))


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

    def add(self, home: SourceFolder) -> int:
        """Link the messages that are not yet in the snapshot; returns how many."""
        self._stop.check()
        added = 0
        self._seen_before, self._seen = self._seen, {}
        for name, folder in _mail_folders(home):
            added += self._add_folder(folder, name)
        return added

    def _add_folder(self, folder: SourceFolder, name: str) -> int:
        target = self._target / name
        linked = self._linked.get(name)
        if linked is None:
            linked = self._linked[name] = _read_linked(target)
        seen = self._seen.setdefault(name, set())
        added = 0
        for part in _MESSAGE_FOLDERS:
            (target / part).mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_below(folder, part) as messages:
                for file, inode in source_tree.list_files(messages) if messages else ():
                    base = base_name(file)
                    seen.add(base)
                    if base in linked:
                        continue
                    self._stop.check()
                    if messages and link_file(messages, file, target / part / file):  # else the next pass finds it
                        linked[base] = inode
                        added += 1
        return added

    def remove_moved(self, home: SourceFolder) -> None:
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
            self.add(home)
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


def copy_tree(source: Path, target: Path, stop: Stop, *, skip: Collection[str] = ()) -> None:
    """Copy the regular files below a folder that are missing or older in `target`. `skip`: names at its top."""
    with open_top(source) as top:
        if top:
            _copy_below(top, target, stop, skip, (_PART,))


def link_tree(source: Path, target: Path, stop: Stop) -> None:
    """Link the regular files below a folder, which never change, into `target`, unless they are there."""
    target.mkdir(mode=0o700, exist_ok=True)
    with open_top(source) as top:
        for folder, name, path in source_tree.walk(top) if top else ():
            stop.check()
            if not name.endswith(_PART):
                with unless_blocked():
                    (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    link_file(folder, name, target / path)


def _copy_below(
    top: SourceFolder, target: Path, stop: Stop, skip: Collection[str], skipped_suffixes: tuple[str, ...]
) -> None:
    for folder, name, path in source_tree.walk(top, skip):
        stop.check()
        if name.endswith(skipped_suffixes):
            continue
        with unless_blocked():
            copy = target / path
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            existing = _state_of(copy.lstat()) if copy.exists() else None
            copy_file(folder, name, copy, lambda found, existing=existing: _state_of(found) != existing)


def _state_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _read_linked(target: Path) -> dict[str, int]:
    return {base_name(entry.name): entry.inode() for part in _MESSAGE_FOLDERS for entry in _files(target / part)}


def _copy_state(folder: SourceFolder, target: Path) -> None:
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, _ in source_tree.list_files(folder):
        is_state = name in _COPIED or name.startswith(_COPIED_PREFIX)
        if is_state and copy_file(folder, name, target / name):
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


def _is_mailbox(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _mail_folders(home: SourceFolder) -> Iterator[tuple[str, SourceFolder]]:
    """The open folders of a mailbox by the names of their directories, first INBOX (empty)."""
    with open_below(home, MAILDIR) as maildir:
        if maildir is None:
            return
        yield "", maildir
        for name in source_tree.list_folders(maildir):
            if name.startswith("."):
                with open_below(maildir, name) as folder:
                    if folder:
                        yield name, folder


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The files in a folder of the snapshot; none if it is missing."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        yield from entries
