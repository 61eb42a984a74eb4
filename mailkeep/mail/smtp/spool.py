"""Where a message lies while it is received: in memory while it is small, then in an unnamed file.

The file is gone when nobody holds it any more, also by a crash: what must last is the handler's to write and
sync.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

CHUNK = 256 * 1024


class _UnnamedFile:
    """Closed with its last reference, so that no thread can find another file behind its number."""

    __slots__ = ("number",)

    def __init__(self, folder: Path | None) -> None:
        self.number = -1
        where = folder or Path(tempfile.gettempdir())
        try:
            self.number = os.open(where, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            # Some file systems (overlay, NFS) know no O_TMPFILE.
            self.number, name = tempfile.mkstemp(dir=where, prefix="spool-")
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
    """A whole message as it was sent: CRLF line ends, dots unstuffed."""

    __slots__ = ("_content", "_file", "size")

    def __init__(self, content: bytes, file: _UnnamedFile | None, size: int) -> None:
        self._content = content
        self._file = file
        self.size = size

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """The content from its start in pieces of at most `size` bytes; blocking when it lies in a file.

        Any number of iterators may run, in any thread.
        """
        if self._file is None and size >= self.size:
            yield self._content
            return
        for start in range(0, self.size, size):
            yield self._read(min(size, self.size - start), start)

    def head(self, max_bytes: int) -> bytes:
        """The first `max_bytes` of the content, or all of it if it is shorter."""
        return self._read(min(max_bytes, self.size), 0)

    @property
    def in_memory(self) -> bool:
        """Whether reading it touches no file."""
        return self._file is None

    def _read(self, size: int, offset: int) -> bytes:
        if self._file is None:
            return self._content[offset : offset + size]
        return self._file.read(size, offset)


class Spool:
    """Collects a message. `write` never blocks; `spill` does, and is due when `full`."""

    __slots__ = ("_file", "_folder", "_memory", "_parts", "_size", "_spilled")

    def __init__(self, folder: Path | None, memory: int) -> None:
        """`folder` takes the file (None: the system's temporary folder), `memory` is in bytes."""
        self._folder = folder
        self._memory = memory
        self._parts: list[bytes] = []
        self._size = 0
        self._spilled = 0
        self._file: _UnnamedFile | None = None

    def write(self, content: bytes) -> None:
        """Add content, in memory for now."""
        self._parts.append(content)
        self._size += len(content)

    @property
    def is_full(self) -> bool:
        """Whether more lies in memory than may."""
        return self._size - self._spilled > self._memory

    @property
    def has_file(self) -> bool:
        """Whether there is a file: then the last part must be spilled too before `finish`."""
        return self._file is not None

    def spill(self) -> None:
        """Move what lies in memory to the file. Raises OSError (disk full, say)."""
        file = self._file = self._file or _UnnamedFile(self._folder)
        content = b"".join(self._parts)
        self._parts.clear()
        file.append(content)
        self._spilled += len(content)

    def finish(self) -> ReceivedMessage:
        """The message, once all of it is written (and spilled, if any of it was)."""
        return ReceivedMessage(b"".join(self._parts), self._file, self._size)

    def discard(self) -> None:
        """Forget everything; the memory and the file go with their last user."""
        self._parts = []
        self._file = None
