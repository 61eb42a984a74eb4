"""Reads the folders that a backup is made of. They belong to other accounts (Dovecot's, Postfix's, the filter's), which
may exchange a folder or a file for a link at any time, while root copies.

Therefore each folder is opened from its parent's descriptor and never through a symbolic link; a file is looked at
after it was opened or linked; and a file of another account that also has a name elsewhere (a hard link) is left out,
as is one that is nearly all hole, which would fill the disk when it is copied, and take days to read.
Targets are in the stage, which only root can enter.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

log = structlog.get_logger("mailkeep.backups")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TARGET = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
# It has gone, or is something else by now.
_CHANGED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ESTALE})
_SPECIAL_MODE = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_DEEPEST = 12  # so that no path in the stage is too long
_CHUNK = 1 << 20
# Compression in the file system does not make real files that small.
_HOLLOW_BYTES, _HOLLOW_RATIO = 1 << 30, 64


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """An open folder, with its owner. `path` is for messages only: something else may be there by now."""

    path: Path
    descriptor: int
    uid: int


@contextlib.contextmanager
def open_top(path: Path) -> Generator[SourceFolder | None]:
    """Open a folder whose parents only root can change; it may be a link to another disk. None if it is missing."""
    with _open(path, str(path), _FOLDER) as folder:
        yield folder


@contextlib.contextmanager
def open_below(parent: SourceFolder, name: str) -> Generator[SourceFolder | None]:
    """Open a folder in another one; None if it is missing or not a folder."""
    with _open(parent.path / name, name, _FOLDER | os.O_NOFOLLOW, parent.descriptor) as folder:
        yield folder


def list_files(folder: SourceFolder) -> list[tuple[str, int]]:
    """The names of the plain files in a folder, with their inodes."""
    with os.scandir(folder.descriptor) as entries:
        found = [(entry.name, entry.inode()) for entry in entries if entry.is_file(follow_symlinks=False)]
    return [each for each in found if _has_usable_name(folder, each[0])]


def list_folders(folder: SourceFolder) -> list[str]:
    """The names of the folders in a folder, sorted."""
    with os.scandir(folder.descriptor) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return [name for name in names if _has_usable_name(folder, name)]


def walk(folder: SourceFolder, skip: Collection[str] = ()) -> Iterator[tuple[SourceFolder, str, Path]]:
    """Each plain file below a folder: its folder, its name, and its path from the top. `skip`: names at the top."""
    yield from _walk(folder, Path(), skip)


def link_file(folder: SourceFolder, name: str, target: Path) -> bool:
    """Link a file, or copy it where that is not possible. False if it is gone or left out; True if `target` exists."""
    try:
        os.link(name, target, src_dir_fd=folder.descriptor, follow_symlinks=False)
    except FileExistsError:
        return True
    except FileNotFoundError:
        return False
    except OSError:  # another file system, or too many links
        return target.exists() or copy_file(folder, name, target)
    status = target.lstat()
    is_plain = stat.S_ISREG(status.st_mode) and not status.st_mode & _SPECIAL_MODE
    if is_plain and status.st_uid == folder.uid and not _is_hollow(status):
        return True
    target.unlink()
    return copy_file(folder, name, target)


def copy_file(
    folder: SourceFolder, name: str, target: Path, is_wanted: Callable[[os.stat_result], bool] | None = None
) -> bool:
    """Copy a file as long as it is now, with its time and permissions. False if it is gone, not wanted or left out."""
    try:
        found = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):  # to open a FIFO or a device does something
            return False
        source = os.open(name, _FILE, dir_fd=folder.descriptor)
    except OSError as error:
        if error.errno in _CHANGED:
            return False
        raise
    with open(source, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode) or (is_wanted and not is_wanted(status)):
            return False
        if status.st_uid != folder.uid and status.st_nlink > 1:
            _leave_out(folder, name, "it is another account's, and has a name elsewhere")
            return False
        if _is_hollow(status):
            _leave_out(folder, name, "it is nearly all hole")
            return False
        with open(os.open(target, _TARGET, 0o600), "wb", buffering=0) as copy:  # noqa: PTH123 - a descriptor
            left = status.st_size
            while left and (chunk := file.read(min(left, _CHUNK))):
                copy.write(chunk)
                left -= len(chunk)
            os.fchmod(copy.fileno(), status.st_mode & 0o777)
            os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
    return True


@contextlib.contextmanager
def unless_blocked() -> Generator[None]:
    """Leave out what has no place in the stage, because a folder was there instead of a file before, or the reverse."""
    with contextlib.suppress(FileExistsError, IsADirectoryError, NotADirectoryError):
        yield


@contextlib.contextmanager
def _open(path: Path, name: str, flags: int, parent: int | None = None) -> Generator[SourceFolder | None]:
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except OSError as error:
        if error.errno not in _CHANGED:
            raise
        yield None
        return
    try:
        yield SourceFolder(path, descriptor, os.fstat(descriptor).st_uid)
    finally:
        os.close(descriptor)


def _walk(folder: SourceFolder, path: Path, skip: Collection[str]) -> Iterator[tuple[SourceFolder, str, Path]]:
    for name, _ in list_files(folder):
        if name not in skip:
            yield folder, name, path / name
    for name in list_folders(folder):
        if name in skip:
            continue
        if len(path.parts) >= _DEEPEST:
            _leave_out(folder, name, "it is too deep")
            continue
        with open_below(folder, name) as inner:
            if inner:
                yield from _walk(inner, path / name, ())


def _has_usable_name(folder: SourceFolder, name: str) -> bool:
    """Whether a name is valid UTF-8, as all that Dovecot and Postfix give are: an index can't hold others."""
    try:
        name.encode()
    except UnicodeEncodeError:
        _leave_out(folder, name, "its name is not UTF-8")
        return False
    return True


def _is_hollow(status: os.stat_result) -> bool:
    """Whether a large file has hardly any content on the disk."""
    return status.st_size > _HOLLOW_BYTES and status.st_blocks * 512 < status.st_size // _HOLLOW_RATIO


def _leave_out(folder: SourceFolder, name: str, why: str) -> None:
    log.warning("left out of a backup", path=ascii(str(folder.path / name)), why=why)
