"""The folders of a full instance: each for the account that works in it, and closed to all others.

What root reads and writes lies where only root writes: the data directory, and the run folder above those of accounts.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.db.instance import own_folder
from mailkeep.db.postgres_cluster import Account, can_reach
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import HYPERSCAN_CACHE
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.mailbox.homes import separate_homes
from mailkeep.run.cli import install
from mailkeep.run.cli.sendmail import WELL_KNOWN
from mailkeep.run.processes import usage

_ACCOUNTS = ("postfix", "dovecot", "_rspamd", install.MAIL_ACCOUNT, install.ACCOUNT)


def create(places: InstancePaths) -> None:
    """Make them, and take over what others had, while none of our processes runs: nobody may move what is handed over.

    Failure where an account can't get there.
    """
    _create_for_daemons(places)
    _create_for_content(places)
    _create_for_sockets(places)
    _link_well_known(places)
    for name in _ACCOUNTS:
        found = pwd.getpwnam(name)
        if not can_reach(Account(name, found.pw_uid, found.pw_gid), places.data):
            raise Failure(
                f"The account {name} can't enter {places.data}: take a data directory whose folders above are open to "
                "pass through (chmod o+x), such as /var/lib/mailkeep.",
                permanent=True,
            )


def _create_for_daemons(places: InstancePaths) -> None:
    """Their configuration, and what they keep over restarts."""
    postfix, rspamd = pwd.getpwnam("postfix"), pwd.getpwnam("_rspamd")
    for name in ("postfix", "dovecot", "rspamd", "redis"):
        (places.data / name).mkdir(mode=0o755, exist_ok=True)
    for folder in (places.log, places.postfix_queue, places.data / "dovecot" / "state", HYPERSCAN_CACHE.parent):
        folder.mkdir(mode=0o755, exist_ok=True)
    places.tls.mkdir(mode=0o700, exist_ok=True)
    own = (places.postfix_data, postfix), (places.rspamd_data, rspamd), (places.redis_data, rspamd)
    for folder, owner in (*own, (HYPERSCAN_CACHE, rspamd)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _create_for_content(places: InstancePaths) -> None:
    """Mailboxes are the account's that Dovecot works as; content, and messages under way, our own processes'."""
    mail, ours = pwd.getpwnam(install.MAIL_ACCOUNT), pwd.getpwnam(install.ACCOUNT)
    separate_homes(places.mail_root)
    own = [(places.data / name, ours) for name in ("tmp", "content")]
    for folder, owner in ((places.mail_root, mail), *own, (places.lmtp_journal.parent, ours)):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        change_owner_of_tree(folder, owner)
    _create_sieve_spool(places.sieve_spool, mail, ours)
    for name in ("forwards", "sandbox"):  # of an embedded instance
        change_owner_of_tree(places.data / name, ours)


def _create_sieve_spool(spool: Path, mail: pwd.struct_passwd, ours: pwd.struct_passwd) -> None:
    """Dovecot's sendmail program, as the mailboxes' account, writes what our own processes read and remove."""
    for folder in (spool, *(spool / name for name in sieve_spool.FOLDERS)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, mail.pw_uid, ours.pw_gid)
        folder.chmod(0o2770)
    bell = sieve_spool.bell(spool)
    bell.unlink(missing_ok=True)
    os.mkfifo(bell, 0o600)
    os.chown(bell, mail.pw_uid, ours.pw_gid)
    bell.chmod(0o660)


def _create_for_sockets(places: InstancePaths) -> None:
    """What our own processes tell and listen on. Sockets for Postfix and Dovecot are of the group of their folder."""
    postfix, rspamd = pwd.getpwnam("postfix"), pwd.getpwnam("_rspamd")
    mail, ours = pwd.getpwnam(install.MAIL_ACCOUNT), pwd.getpwnam(install.ACCOUNT)
    for folder, mode in ((places.run / "pids", 0o700), (places.filter_sockets, 0o711)):
        own_folder(folder, mode)
    for folder, mode, owner, group in (
        (places.run / "ready", 0o700, ours, ours.pw_gid),
        (places.postfix_sockets, 0o2750, ours, postfix.pw_gid),
        (places.dovecot_sockets, 0o2750, ours, mail.pw_gid),
        (places.program_sockets, 0o755, ours, ours.pw_gid),
        (places.redis_socket.parent, 0o700, rspamd, rspamd.pw_gid),
    ):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, owner.pw_uid, group)
        folder.chmod(mode)


def _link_well_known(places: InstancePaths) -> None:
    """The socket for local programs under the name that they look for, unless another running instance has it."""
    with contextlib.suppress(OSError):
        if WELL_KNOWN.is_symlink() and (not WELL_KNOWN.exists() or WELL_KNOWN.readlink() == places.sendmail_socket):
            WELL_KNOWN.unlink()  # of an instance that was killed
        WELL_KNOWN.symlink_to(places.sendmail_socket)


def remove_runtime_files(places: InstancePaths) -> None:
    """Remove what lies in the run folder for as long as we run; the database's part is its own."""
    folders = (
        places.postfix_sockets,
        places.dovecot_sockets,
        places.program_sockets,
        places.filter_sockets,
        places.redis_socket.parent,
        places.run / "pids",
        places.run / "ready",
        places.dovecot_run,
    )
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        if WELL_KNOWN.readlink() == places.sendmail_socket:
            WELL_KNOWN.unlink()
    tokens = [places.run / name for name in (usage.TOKEN_FILE,)]
    for path in (places.api_smtp, places.reinjection_smtp, places.dovecot_lmtp, places.dovecot_lmtp_verified, *tokens):
        path.unlink(missing_ok=True)


def change_owner_of_tree(root: Path, account: pwd.struct_passwd) -> None:
    """A folder, and what an embedded instance has put there, becomes the account's that works with it.

    There a file of a mailbox and its content are one; here they have two owners, and become two.
    """
    if not root.exists():
        return
    for part in (*root.iterdir(), root):
        if part.lstat().st_uid != account.pw_uid:
            for path in (*part.rglob("*"), part) if part is not root else (part,):
                _break_hard_link(path)
                change_owner(path, account)


def _break_hard_link(path: Path) -> None:
    """Where a file has other names, this one gets a copy of its own."""
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        copy = path.with_name(f".{path.name}.part")
        shutil.copy2(path, copy)
        copy.replace(path)


def change_owner(path: Path, account: pwd.struct_passwd) -> None:
    """A file or folder becomes the account's; nothing happens where it is absent."""
    with contextlib.suppress(FileNotFoundError):
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
