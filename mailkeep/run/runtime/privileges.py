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
    entry = pwd.getpwnam(account)
    return Credentials(entry.pw_uid, entry.pw_gid, [getgrnam(name).gr_gid for name in groups], reads_all_files)


def find_unreachable(account: str) -> str | None:
    """A path of the program that an account can't reach; None if it can reach all. Blocks."""
    entry = pwd.getpwnam(account)
    paths = (Path(sys.executable).resolve(), Path(os.__file__).parent, *_packages(mailkeep, msgspec))
    server_account = ServerAccount(account, entry.pw_uid, entry.pw_gid)
    return next((str(path) for path in paths if not can_reach(server_account, path)), None)


def _packages(*modules: object) -> list[Path]:
    return [Path(str(getattr(module, "__file__"))).parent for module in modules]  # noqa: B009 - any module's


def switch_to(credentials: Credentials) -> None:
    """Switch to this account. Call it before a second thread starts. Failure if the kernel refuses."""
    library = ctypes.CDLL(None, use_errno=True)
    if credentials.reads_all_files:
        _require_success(library.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep the right to read")
    os.setgroups(credentials.groups)
    os.setresgid(credentials.gid, credentials.gid, credentials.gid)
    os.setresuid(credentials.uid, credentials.uid, credentials.uid)
    if credentials.reads_all_files:
        _keep_reading(library)
    _require_success(library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up privileges")


def _keep_reading(library: ctypes.CDLL) -> None:
    """Drop every capability except reading all files. Children inherit it, because the parser must be found too."""
    mask = 1 << _CAP_DAC_READ_SEARCH
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    # Effective, permitted, inheritable: of the lower 32 capabilities, then of the upper.
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    _require_success(library.capset(header, sets), "keep the right to read")
    raised = library.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH, 0, 0)
    _require_success(raised, "keep the right to read")


def _require_success(result: int, action: str) -> None:
    if result != 0:
        raise Failure(
            f"The kernel did not let a process {action}: {os.strerror(ctypes.get_errno())}. Put the program where all "
            "accounts can read it, such as /opt/mailkeep, with the system's Python.",
            permanent=True,
        )
