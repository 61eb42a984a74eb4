"""Directories for what tests start: in memory if there is enough, because databases and mail servers wait for the disk
at every commit and message.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

MEMORY = Path("/dev/shm")
_MIN_FREE_BYTES = 2 << 30


def new_directory(prefix: str, mode: int, *, programs: bool = False) -> Path:
    """Create a directory with this mode, outside pytest's, which other accounts can't enter.

    `programs`: for an instance of the full profile, or other programs.
    """
    place = Path("/tmp")
    if has_memory():
        place = _mounted() if programs else MEMORY
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    path.chmod(mode)
    return path


def has_memory(*, programs: bool = False) -> bool:
    """Whether /dev/shm can be used, with `programs` also to run them."""
    if not os.access(MEMORY, os.W_OK):
        return False
    found = os.statvfs(MEMORY)
    if programs and found.f_flag & os.ST_NOEXEC:
        return False
    return min(found.f_bavail * found.f_frsize, _available_bytes()) > _MIN_FREE_BYTES


def _available_bytes() -> int:
    """What the machine has left."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


@cache
def _mounted() -> Path:
    """A file system in memory of this process; /tmp, if it can't have one.

    /dev/shm may have `noexec`, and Postfix rotates no log below /dev.
    """
    path = Path(tempfile.mkdtemp(prefix="memory-", dir="/tmp"))
    command = ["mount", "-t", "tmpfs", "-o", "mode=755,size=50%", "tmpfs", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        path.rmdir()
        return Path("/tmp")
    atexit.register(_unmount, path, os.getpid())
    return path


def _unmount(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        subprocess.run(["umount", "--lazy", str(path)], check=False)
        path.rmdir()
