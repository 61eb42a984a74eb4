"""Message content in files, written atomically and synced."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_CHUNK = 256 << 10


def write(path: Path, chunks: Iterable[bytes | memoryview]) -> int:
    """Write a file, and sync it and its folder. Returns its size in bytes. Blocks: call it in a thread.

    An existing file is replaced only when the new one is complete.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    size = 0
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:  # noqa: PTH123
            for chunk in chunks:
                size += file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return size


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names in it are on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> Iterator[bytes]:
    """Yield the content in chunks of at most 256 KiB."""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def remove(path: Path) -> None:
    """Delete the file, if it exists, and then its folder, if that is empty."""
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
