"""Buffers a message while it is received: in memory while it is small, then in an unnamed file.

The file disappears with its last reference, also in a crash. The handler must store the message elsewhere.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHUNK = 256 * 1024


class _UnnamedFile:
    """Closed with its last reference, so that no thread reads another file that got the same descriptor number."""

    __slots__ = ("number",)

    def __init__(self, folder: Path | None) -> None:
        self.number = -1
        directory = folder or Path(tempfile.gettempdir())
        try:
            self.number = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            # Some file systems (overlay, NFS) do not support O_TMPFILE.
            self.number, name = tempfile.mkstemp(dir=directory, prefix="spool-")
            Path(name).unlink()

    def __del__(self) -> None:
        if self.number >= 0:
            os.close(self.number)

    def read(self, size: int, offset: int) -> bytes:
        content = os.pread(self.number, size, offset)
        if len(content) != size:
            raise OSError(f"spool file ends at {offset + len(content)}")
        return content

    def append(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            view = view[os.write(self.number, view) :]


class ReceivedMessage:
    """A complete message: CRLF line ends, without dot-stuffing."""

    __slots__ = ("_content", "_file", "size")

    def __init__(self, content: bytes, file: _UnnamedFile | None, size: int) -> None:
        self._content = content
        self._file = file
        self.size = size

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the content in chunks of at most `size` bytes; blocks if it is in a file.

        Any number of iterators may run at the same time, in any thread.
        """
        if self._file is None and size >= self.size:
            yield self._content
            return
        for start in range(0, self.size, size):
            yield self._read(min(size, self.size - start), start)

    def head(self, max_bytes: int) -> bytes:
        """Return the first `max_bytes` of the content, or all of it if it is shorter."""
        return self._read(min(max_bytes, self.size), 0)

    @property
    def in_memory(self) -> bool:
        """Whether it can be read without file access."""
        return self._file is None

    def _read(self, size: int, offset: int) -> bytes:
        if self._file is None:
            return self._content[offset : offset + size]
        return self._file.read(size, offset)


class Spool:
    """Collects a message. `write` never blocks. `spill` blocks, and is needed when `is_full`."""

    __slots__ = ("_chunks", "_file", "_folder", "_memory", "_size", "_spilled")

    def __init__(self, folder: Path | None, memory: int) -> None:
        """`folder`: of the file (default: the system's temporary folder). `memory`: limit in bytes."""
        self._folder = folder
        self._memory = memory
        self._chunks: list[bytes] = []
        self._size = 0
        self._spilled = 0
        self._file: _UnnamedFile | None = None

    def write(self, content: bytes) -> None:
        """Add content in memory."""
        self._chunks.append(content)
        self._size += len(content)

    @property
    def is_full(self) -> bool:
        """Whether the content in memory exceeds the limit."""
        return self._size - self._spilled > self._memory

    @property
    def has_file(self) -> bool:
        """Whether there is a file: then the last content must be spilled too before `finish`."""
        return self._file is not None

    def spill(self) -> None:
        """Move the content in memory to the file. Raises OSError, for example if the disk is full."""
        file = self._file = self._file or _UnnamedFile(self._folder)
        content = b"".join(self._chunks)
        self._chunks.clear()
        file.append(content)
        self._spilled += len(content)

    def finish(self) -> ReceivedMessage:
        """Return the complete message. If any of it was spilled, all of it must be."""
        return ReceivedMessage(b"".join(self._chunks), self._file, self._size)

    def discard(self) -> None:
        """Release the content. Its last reference frees memory and file."""
        self._chunks = []
        self._file = None
