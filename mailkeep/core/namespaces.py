"""System calls for namespaces and mounts (unshare(2), mount(2), mount_setattr(2)). They raise OSError."""

from __future__ import annotations

import ctypes
import os

# linux/sched.h, linux/mount.h, asm/unistd.h
NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
_MOUNT_SETATTR, _AT_RECURSIVE = 442, 0x8000

LIBRARY = ctypes.CDLL(None, use_errno=True)


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount a file system, or change a mount (mount(2))."""
    values = [value.encode() if value is not None else None for value in (source, target, kind, options)]
    check(LIBRARY.mount(values[0], values[1], values[2], ctypes.c_ulong(flags), values[3]), f"mount {target}")


def set_attributes(path: str, attributes: int) -> None:
    """Set attributes of the mounts at and below a path."""
    request = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    result = LIBRARY.syscall(_MOUNT_SETATTR, -1, path.encode(), _AT_RECURSIVE, request, ctypes.sizeof(request))
    check(result, "mount_setattr")


def check(result: int, call: str) -> None:
    """OSError, with the name of the call, if its result is an error."""
    if result != 0:
        raise OSError(f"{call}: {os.strerror(ctypes.get_errno())}")
