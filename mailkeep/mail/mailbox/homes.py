"""The home of a mailbox and the Maildir in it.

The home has what Dovecot and Pigeonhole store besides mail: Sieve scripts, vacation's list of replies, locks. The
Maildir is `HOME/Maildir`. In earlier versions both were one folder, so that clients saw every dot file of the home
as a mail folder (`.dovecot.lda-dupes` as dovecot/lda-dupes). `separate_homes` converts such homes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mailkeep.core import failpoint
from mailkeep.mail.message.content_file import sync_folder

MAILDIR = "Maildir"
ACTIVE_SCRIPT = "sieve.active"
"""The link to the active Sieve script in a home; in a backup, which has no links, a file with the path it leads to."""

_MOVING = ".moving"
_SCRIPT_PATH = re.compile(r"sieve/[^/\0]+\.sieve")
_LONGEST_PATH = 300
_MAILDIR_FOLDERS = frozenset({"cur", "new", "tmp"})
# How the names of the home's own entries start: Sieve scripts, the link to the active one, its compiled form and log;
# vacation's list of replies with its locks. Mail folders start with a dot.
_HOME_PREFIXES = ("sieve", ".dovecot.lda-dupes", ".dovecot.svbin")


def separate_homes(root: Path, *, is_restored: bool = False) -> int:
    """Move mail that is still in the homes below `root` into a Maildir in each. Returns the number of changed homes.

    It only renames: mail, flags, subscriptions and indexes do not change. `is_restored`: after a full restore the link
    to the active script is made again. Idempotent, and safe against a crash. Nothing else may use the mailboxes at the
    same time. Raises OSError.
    """
    if not root.exists():
        return 0
    moved = 0
    for moving in sorted(root.glob(f"*{_MOVING}")):
        _finish(moving)
        moved += 1
    with os.scandir(root) as entries:
        homes = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    for home in sorted(homes):
        if is_restored:
            link_active_script(home)
        if _holds_mail(home):
            moving = home.with_name(home.name + _MOVING)
            home.rename(moving)
            failpoint.reach("homes.renamed")
            _finish(moving)
            moved += 1
    return moved


def link_active_script(home: Path) -> None:
    """Replace the file in a restored home that names the active script by the link that it was. The name of a script
    that is missing is dropped; any other file is itself a script, and stays. Blocks.
    """
    path = home / ACTIVE_SCRIPT
    if path.is_symlink() or not path.is_file():
        return
    name = path.read_bytes()[:_LONGEST_PATH].decode("utf-8", "replace")
    if not _SCRIPT_PATH.fullmatch(name):
        return
    if not (home / name).is_file():
        path.unlink()
        return
    link, owner = home / f"{ACTIVE_SCRIPT}.new", home.stat()
    link.unlink(missing_ok=True)
    link.symlink_to(name)
    os.chown(link, owner.st_uid, owner.st_gid, follow_symlinks=False)
    link.replace(path)


def _holds_mail(home: Path) -> bool:
    with os.scandir(home) as entries:
        names = [entry.name for entry in entries]
    return MAILDIR not in names and any(not _is_of_home(home / name) for name in names)


def _finish(moving: Path) -> None:
    """Turn the folder into the Maildir of a new home, after moving the home's own files there."""
    home = moving.with_name(moving.name.removesuffix(_MOVING))
    owner = moving.stat()
    home.mkdir(mode=0o700, exist_ok=True)
    os.chown(home, owner.st_uid, owner.st_gid)
    failpoint.reach("homes.created")
    for name in sorted(os.listdir(moving)):  # noqa: PTH208 - names
        if _is_of_home(moving / name):
            (moving / name).rename(home / name)
            failpoint.reach("homes.part_moved")
    sync_folder(home)
    moving.rename(home / MAILDIR)
    sync_folder(home)
    sync_folder(home.parent)


def _is_of_home(path: Path) -> bool:
    """Whether an entry of the common folder belongs to the home. A mail folder does not."""
    if not path.name.startswith(_HOME_PREFIXES):
        return False
    return not any((path / name).is_dir() for name in _MAILDIR_FOLDERS)
