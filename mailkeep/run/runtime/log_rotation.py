"""Rotation of all logs of an instance, by size and age, without losing lines.

`NAME.log` becomes `NAME.log.20261123-135000`, and a new, empty file with the same owner and mode replaces it
atomically. Our own processes and captured output notice that (`db/logged_process`); other daemons get a command
(`reopen`). A rotated file is compressed when no process has it open and, for Postfix's log, `logs` has read all of it.
Compressed files are removed after `log.keep_days`.

Each step can be repeated: a killed process leaves a `.part` file, or a rotated file beside its compressed form, and the
next run completes the step. All state is in the names and times of files.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.rotation")

_CHECK_SECONDS = 30.0
_DAY = 86_400.0
_ROTATED = re.compile(r"\.log\.\d{8}-\d{6}(?:-\d+)?")
_DAILY_MARK = ".rotated"
_COPY_BYTES = 1 << 20

Rotate = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class RotationLimits:
    """A log is rotated once a day and when it reaches `size_bytes`; rotated logs are kept for `keep_seconds`."""

    size_bytes: int
    keep_seconds: float

    @classmethod
    def from_settings(cls, settings: Settings) -> RotationLimits:
        """The limits of the settings."""
        return cls(settings.log.rotate_mb << 20, settings.log.keep_days * _DAY)


async def _always(_: Path) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rotation:
    """The logs in one folder.

    `own_rotation` has the commands for logs that their daemon renames itself, `reopen` those to send a daemon after its
    log was renamed. `read_limits` is called each time. `is_read` says whether a rotated file was read to its end by
    the process that follows it.
    """

    folder: Path
    read_limits: Callable[[], RotationLimits]
    own_rotation: Mapping[str, Rotate]
    reopen: Mapping[str, Rotate]
    is_read: Callable[[Path], Awaitable[bool]] = _always

    async def run(self) -> None:
        """Rotate every 30 seconds, until cancelled."""
        while True:
            try:
                await self.run_once(utc_now().timestamp())
            except Failure as failure:
                log.warning("the logs could not be rotated", reason=str(failure))
            except Exception:
                log.exception("the logs could not be rotated")
            await asyncio.sleep(_CHECK_SECONDS)

    async def run_once(self, now: float) -> None:
        """Rotate logs that are due, compress rotated logs, remove old ones; `now` in seconds since 1970."""
        limits = self.read_limits()
        await asyncio.to_thread(list_rotated, self.folder)  # first removes the leftovers of a killed rotation
        for path in await asyncio.to_thread(list_due, self.folder, limits, now):
            await self._rotate(path, now)
        await self.compress()
        await asyncio.to_thread(remove_old, self.folder, now - limits.keep_seconds)

    async def _rotate(self, path: Path, now: float) -> None:
        if daemon_rotate := self.own_rotation.get(path.name):
            await daemon_rotate()
            return
        await asyncio.to_thread(rotate, path, now)
        if reopen := self.reopen.get(path.name):
            await reopen()

    async def compress(self) -> None:
        """Compress rotated logs that no process has open or must still read."""
        rotated = await asyncio.to_thread(list_rotated, self.folder)
        if not rotated:
            return
        open_files = await asyncio.to_thread(find_open, rotated)
        for path in rotated:
            if path not in open_files and await self.is_read(path):
                await asyncio.to_thread(compress, path)


def for_database(data_dir: Path, read_settings: Callable[[], Settings]) -> Rotation:
    """The rotation for an embedded instance, whose only log is that of the private database server."""
    return Rotation(data_dir / "log", lambda: RotationLimits.from_settings(read_settings()), {}, {})


def list_due(folder: Path, limits: RotationLimits, now: float) -> list[Path]:
    """The logs to rotate now: the large ones, and once a day all that are not empty. Blocks."""
    sizes = {path: path.stat().st_size for path in sorted(folder.glob("*.log")) if path.is_file()}
    mark = folder / _DAILY_MARK
    try:
        daily = now - mark.stat().st_mtime >= _DAY
    except FileNotFoundError:
        daily = False
        _set_mark(mark, now)
    if daily:
        _set_mark(mark, now)
    return [path for path, size in sizes.items() if size >= limits.size_bytes or (daily and size)]


def _set_mark(mark: Path, now: float) -> None:
    mark.touch(0o600)
    os.utime(mark, (now, now))


def rotate(path: Path, now: float) -> Path:
    """Replace a log by an empty file with the same owner and mode; returns the new path of the old one. Blocks.

    The path exists at every moment: processes may not have the right to create it.
    """
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
    status = path.stat()
    old = _link(path, stamp)
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        if os.geteuid() == 0:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, status.st_mode & 0o7777)
    finally:
        os.close(descriptor)
    draft.replace(path)
    return old


def _link(path: Path, stamp: str) -> Path:
    for number in range(1000):
        old = path.with_name(f"{path.name}.{stamp}" + (f"-{number}" if number else ""))
        with suppress(FileExistsError):
            os.link(path, old)
            return old
    raise Failure(f"{path}: a thousand rotations within one second")


def list_rotated(folder: Path) -> list[Path]:
    """Logs that are rotated and not compressed, oldest first; removes the leftovers of killed steps. Blocks."""
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)
    names: list[Path] = []
    for path in sorted(folder.iterdir()):
        if (match := _ROTATED.search(path.name)) and match.end() == len(path.name):
            with suppress(FileNotFoundError):  # a killed rotation leaves a second name of the current log
                current = path.with_name(path.name[: match.start()] + ".log")
                if current.exists() and current.samefile(path):
                    path.unlink()
                    continue
            names.append(path)
    return names


def find_open(paths: Sequence[Path]) -> Collection[Path]:
    """Those of these files that a process has open, as far as this account can see. Blocks."""
    by_inode: dict[tuple[int, int], Path] = {}
    for path in paths:
        with suppress(FileNotFoundError):
            status = path.stat()
            by_inode[status.st_dev, status.st_ino] = path
    in_use: set[Path] = set()
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):  # another account's process, or it has exited
            for descriptor in folder.iterdir():
                with suppress(OSError):
                    status = descriptor.stat()
                    if path := by_inode.get((status.st_dev, status.st_ino)):
                        in_use.add(path)
    return in_use


def compress(path: Path) -> None:
    """Replace a rotated file by its compressed form, with its owner, mode and time. Blocks."""
    status = path.stat()
    target = path.with_name(path.name + ".gz")
    part = path.with_name(f".{path.name}.part")
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with path.open("rb") as source, os.fdopen(descriptor, "wb") as target_file:
            with gzip.GzipFile(path.name, "wb", 6, target_file, status.st_mtime) as compressed:
                shutil.copyfileobj(source, compressed, _COPY_BYTES)
            target_file.flush()
            if os.geteuid() == 0:
                os.fchown(target_file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(target_file.fileno(), status.st_mode & 0o7777)
            os.fsync(target_file.fileno())
        os.utime(part, (status.st_mtime, status.st_mtime))
        part.replace(target)
        path.unlink()
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Failure(f"{path} could not be compressed: {error.strerror}") from error


def remove_old(folder: Path, before: float) -> None:
    """Remove compressed logs that were last written before this time. Blocks."""
    for path in folder.glob("*.log.*.gz"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
