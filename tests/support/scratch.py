"""Directories for database clusters: in memory if there is enough, because creating and copying clusters is mostly
writing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_PLENTY = 2 << 30


def new_directory(prefix: str, mode: int, *, programs: bool = False) -> Path:
    """A new directory with this mode, outside pytest's own (which other accounts can't enter).

    With `programs` it is on a file system from which programs may be run, which memory often forbids (noexec).
    """
    roomy = not programs and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _PLENTY
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=_MEMORY if roomy else "/tmp"))
    path.chmod(mode)
    return path
