"""Directories for database clusters: in memory if there is enough, because creating clusters mostly writes to disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2 << 30


def new_directory(prefix: str, mode: int, *, programs: bool = False) -> Path:
    """Create a directory with this mode, outside pytest's, which other accounts can't enter.

    `programs`: on a file system without `noexec`, which /dev/shm often has.
    """
    use_memory = not programs and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MIN_FREE_BYTES
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=_MEMORY if use_memory else "/tmp"))
    path.chmod(mode)
    return path
