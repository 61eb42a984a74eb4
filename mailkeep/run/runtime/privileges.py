"""What our own processes give up: all of them but the node's agent run as an account that can do nothing else.

A process is born as root, reads what is root's alone (settings, master secret), then becomes the account for good: no
capability is left, and none comes back, whatever it runs (PR_SET_NO_NEW_PRIVS). The program itself must stay readable,
for what Python imports later. Where it lies out of the account's reach, as below /root, the right to read is kept.
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
    """As whom a process goes on. `reads_all`: with the right to read every file, for a program out of reach."""

    uid: int
    gid: int
    groups: list[int]
    reads_all_files: bool = False


def find_credentials(account: str, groups: Sequence[str] = (), *, reads_all_files: bool) -> Credentials:
    """The standing of an account with these groups besides its own."""
    found = pwd.getpwnam(account)
    return Credentials(found.pw_uid, found.pw_gid, [getgrnam(name).gr_gid for name in groups], reads_all_files)


def find_unreachable(account: str) -> str | None:
    """What of the program an account can't reach, None where it reaches everything. Blocks."""
    found = pwd.getpwnam(account)
    needed = (Path(sys.executable).resolve(), Path(os.__file__).parent, *_packages(mailkeep, msgspec))
    who = ServerAccount(account, found.pw_uid, found.pw_gid)
    return next((str(path) for path in needed if not can_reach(who, path)), None)


def _packages(*modules: object) -> list[Path]:
    return [Path(str(getattr(module, "__file__"))).parent for module in modules]  # noqa: B009 - any module's


def switch_to(credentials: Credentials) -> None:
    """Be this account from now on, before there is a second thread. Raises Failure where the kernel forbids it."""
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
    """Drop every capability but the one to read, which what we run inherits: a parser has to be found as well."""
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
