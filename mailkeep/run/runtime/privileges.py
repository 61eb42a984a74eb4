"""Dropping privileges: all our own processes except the node agent run as an account without other rights.

A process starts as root, reads the settings and the master secret, then switches to the account: it has no capability
and can't gain one (PR_SET_NO_NEW_PRIVS). The program must stay readable for later imports. If the account can't reach
it, for example below /root, the process keeps the capability to read all files.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import sys
from collections.abc import Sequence
from grp import getgrnam
from pathlib import Path

import msgspec

import mailkeep
from mailkeep.core.errors import Failure
from mailkeep.db.postgres_cluster import ServerAccount, can_reach

_PR_SET_KEEPCAPS, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 38, 47, 2
_CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION = 0x20080522


class Credentials(msgspec.Struct, frozen=True):
    """The account that a process switches to. `reads_all_files`: it keeps the right to read every file."""

    uid: int
    gid: int
    groups: list[int]
    reads_all_files: bool = False


def find_credentials(account: str, groups: Sequence[str] = (), *, reads_all_files: bool) -> Credentials:
    """The credentials of an account, with these additional groups."""
    found = pwd.getpwnam(account)
    return Credentials(found.pw_uid, found.pw_gid, [getgrnam(name).gr_gid for name in groups], reads_all_files)


def find_unreachable(account: str) -> str | None:
    """A path of the program that an account can't reach, None if it can reach all. Blocks."""
    found = pwd.getpwnam(account)
    needed = (Path(sys.executable).resolve(), Path(os.__file__).parent, *_packages(mailkeep, msgspec))
    who = ServerAccount(account, found.pw_uid, found.pw_gid)
    return next((str(path) for path in needed if not can_reach(who, path)), None)


def _packages(*modules: object) -> list[Path]:
    return [Path(str(getattr(module, "__file__"))).parent for module in modules]  # noqa: B009 - any module's


def switch_to(credentials: Credentials) -> None:
    """Switch to this account, before a second thread starts. Failure if the kernel refuses."""
    library = ctypes.CDLL(None, use_errno=True)
    if credentials.reads_all_files:
        _call(library.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep the right to read")
    os.setgroups(credentials.groups)
    os.setresgid(credentials.gid, credentials.gid, credentials.gid)
    os.setresuid(credentials.uid, credentials.uid, credentials.uid)
    if credentials.reads_all_files:
        _keep_reading(library)
    _call(library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up privileges")


def _keep_reading(library: ctypes.CDLL) -> None:
    """Drop every capability except reading all files. Children inherit it, because the parser must be found too."""
    mask = 1 << _CAP_DAC_READ_SEARCH
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    # Effective, permitted, inheritable: of the lower 32 capabilities, then of the upper.
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    _call(library.capset(header, sets), "keep the right to read")
    raised = library.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH, 0, 0)
    _call(raised, "keep the right to read")


def _call(result: int, what: str) -> None:
    if result != 0:
        raise Failure(
            f"The kernel did not let a process {what}: {os.strerror(ctypes.get_errno())}. Put the program where all "
            "accounts can read it, such as /opt/mailkeep, with a Python of the system's.",
            permanent=True,
        )
