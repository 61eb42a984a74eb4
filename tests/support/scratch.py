"""Where tests put clusters: in memory when there is plenty, since making and copying them is all writing."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_PLENTY = 2 << 30


def new_directory(prefix: str, mode: int, *, programs: bool = False) -> Path:
    """A new directory of this mode, not below pytest's own (closed to other accounts).

    With `programs` it lies where programs may be run from, which memory often forbids (noexec).
    """
    roomy = not programs and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _PLENTY
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=_MEMORY if roomy else "/tmp"))
    path.chmod(mode)
    return path
