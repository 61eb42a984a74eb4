"""The folders of a full instance: each belongs to the account that works in it, and is closed to all others.

Only root can write to the folders that root uses: the data directory itself and the run folder itself.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.db.instance import ensure_own_folder, write_atomically
from mailkeep.db.postgres_cluster import ServerAccount, can_reach
from mailkeep.mail.daemons import nginx
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import HYPERSCAN_CACHE
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.mail.mailbox.homes import separate_homes
from mailkeep.run.cli import install
from mailkeep.run.cli.sendmail import DEFAULT_SOCKET
from mailkeep.run.runtime import generations
from mailkeep.run.runtime.context import RESTORED

_ACCOUNTS = ("postfix", "dovecot", "_rspamd", install.MAIL_ACCOUNT, install.ACCOUNT, install.EDGE_ACCOUNT)


def create(paths: InstancePaths) -> None:
    """Create the folders and change the owners of existing files. None of our processes may run meanwhile: they
    could move files while their owner changes. Failure if an account can't reach the data directory.
    """
    _create_for_daemons(paths)
    _create_for_content(paths)
    _create_for_sockets(paths)
    _prepare_chroot(paths)
    _link_default_socket(paths)
    for name in _ACCOUNTS:
        entry = pwd.getpwnam(name)
        if not can_reach(ServerAccount(name, entry.pw_uid, entry.pw_gid), paths.data):
            raise Failure(
                f"The account {name} can't enter {paths.data}: use a data directory whose parent folders all accounts "
                "can pass through (chmod o+x), such as /var/lib/mailkeep.",
                permanent=True,
            )


def _create_for_daemons(paths: InstancePaths) -> None:
    """Folders for the daemons' configuration and state."""
    postfix, rspamd = pwd.getpwnam("postfix"), pwd.getpwnam("_rspamd")
    for name in (*generations.SERVICES, "generations"):
        (paths.data / name).mkdir(mode=0o755, exist_ok=True)
    for folder in (paths.log, paths.postfix_queue, paths.data / "dovecot" / "state", HYPERSCAN_CACHE.parent):
        folder.mkdir(mode=0o755, exist_ok=True)
    paths.tls.mkdir(mode=0o700, exist_ok=True)
    paths.nginx_tmp.mkdir(mode=0o755, exist_ok=True)
    if not paths.nginx_sites.exists():  # nginx.conf includes it
        write_atomically(paths.nginx_sites, nginx.render_sites(()), 0o640)
    owned_folders = (paths.postfix_data, postfix), (paths.rspamd_data, rspamd), (paths.redis_data, rspamd)
    for folder, owner in (*owned_folders, (HYPERSCAN_CACHE, rspamd)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    HYPERSCAN_CACHE.chmod(0o755)  # checks of the configuration would compile all patterns again


def _create_for_content(paths: InstancePaths) -> None:
    """Folders for mailboxes, owned by Dovecot's account, and for content and journals, owned by our own account."""
    mail_account, mailkeep = pwd.getpwnam(install.MAIL_ACCOUNT), pwd.getpwnam(install.ACCOUNT)
    separate_homes(paths.mail_root, is_restored=(paths.data / RESTORED).exists())
    content_folders = [(paths.data / name, mailkeep) for name in ("tmp", "content")]
    mail_folders = [(folder, mail_account) for folder in (paths.mail_root, paths.probe_home)]
    for folder, owner in (*mail_folders, *content_folders, (paths.lmtp_journal.parent, mailkeep)):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        change_owner_of_tree(folder, owner)
    _create_sieve_spool(paths.sieve_spool, mail_account, mailkeep)
    for name in ("forwards", "sandbox"):  # of an embedded instance
        change_owner_of_tree(paths.data / name, mailkeep)


def _create_sieve_spool(spool: Path, mail_account: pwd.struct_passwd, mailkeep: pwd.struct_passwd) -> None:
    """Create the spool: Dovecot writes to it as the mailboxes' account; our processes read and remove files."""
    for folder in (spool, *(spool / name for name in sieve_spool.FOLDERS)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, mail_account.pw_uid, mailkeep.pw_gid)
        folder.chmod(0o2770)
    fifo = sieve_spool.wakeup_fifo(spool)
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo, 0o600)
    os.chown(fifo, mail_account.pw_uid, mailkeep.pw_gid)
    fifo.chmod(0o660)


