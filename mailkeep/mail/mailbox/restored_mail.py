"""Puts mail from a restored copy of a home back: as the whole home, if there is none, or into a live one.

A live home belongs to Dovecot. It is only added to, as Maildir allows at any time (https://cr.yp.to/proto/maildir.html):
a file gets a new name and is renamed into `cur` or `new`; files with a lock of Dovecot's are changed under that lock.
Nothing of the copy is trusted: only what is listed here is taken from it, and of its names only the flags. Nor is the
live home, when root writes there: whoever controls Dovecot's account can exchange anything in it for a link at any time
(`confine`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mailkeep.core import failpoint
from mailkeep.core.landlock import restrict_files
from mailkeep.mail.mailbox.homes import ACTIVE_SCRIPT, MAILDIR, link_active_script
from mailkeep.mail.message.content_file import sync_folder

T = TypeVar("T")

RESTORING_SUFFIX = ".restoring"
"""What a home is called until it is complete."""

_PARTS = ("new", "cur")
_STATE = ("dovecot-uidlist", "dovecot-keywords", "subscriptions", "maildirfolder")
_STATE_PREFIX = "dovecot-uidvalidity"
_SCRIPTS, _SCRIPT_SUFFIX = "sieve", ".sieve"
_FLAGS = re.compile(r"[A-Za-z]*")
_KEYWORDS = 26
_LONGEST_NAME = 255
_LOCK_SECONDS = 30.0
_CHUNK = 1 << 20


@dataclass(slots=True)
class MailCounts:
    """What a restore did, or would do: folders and messages added, with their bytes; messages that were there; and
    messages that only the live mailbox has, which stay as they are.
    """

    folders: int = 0
    messages: int = 0
    bytes: int = 0
    present: int = 0
    newer: int = 0

    def add(self, other: MailCounts) -> None:
        """Add those of another mailbox."""
        for name in MailCounts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class RestoredHome:
    """A copy of a home, the live `home`, its owner, and `check`, which raises if the work is to end."""

    copy: Path
    home: Path
    account: tuple[int, int]
    check: Callable[[], None]


def confine(restored: RestoredHome, work: Callable[[], T]) -> T:
    """Do work in a thread of its own that can read and change only the copy and the folder of the homes: a link that
    leads elsewhere is a PermissionError. What Landlock does not limit, owners and modes, is set through descriptors or
    without following links. Blocks.
    """
    places = [str(restored.copy), str(restored.home.parent)]

    def work_here() -> T:
        restrict_files([*places, *filter(None, sys.path), sys.base_prefix], places)  # modules are imported late
        return work()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work_here).result()


def put_back(restored: RestoredHome, *, dry_run: bool) -> MailCounts:
    """Make the copy the home, which does not exist: with folders, flags, keywords, UIDs, subscriptions and scripts.
    FileExistsError if there is one meanwhile. Blocks.
    """
    counts = MailCounts()
    source = restored.copy / MAILDIR
    draft = restored.home.with_name(restored.home.name + RESTORING_SUFFIX)
    if restored.home.exists():
        raise FileExistsError(errno.EEXIST, "the mailbox has mail", str(restored.home))
    if not dry_run:
        shutil.rmtree(draft, ignore_errors=True)
        _make_folder(draft, restored.account)
        _make_maildir(draft / MAILDIR, restored.account)
    for folder in _folders(source):
        target = draft / MAILDIR / folder
        counts.folders += bool(folder)
        if not dry_run:
            _make_maildir(target, restored.account)
        for path in _messages(source / folder):
            restored.check()
            counts.messages += 1
            counts.bytes += path.stat().st_size
            if not dry_run:
                _place(path, target / path.parent.name / path.name, restored.account)
        for path in () if dry_run else _state_files(source / folder):
            _place(path, target / path.name, restored.account)
        if not dry_run:
            for part in _PARTS:
                sync_folder(target / part)
    if not dry_run:
        _put_back_scripts(restored, draft)
        failpoint.reach("restores.home_written")
        sync_folder(draft / MAILDIR)
        sync_folder(draft)
        if restored.home.exists():
            raise FileExistsError(errno.EEXIST, "the mailbox has mail", str(restored.home))
        draft.rename(restored.home)
        sync_folder(restored.home.parent)
    return counts


def add_missing(restored: RestoredHome, into: str, *, dry_run: bool) -> MailCounts:
    """Add the messages of the copy that the live home lacks, comparing SHA-256 and folder. `into`: the name of the
    folder that gets them, with the copy's folders below it; empty: each goes to its own folder. Blocks.
    """
    live, source = restored.home / MAILDIR, restored.copy / MAILDIR
    counts, known = MailCounts(), set[bytes]()
    in_live = {folder: _digests(live / folder, restored.check) for folder in _folders(live)}
    for folder in _folders(source):
        target = _target_name(folder, into)
        there = Counter(in_live.get(target, Counter[bytes]()))
        missing: list[Path] = []
        for path in _messages(source / folder):
            restored.check()
            digest = _digest(path)
            known.add(digest)
            if there[digest] > 0:
                there[digest] -= 1
                counts.present += 1
            else:
                missing.append(path)
        if not missing:
            continue
        counts.folders += target not in in_live
        counts.messages += len(missing)
        counts.bytes += sum(path.stat().st_size for path in missing)
        if not dry_run:
            _add(restored, missing, live / target, source / folder)
            in_live.setdefault(target, Counter[bytes]())
    counts.newer = sum(count for digests in in_live.values() for each, count in digests.items() if each not in known)
    return counts


def _target_name(folder: str, into: str) -> str:
    """The folder of the live Maildir for a folder of the copy."""
    if not into:
        return folder
    name = f".{into}{folder}"
    return name if len(os.fsencode(name)) <= _LONGEST_NAME else f".{into}"


def _add(restored: RestoredHome, paths: list[Path], target: Path, source: Path) -> None:
    is_new = not target.is_dir()
    _make_maildir(target, restored.account)
    if is_new and target.name.startswith("."):
        _create_file(target / "maildirfolder", restored.account)
        _subscribe(target.parent, target.name, restored.account)
    used = {letter for path in paths for letter in _flags(path) if letter.islower()}
    keywords = _Keywords.for_folders(source, target, restored.account, used)
    for path in paths:
        restored.check()
        flags = "".join(sorted(set(keywords.translate(_flags(path)))))
        size = path.stat().st_size
        name = f"{int(path.stat().st_mtime)}.R{secrets.token_hex(10)}.restored,S={size}"
        place = target / "new" / name if path.parent.name == "new" else target / "cur" / f"{name}:2,{flags}"
        _place(path, place, restored.account, through=target / "tmp" / name)
        failpoint.reach("restores.message_written")
    for part in _PARTS:
        sync_folder(target / part)


def _flags(path: Path) -> str:
    flags = path.name.rpartition(":2,")[2] if ":2," in path.name else ""
    return flags if _FLAGS.fullmatch(flags) else ""


@dataclass(slots=True)
class _Keywords:
    """The letters that keywords have in a live folder, by those that they have in its copy."""

    letters: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def for_folders(cls, source: Path, target: Path, account: tuple[int, int], used: set[str]) -> _Keywords:
        """Add the keywords that the messages use to those of the live folder. Those that find no place are dropped."""
        names = _read_keywords(source / "dovecot-keywords")
        wanted = {names[number] for number in names if chr(ord("a") + number) in used}
        if not wanted:
            return cls()
        with _hold_lock(target / "dovecot-keywords", account) as replace:
            there = _read_keywords(target / "dovecot-keywords")
            for name in sorted(wanted - set(there.values())):
                free = [number for number in range(_KEYWORDS) if number not in there]
                if free:
                    there[free[0]] = name
            replace("".join(f"{number} {there[number]}\n" for number in sorted(there)))
        numbers = {name: number for number, name in there.items()}
        return cls(
            {chr(ord("a") + number): chr(ord("a") + numbers[name]) for number, name in names.items() if name in numbers}
        )

    def translate(self, flags: str) -> str:
        """The flags of a message in the live folder."""
        return "".join(self.letters.get(flag, "") if flag.islower() else flag for flag in flags)


def _read_keywords(path: Path) -> dict[int, str]:
    found: dict[int, str] = {}
    with contextlib.suppress(FileNotFoundError):
        for line in path.read_text("utf-8", "replace").splitlines():
            number, _, name = line.partition(" ")
            if number.isdecimal() and int(number) < _KEYWORDS and name and name.isprintable():
                found[int(number)] = name
    return found


def _subscribe(maildir: Path, folder: str, account: tuple[int, int]) -> None:
    """Subscribe to a folder, so that mail programs show it."""
    path = maildir / "subscriptions"
    parts = folder.removeprefix(".").split(".")
    with _hold_lock(path, account) as replace:
        text = path.read_text("utf-8", "replace") if path.exists() else "V\t2\n\n"
        line = ("\t" if text.startswith("V\t2\n") else ".").join(parts)
        if line not in text.splitlines():
            replace(text + line + "\n")


@contextlib.contextmanager
def _hold_lock(path: Path, account: tuple[int, int]) -> Generator[Callable[[str], None]]:
    """Hold Dovecot's lock file of this file. The function that is yielded replaces the file's content."""
    lock = path.with_name(path.name + ".lock")
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            break
        except FileExistsError:
            if time.monotonic() > deadline:
                raise TimeoutError(errno.EAGAIN, "Dovecot has locked the file for too long", str(path)) from None
            time.sleep(0.05)

    def replace(text: str) -> None:
        os.write(descriptor, text.encode())
        os.fchown(descriptor, *account)
        os.fsync(descriptor)
        lock.rename(path)

    try:
        yield replace
    finally:
        os.close(descriptor)
        lock.unlink(missing_ok=True)


def _put_back_scripts(restored: RestoredHome, draft: Path) -> None:
    scripts = restored.copy / _SCRIPTS
    if not scripts.is_dir():
        return
    _make_folder(draft / _SCRIPTS, restored.account)
    with os.scandir(scripts) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.name.endswith(_SCRIPT_SUFFIX):
                _place(Path(entry.path), draft / _SCRIPTS / entry.name, restored.account)
    active = restored.copy / ACTIVE_SCRIPT
    if active.is_file():
        shutil.copyfile(active, draft / ACTIVE_SCRIPT)
        link_active_script(draft)


def _folders(maildir: Path) -> list[str]:
    """The folders of a Maildir by the names of their directories, first INBOX (empty)."""
    try:
        with os.scandir(maildir) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return ["", *sorted(name for name in names if name.startswith("."))]


def _messages(folder: Path) -> Iterator[Path]:
    for part in _PARTS:
        with contextlib.suppress(FileNotFoundError), os.scandir(folder / part) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)


def _state_files(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.is_file(follow_symlinks=False)
            and (entry.name in _STATE or entry.name.startswith(_STATE_PREFIX))
            and not entry.name.endswith(".lock")
        ]


def _digests(folder: Path, check: Callable[[], None]) -> Counter[bytes]:
    """The SHA-256 of each message of a live folder. One that is renamed or expunged meanwhile is looked for again."""
    found: dict[str, bytes] = {}
    for _ in range(2):
        for path in _messages(folder):
            check()
            base = path.name.partition(":")[0]
            if base not in found:
                with contextlib.suppress(FileNotFoundError):
                    found[base] = _digest(path)
    return Counter(found.values())


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.digest()


def _make_maildir(folder: Path, account: tuple[int, int]) -> None:
    for path in (folder, folder / "tmp", folder / "new", folder / "cur"):
        _make_folder(path, account)


def _make_folder(path: Path, account: tuple[int, int]) -> None:
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        os.chown(path, *account, follow_symlinks=False)


def _create_file(path: Path, account: tuple[int, int]) -> None:
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchown(descriptor, *account)
        finally:
            os.close(descriptor)


def _place(source: Path, target: Path, account: tuple[int, int], through: Path | None = None) -> None:
    """Move a file of the copy to its place, synced, or copy it if that is another file system."""
    with open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        os.fchmod(file.fileno(), 0o600)
        os.fchown(file.fileno(), *account)
        os.fsync(file.fileno())
        try:
            source.rename(target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        draft, status = through or target, os.fstat(file.fileno())
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "wb") as copy:  # noqa: PTH123 - a descriptor
            shutil.copyfileobj(file, copy, _CHUNK)
            copy.flush()
            os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fchown(copy.fileno(), *account)
            os.fsync(copy.fileno())
        draft.rename(target)
