"""Delivers into a Maildir, atomically and durably, and only once for each delivery ID; moves a message to another one.

The file is written to `tmp`, synced and renamed into `new`, and the folder synced
(https://cr.yp.to/proto/maildir.html). Its name is `<delivery id>.<host>,S=<size>`, so that a retry after a crash finds
the first copy: in `new`, or in `cur` with any flags. S= is the size (Maildir++).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core import failpoint
from mailkeep.mail.message.content_file import sync_folder

JUNK_FOLDER = ".Junk"
"""The folder Junk of a Maildir (Maildir++)."""
_MOVE_ATTEMPTS = 10
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")


@dataclass(frozen=True, slots=True)
class MaildirDelivery:
    """The file of the delivered message, its size in bytes, and whether this call wrote it (`is_new`)."""

    path: Path
    size: int
    is_new: bool


def deliver(
    maildir: Path,
    content: Iterable[bytes],
    *,
    delivery_id: str,
    host: str = "localhost",
    first_try: bool = False,
) -> MaildirDelivery:
    """Write a message into the Maildir, unless it has it already. Creates missing folders (0700, the file 0600).
    Blocks: call it in a thread.

    Only the first 64 characters of `host` are used. `first_try`: this ID can't have been delivered before, so that
    `cur` is not searched. Raises OSError, for example if the disk is full (the file is removed then), and ValueError
    for an invalid ID or host.
    """
    host = host[:64]
    if not _ID.fullmatch(delivery_id) or not _HOST.fullmatch(host):
        raise ValueError(f"not valid in a Maildir file name: {delivery_id!r}, {host!r}")
    if not first_try and (earlier := find(maildir, delivery_id)):
        return MaildirDelivery(earlier, earlier.stat().st_size, is_new=False)
    _create_folders(maildir)
    temporary = maildir / "tmp" / f"{delivery_id}.{os.urandom(6).hex()}.{host}"
    try:
        size = _write(temporary, content)
        path = maildir / "new" / f"{delivery_id}.{host},S={size}"
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(maildir / "new")
    return MaildirDelivery(path, size, is_new=True)


def find(maildir: Path, delivery_id: str) -> Path | None:
    """The file of a delivered message, in `new` or `cur`; None if the Maildir does not have it. Blocks."""
    if not _ID.fullmatch(delivery_id):
        return None
    prefix = f"{delivery_id}."
    for folder in ("new", "cur"):
        try:
            with os.scandir(maildir / folder) as entries:
                path = next((Path(entry.path) for entry in entries if entry.name.startswith(prefix)), None)
        except FileNotFoundError:
            continue
        if path:
            return path
    return None


def list_deliveries(maildir: Path) -> set[str]:
    """The delivery IDs of the messages in a Maildir, without subfolders. Blocks."""
    ids: set[str] = set()
    for folder in ("new", "cur"):
        with suppress(FileNotFoundError), os.scandir(maildir / folder) as entries:
            ids.update(entry.name.partition(".")[0] for entry in entries)
    return ids


def move(delivery_id: str, source: Path, target: Path) -> bool:
    """Move a delivered message to another Maildir on the same file system, with its flags; False if it is not in
    `source` (any more). One of several concurrent calls moves it. Blocks. Raises OSError.
    """
    for _ in range(_MOVE_ATTEMPTS):
        path = find(source, delivery_id)
        if path is None:
            return False
        _create_folders(target)
        try:
            path.rename(target / path.parent.name / path.name)
        except FileNotFoundError:
            continue  # moved, or renamed because its flags changed
        sync_folder(target / path.parent.name)
        sync_folder(path.parent)
        return True
    return False


def junk_folder(folder: Path) -> Path:
    """The Junk folder of a Maildir, created if needed; the empty file marks it as one (Maildir++). Blocks."""
    junk = folder / JUNK_FOLDER
    if not junk.exists():
        junk.mkdir(mode=0o700, parents=True, exist_ok=True)
        (junk / "maildirfolder").touch(mode=0o600)
    return junk


def remove_stale(maildir: Path, before: float) -> int:
    """Delete files of crashed deliveries in `tmp` that are older than `before`. Returns their number.

    `before` is a Unix time, by convention 36 hours ago.
    """
    removed = 0
    try:
        with os.scandir(maildir / "tmp") as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    Path(entry.path).unlink(missing_ok=True)
                    removed += 1
    except FileNotFoundError:
        pass
    return removed


def _create_folders(maildir: Path) -> None:
    if (maildir / "new").is_dir() and (maildir / "tmp").is_dir() and (maildir / "cur").is_dir():
        return
    missing = [folder for folder in (maildir, *maildir.parents) if not folder.exists()]
    for folder in (*reversed(missing), *(maildir / name for name in ("tmp", "cur", "new"))):
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def _write(path: Path, content: Iterable[bytes]) -> int:
    """Write and sync the file. Returns its size in bytes."""
    size = 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
        for chunk in content:
            view = memoryview(chunk)
            while view:
                written = file.write(view)
                view = view[written:]
                size += written
            failpoint.reach("maildir.writing")
        os.fsync(descriptor)
    return size


def measure(maildir: Path) -> tuple[int, int, int]:
    """The messages of a Maildir without subfolders, how many of them are unseen, and their size in bytes. Blocks."""
    messages = unseen = size = 0
    for name in ("new", "cur"):
        with suppress(FileNotFoundError), os.scandir(maildir / name) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # a message that has just moved or gone
                    size += entry.stat().st_size
                    messages += 1
                    unseen += "S" not in entry.name.rpartition(":2,")[2] if ":2," in entry.name else 1
    return messages, unseen, size
