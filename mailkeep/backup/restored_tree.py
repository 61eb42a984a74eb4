"""Restores a snapshot whose content is not trusted, and checks what came of it.

Whoever can write to the repository chooses the names, types and modes of what restic restores. restic therefore runs
confined: it can write only to the target and its cache, creates nothing but files and folders, and has no capability
for devices. Afterwards the tree is refused unless it has only plain files and folders, with the names of the layout.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from mailkeep.backup.layout import DATABASE, ENTRIES, INDEX, MAIL, MANIFEST
from mailkeep.backup.restic import Repository, Snapshot
from mailkeep.core import confinement
from mailkeep.core.errors import Failure
from mailkeep.core.landlock import MIN_VERSION, find_version

FREE_BYTES = 256 << 20
"""What a restore leaves free of the file system, so that the server's own work continues."""

_CHOWN, _DAC_OVERRIDE, _FOWNER = 0, 1, 3  # linux/capability.h: to give files the owners that they had
_LAUNCH_FAILED = 125
_MAX_DEPTH = 64
_PATTERN_CHARACTERS = frozenset("\\*?[]")
_SPECIAL_MODE = stat.S_ISUID | stat.S_ISGID

# -I ignores the environment and the working directory, -S the installed packages.
_LAUNCHER = f"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
try:
    from mailkeep.core.confinement import end_with_parent, limit_capabilities
    from mailkeep.core.landlock import restrict_files
    plan = json.loads(sys.argv[2])
    os.umask(0o077)
    restrict_files(("/",), ("/dev/null", *plan["writable"]), may_make_special=False)
    limit_capabilities(plan["capabilities"])
    end_with_parent(plan["parent"])
    os.execv(sys.argv[3], sys.argv[3:])
except BaseException as error:
    os.write(2, ("restic can't be confined: " + repr(error)).encode())
    os._exit({_LAUNCH_FAILED})
