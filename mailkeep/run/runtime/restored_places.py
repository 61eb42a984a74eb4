"""Moves the parts of a restored snapshot to the places where a start expects them, with the owners of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path

from mailkeep.backup.layout import CONTENT, DATABASE, INSTANCE, MAIL, QUEUE, Manifest
from mailkeep.backup.restored_tree import HostileSnapshot
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.db.instance import INSTANCE_ID, instance_id
from mailkeep.db.postgres_cluster import ClusterLocation, choose_location
from mailkeep.features.record.audit.service import HEAD_FILE
from mailkeep.mail.daemons import held_mail
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix.queue import STATE_FOLDERS
from mailkeep.run.cli import install
from mailkeep.run.runtime import generations, state
from mailkeep.run.runtime.context import SECRET
from mailkeep.run.runtime.upgrade_guard import RECORD

_MAILDROP = "maildrop"
# Entries of a data directory that come from another part of the snapshot, or from no backup.
_NOT_OF_INSTANCE = frozenset({"backup", "content", "lock", "log", "mail", "pg", "pg.new", "postfix", "run.json", "tmp"})
# Files of a cluster that would change how it starts. ALTER SYSTEM could name programs that the server runs.
_SIGNALS = ("standby.signal", "recovery.signal", "postmaster.pid", "postmaster.opts")


def place(
    tree: Path, data_dir: Path, manifest: Manifest, profile: str, note_cluster: Callable[[Path], None]
) -> tuple[int, Path]:
    """Move a checked tree into the data directory, which is empty. Blocks. Failure.

    `note_cluster` is called before the database's folder is moved: it may be outside the data directory. Returns the
    number of Postfix's messages, which are on hold, and that folder.
    """
    _place_instance(tree / INSTANCE, data_dir, manifest)
    for name in (CONTENT, MAIL):
        if (tree / name).is_dir():
            (tree / name).rename(data_dir / name)
    paths = InstancePaths(data_dir, data_dir)
    held_mail.hold(data_dir, paths.sieve_spool / "new", tree / QUEUE / _MAILDROP)
    held = _place_queue(tree / QUEUE, paths.postfix_queue)
    state.keep_profile(data_dir, is_full=profile == "full")
    if os.geteuid() == 0:
        _set_owners(data_dir, profile)
    failpoint.reach("restore.files_placed")
    return held, _place_cluster(tree / DATABASE, data_dir, note_cluster)


def _place_instance(source: Path, data_dir: Path, manifest: Manifest) -> None:
    for name in (INSTANCE_ID, SECRET):
        if not (source / name).is_file():
            raise Failure(f"The snapshot has no file {name}: it is not complete.", permanent=True)
    for entry in sorted(source.iterdir()):
        target = data_dir / entry.name
        if entry.name.startswith("."):
            continue  # a draft of a file that was just being written
        if entry.name in (HEAD_FILE, RECORD):
            continue  # of a seal that the older copy of the database may lack; of an upgrade on the old machine
        if entry.name in _NOT_OF_INSTANCE or target.exists():
            raise HostileSnapshot(
                f"The snapshot has an unexpected file of the instance: {entry.name!r}.", permanent=True
            )
        entry.rename(target)
    if instance_id(data_dir) != manifest.instance_id:
        raise Failure("The manifest of the snapshot is that of another instance.", permanent=True)


def _place_queue(source: Path, queue: Path) -> int:
    """Move Postfix's messages, all on hold, and their logs; returns the number of messages."""
    if not source.is_dir():
        return 0
    for folder in sorted(source.iterdir()):
        is_state = folder.name in STATE_FOLDERS
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                target = queue / "hold" / path.name if is_state else queue / path.relative_to(source)
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not target.exists():  # a message that moved while the queue was copied
                    path.rename(target)
    hold = queue / "hold"
    return sum(1 for _ in hold.iterdir()) if hold.is_dir() else 0


def _set_owners(data_dir: Path, profile: str) -> None:
    """Give everything the owners of this machine: the backup's numbers mean other accounts here. The start gives the
    mailboxes' folders and others their owners (`folders`), if they are root's.
    """
    for entry in data_dir.iterdir():
        if entry.name != "lock":
            _change_owner(entry, 0, 0)
    if profile != "full":
        return
    filter_account, mailkeep = pwd.getpwnam("_rspamd"), pwd.getpwnam(install.ACCOUNT)
    mail_account, postfix = pwd.getpwnam(install.MAIL_ACCOUNT), pwd.getpwnam("postfix")
    for name in (*generations.SERVICES, "generations"):  # a backup keeps no modes of folders
        if (data_dir / name).is_dir():
            (data_dir / name).chmod(0o755)
    generations.set_groups(InstancePaths(data_dir, data_dir))
    for name in ("redis/data", "rspamd/data"):
        _change_owner(data_dir / name, filter_account.pw_uid, filter_account.pw_gid)
    # Without this journal all deliveries of queued mail are uncertain: what is in a mailbox as well is not added again.
    shutil.rmtree(data_dir / "lmtp", ignore_errors=True)
    _change_owner(data_dir / "sieve-spool", mail_account.pw_uid, mailkeep.pw_gid)
    queue = data_dir / "postfix" / "queue"
    for folder in queue.iterdir() if queue.is_dir() else ():
        _change_owner(folder, postfix.pw_uid, postfix.pw_gid)
    for folder in (queue, queue.parent):
        if folder.is_dir():
            folder.chmod(0o755)


def _place_cluster(source: Path, data_dir: Path, note_cluster: Callable[[Path], None]) -> Path:
    for name in _SIGNALS:
        (source / name).unlink(missing_ok=True)
    (source / "postgresql.auto.conf").write_text("")
    location: ClusterLocation = choose_location(data_dir, instance_id(data_dir))
    cluster = location.cluster
    if cluster.exists():
        raise Failure(
            f"{cluster} exists: it is the database of an instance with the same ID on this machine. Move it away.",
            permanent=True,
        )
    if os.geteuid() == 0:
        _change_owner(source, location.account.uid, location.account.gid)
    source.chmod(0o700)
    note_cluster(cluster)
    failpoint.reach("restore.cluster_noted")
    shutil.move(source, cluster)  # copies to another file system
    if os.geteuid() == 0:
        _change_owner(cluster, location.account.uid, location.account.gid)
    return cluster


def _change_owner(path: Path, uid: int, gid: int) -> None:
    """Change the owner of a file, or of a folder with everything in it; nothing if it is missing."""
    if not path.exists():
        return
    os.chown(path, uid, gid, follow_symlinks=False)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), uid, gid, follow_symlinks=False)  # noqa: PTH118 - many files
