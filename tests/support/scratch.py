"""Directories for what tests start: in memory if there is enough, because databases and mail servers wait for the disk
at every commit and message.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2 << 30


def new_directory(prefix: str, mode: int, *, programs: bool = False) -> Path:
    """Create a directory with this mode, outside pytest's, which other accounts can't enter.

    `programs`: on a file system without `noexec`, which /dev/shm has on some machines.
    """
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if has_memory(programs=programs) else "/tmp"))
    path.chmod(mode)
    return path


def has_memory(*, programs: bool = True) -> bool:
    """Whether /dev/shm can be used; `programs`: also to run them."""
    if not os.access(MEMORY, os.W_OK):
        return False
    found = os.statvfs(MEMORY)
    runs = not programs or not found.f_flag & os.ST_NOEXEC
    return runs and min(found.f_bavail * found.f_frsize, _available_bytes()) > _MIN_FREE_BYTES


def _available_bytes() -> int:
    """What the machine has left."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