"""


class HostileSnapshot(Failure):
    """The snapshot has something that no backup of Mailkeep contains."""


@dataclass(frozen=True, slots=True)
class TreeSize:
    """The number of files in a tree, and their bytes."""

    files: int
    bytes: int


async def restore_tree(
    repository: Repository,
    snapshot: Snapshot,
    target: Path,
    include: Sequence[str] = (),
    report: Callable[[int], Awaitable[None]] | None = None,
    check: Callable[[Path], object] | None = None,
) -> Path:
    """Restore a snapshot into `target`, which is created, check the result and return the folder with its entries.
    `check` raises HostileSnapshot, by default `check_tree`.

    `include`: entries, or paths below them (`mail/ID`); the manifest is always included. `report` gets once a second
    how many bytes the file system has taken so far; what it raises ends restic. HostileSnapshot if the tree is refused;
    Failure, also when the disk becomes full. The caller removes the target by `remove_tree`, also after an error.
    """
    if find_version() < MIN_VERSION:
        raise Failure(
            "Backups are restored only where Landlock confines restic: Linux 5.19 or later, with `landlock` in the "
            "kernel's parameter `lsm`.",
            permanent=True,
        )
    target.mkdir(mode=0o700)
    target = target.resolve()
    root = _root_of(snapshot)
    patterns = [_escape(f"{root}/{path}") for path in (MANIFEST, *include)] if include else []
    repository.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    launcher = _launcher([target, repository.cache.resolve()])
    restore = asyncio.create_task(repository.restore(snapshot.id, target, patterns, launcher))
    try:
        await _watch(restore, target, report)
    finally:
        restore.cancel()
        await asyncio.wait([restore])
    restore.result()
    folder = target / root.lstrip("/")
    await asyncio.to_thread(_check_parents, target, folder)
    await asyncio.to_thread(check or check_tree, folder)
    return folder


def check_tree(folder: Path) -> TreeSize:
    """Check a restored folder and return its size. HostileSnapshot if it has an entry that is not in the layout, or
    anything but plain files and folders: a link, a device, a FIFO, a socket, a file with the set-user-ID bit, or a file
    that has a name outside of it. Blocks.
    """
    walk = _Walk()
    for name, status in walk.scan(folder, ""):
        if name not in ENTRIES:
            raise HostileSnapshot(f"The snapshot has an entry that is not Mailkeep's: {name!r}.", permanent=True)
        if stat.S_ISDIR(status.st_mode) == (name in (MANIFEST, INDEX)):
            raise HostileSnapshot(f"The snapshot's {name} is of the wrong type.", permanent=True)
    mail = folder / MAIL
    for name in os.listdir(mail) if mail.is_dir() else ():  # noqa: PTH208 - names
        if not _is_mailbox(mail, name):
            raise HostileSnapshot(f"The snapshot has mail in a folder that is no mailbox: {name!r}.", permanent=True)
    if (folder / DATABASE / "tablespace_map").exists():
        raise HostileSnapshot("The copy of the database has tablespaces, which Mailkeep does not use.", permanent=True)
    while walk.folders:
        for _entry in walk.scan(*walk.folders.pop()):
            pass
    if walk.linked:
        raise HostileSnapshot("The snapshot has a file with a name outside of it (hard link).", permanent=True)
    return TreeSize(walk.files, walk.bytes)


def remove_tree(path: Path) -> None:
    """Remove a folder with everything in it, whatever its modes and depth; nothing if it is missing. Follows no link.
    Blocks. Failure if it can't be removed.
    """
    if not os.path.lexists(path):
        return
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    # Root needs no modes, and chmod may follow a link that another account puts in the place of a folder.
    if os.geteuid() and not path.is_symlink():
        chmod = ["chmod", "-R", "u+rwX", "--", str(path)]
        subprocess.run(chmod, capture_output=True, check=False, env=environment, cwd="/")
    remove = ["rm", "-rf", "--one-file-system", "--", str(path)]
    done = subprocess.run(remove, capture_output=True, check=False, env=environment, cwd="/")
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Failure(f"{path} can't be removed: {reason}")


@dataclass(slots=True)
class _Walk:
    """Looks at each entry of a tree once. `linked`: of files with several names, how many have not been seen."""

    files: int = 0
    bytes: int = 0
    folders: list[tuple[Path, str]] = field(default_factory=list[tuple[Path, str]])
    linked: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def scan(self, folder: Path, shown: str) -> list[tuple[str, os.stat_result]]:
        """Check the entries of a folder, and note its folders for later. `shown`: its path in messages."""
        found: list[tuple[str, os.stat_result]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = f"{shown}/{entry.name}".lstrip("/")
                    status = entry.stat(follow_symlinks=False)
                    self._check(path, status)
                    if stat.S_ISDIR(status.st_mode):
                        self.folders.append((folder / entry.name, path))
                    if not shown:
                        found.append((entry.name, status))
        except OSError as error:
            raise HostileSnapshot(
                f"A folder of the snapshot can't be read: {shown!r}: {error.strerror}.", permanent=True
            ) from None
        return found

    def _check(self, path: str, status: os.stat_result) -> None:
        if stat.S_ISDIR(status.st_mode):
            if path.count("/") > _MAX_DEPTH:
                raise HostileSnapshot("The snapshot has more folders in each other than any mailbox.", permanent=True)
            return
        if not stat.S_ISREG(status.st_mode):
            kind = stat.filemode(status.st_mode)[0]
            raise HostileSnapshot(f"The snapshot has something else than a file: {path!r} ({kind}).", permanent=True)
        if status.st_mode & _SPECIAL_MODE:
            raise HostileSnapshot(f"The snapshot has a file with a set-user-ID bit: {path!r}.", permanent=True)
        if status.st_nlink > 1:
            key = (status.st_dev, status.st_ino)
            left = self.linked.get(key, status.st_nlink) - 1
            if left:
                self.linked[key] = left
            else:
                del self.linked[key]
        self.files += 1
        self.bytes += status.st_size


def _is_mailbox(mail: Path, name: str) -> bool:
    try:
        return str(UUID(name)) == name and (mail / name).is_dir()
    except ValueError:
        return False


def _root_of(snapshot: Snapshot) -> str:
    """The path that the snapshot was made of."""
    path = snapshot.paths[0] if len(snapshot.paths) == 1 else ""
    if not path.startswith("/") or path != os.path.normpath(path) or path in ("/", "//") or "\0" in path:
        raise HostileSnapshot("The snapshot was not made of one folder.", permanent=True)
    return path


def _escape(pattern: str) -> str:
    return "".join(f"\\{character}" if character in _PATTERN_CHARACTERS else character for character in pattern)


def _check_parents(target: Path, folder: Path) -> None:
    """Check that only folders, without anything else in them, lead from the target to the folder of the entries."""
    current = target
    for name in folder.relative_to(target).parts:
        try:
            found = os.listdir(current)  # noqa: PTH208 - names
            is_folder = stat.S_ISDIR((current / name).lstat().st_mode)
        except OSError as error:
            raise HostileSnapshot(
                f"The snapshot does not have the folder that it was made of: {error.strerror}.", permanent=True
            ) from None
        if found != [name] or not is_folder:
            raise HostileSnapshot("The snapshot has more than the folder that it was made of.", permanent=True)
        current /= name


def _launcher(writable: Sequence[Path]) -> list[str]:
    plan = {
        "writable": [str(path) for path in writable],
        "capabilities": [_CHOWN, _DAC_OVERRIDE, _FOWNER],
        "parent": os.getpid(),
    }
    package = str(Path(confinement.__file__).parents[2])
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, package, json.dumps(plan)]


async def _watch(restore: asyncio.Task[None], target: Path, report: Callable[[int], Awaitable[None]] | None) -> None:
    """Wait for the end of a restore, and end it when the disk becomes full or `report` raises."""
    before = shutil.disk_usage(target).used
    while not restore.done():
        await asyncio.wait([restore], timeout=1)
        usage = shutil.disk_usage(target)
        if usage.free < FREE_BYTES and not restore.done():
            raise Failure(
                f"The restore was ended, because {target.parent} has less than {FREE_BYTES >> 20} MiB free. "
                "Nothing was changed."
            )
        if report:
            await report(max(0, usage.used - before))