def _create_for_sockets(paths: InstancePaths) -> None:
    """Folders for sockets and state of processes. Sockets for Postfix and Dovecot get the group of their folder."""
    postfix, rspamd = pwd.getpwnam("postfix"), pwd.getpwnam("_rspamd")
    mail_account, mailkeep = pwd.getpwnam(install.MAIL_ACCOUNT), pwd.getpwnam(install.ACCOUNT)
    for folder, mode in ((paths.run / "pids", 0o700), (paths.filter_sockets, 0o711)):
        ensure_own_folder(folder, mode)
    for folder, mode, owner, group in (
        (paths.run / "ready", 0o700, mailkeep, mailkeep.pw_gid),
        (paths.metrics, 0o700, mailkeep, mailkeep.pw_gid),
        (paths.postfix_sockets, 0o2750, mailkeep, postfix.pw_gid),
        (paths.dovecot_sockets, 0o2750, mailkeep, mail_account.pw_gid),
        (paths.program_sockets, 0o755, mailkeep, mailkeep.pw_gid),
        (paths.redis_socket.parent, 0o700, rspamd, rspamd.pw_gid),
        (paths.chroot_sockets, 0o2750, mailkeep, postfix.pw_gid),
    ):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, owner.pw_uid, group)
        folder.chmod(mode)


def _prepare_chroot(paths: InstancePaths) -> None:
    """What Postfix' deliveries need in the queue, which is their chroot if they use the private resolver."""
    paths.chroot_link.unlink(missing_ok=True)
    paths.chroot_link.symlink_to(paths.chroot_sockets)
    paths.chroot_resolv_conf.parent.mkdir(mode=0o755, exist_ok=True)
    write_atomically(paths.chroot_resolv_conf, f"nameserver {paths.own_address}\noptions edns0 trust-ad\n", 0o644)


def _link_default_socket(paths: InstancePaths) -> None:
    """Link the default path to the socket for local programs, unless another running instance uses that path."""
    with contextlib.suppress(OSError):
        if DEFAULT_SOCKET.is_symlink() and (
            not DEFAULT_SOCKET.exists() or DEFAULT_SOCKET.readlink() == paths.sendmail_socket
        ):
            DEFAULT_SOCKET.unlink()  # left by a killed instance
        DEFAULT_SOCKET.symlink_to(paths.sendmail_socket)


def remove_runtime_files(paths: InstancePaths) -> None:
    """Remove the files in the run folder, except the database's."""
    folders = (
        paths.postfix_sockets,
        paths.dovecot_sockets,
        paths.program_sockets,
        paths.filter_sockets,
        paths.redis_socket.parent,
        paths.clamd_socket.parent,
        paths.run / "pids",
        paths.run / "ready",
        paths.dovecot_run,
    )
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        if DEFAULT_SOCKET.readlink() == paths.sendmail_socket:
            DEFAULT_SOCKET.unlink()
    links = (
        paths.control_socket,
        paths.templates_socket,
        paths.api_socket,
        paths.api_smtp,
        paths.reinjection_smtp,
        paths.system_smtp,
        paths.returned_smtp,
        paths.webmail_smtp,
        paths.php_socket,
        paths.dovecot_lmtp,
        paths.dovecot_lmtp_verified,
        paths.chroot_link,
    )
    for path in links:
        path.unlink(missing_ok=True)


def change_owner_of_tree(root: Path, account: pwd.struct_passwd) -> None:
    """Make an account the owner of a folder and of the files that an embedded instance has left there.

    The embedded profile stores a message in a mailbox and its content as hard links of one file. Here they have
    different owners, so each becomes a file of its own.
    """
    if not root.exists():
        return
    for entry in (*root.iterdir(), root):
        if entry.lstat().st_uid != account.pw_uid:
            for path in (*entry.rglob("*"), entry) if entry is not root else (entry,):
                _break_hard_link(path)
                change_owner(path, account)


def _break_hard_link(path: Path) -> None:
    """Replace a file by a copy if it has more than one hard link."""
    status = path.lstat()
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        copy = path.with_name(f".{path.name}.part")
        shutil.copy2(path, copy)
        copy.replace(path)


def change_owner(path: Path, account: pwd.struct_passwd) -> None:
    """Make an account the owner of a file or folder, if that exists."""
    with contextlib.suppress(FileNotFoundError):
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
