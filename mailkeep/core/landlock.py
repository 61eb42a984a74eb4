"""Landlock: limits this process, and the programs that it runs, to some files (landlock(7)). Needs no privileges."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence

# linux/landlock.h; the numbers of the system calls are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _RULE_PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # by the version that added them
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE  # what a rule for a file may allow
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MAKE_SPECIAL = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12  # character devices, sockets, FIFOs, block devices, links

MIN_VERSION = 2
"""Linux 5.19. The first version can't allow a program to rename a file into another folder."""


def find_version() -> int:
    """The version of Landlock in this kernel; 0 without it."""
    return max(0, _library().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG))


def restrict_files(readable: Sequence[str], writable: Sequence[str], *, may_make_special: bool = True) -> None:
    """Allow this process to read and execute only what is at or below `readable`, and to change only what is at or
    below `writable`, irrevocably. Paths that do not exist are skipped. What is open stays open.

    Without `may_make_special` it can create files and folders, but no symbolic links, devices, sockets and FIFOs.
    Raises OSError if the kernel refuses.
    """
    library = _library()
    handled = max(rights for version, rights in _ALL.items() if version <= find_version())
    attributes = struct.pack("Q", handled)
    ruleset = _check(library.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    to_write = handled & ~_EXECUTE & (~0 if may_make_special else ~_MAKE_SPECIAL)
    for paths, rights in ((readable, _READ), (writable, to_write)):
        for path in paths:
            _allow(library, ruleset, path, rights & handled)
    _check(library.prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS, which Landlock requires
    _check(library.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(library: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        _check(library.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> int:
    if result < 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number))
    return result
