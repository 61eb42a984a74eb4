"""The full restore: an instance from a backup, in an empty folder, before its first start.

While the folder `.restore` exists the restore is not complete, and nothing starts there. A restore that was killed is
removed by the next one. Everything is restored below `.restore` and checked, then moved to its place; the owners are
those of this machine. The file `restored.json` tells the first start to end sessions and to hold what was pending
(`record/holds`). Postfix's messages are on hold already.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

import msgspec

from mailkeep.app import App
from mailkeep.backup import restored_tree, secrets
from mailkeep.backup.layout import MANIFEST, Manifest, read_manifest
from mailkeep.backup.restic import Repository, Snapshot
from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure
from mailkeep.core.ids import parse_uuid
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.instance import acquire_lock, write_atomically
from mailkeep.db.migrate import read_schema
from mailkeep.db.postgres_binaries import find_binaries
from mailkeep.features.directory.mailboxes import jobs as mailboxes
from mailkeep.features.operations.backups.model import BACKUP_FOLDER
from mailkeep.features.record.holds import service as holds
from mailkeep.features.record.holds.model import RestoredBackup
from mailkeep.run.cli import install
from mailkeep.run.runtime import point_in_time, restored_places, webmail
from mailkeep.run.runtime.context import RESTORED, UNFINISHED_RESTORE, create_data_dir
from mailkeep.run.runtime.point_in_time import RecoveryTarget

TAG = "mailkeep"
"""The tag of Mailkeep's snapshots."""
_CLUSTER = "cluster"
_ID = "id="
_IGNORED = frozenset({"lock", "lost+found", UNFINISHED_RESTORE})
_SYSTEM = Principal(None, "restore", Role.SUPER_ADMIN, ActorType.SYSTEM)

Report = Callable[[int], Awaitable[None]]
"""Gets once a second how many bytes are restored."""


@dataclass(frozen=True, slots=True)
class FoundBackup:
    """A backup in the repository; `instance`: the ID of its instance."""

    id: UUID
    instance: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What a restore would do. `others`: how many other backups the repository has. `target`: the time to which the
    database is brought; everything else is that of the backup.
    """

    backup: FoundBackup
    manifest: Manifest
    profile: str
    others: int
    target: RecoveryTarget | None = None


@dataclass(frozen=True, slots=True)
class RestoredInstance:
    """What a restore did. `held`: messages in Postfix's queue, all on hold. `warning`: what the administrator has to do
    before the next backup, or None.
    """

    held: int
    cluster: Path
    warning: str | None


class _Restored(msgspec.Struct, frozen=True):
    backup_id: UUID
    began_at: datetime
    restored_at: datetime
    database_at: datetime | None = None


async def list_backups(repository: Repository) -> list[FoundBackup]:
    """The backups in a repository, oldest first."""
    found: list[FoundBackup] = []
    for snapshot in await repository.list_snapshots([TAG]):
        backup_id = next((parse_uuid(tag.removeprefix(_ID)) for tag in snapshot.tags if tag.startswith(_ID)), None)
        if backup_id is not None:
            found.append(FoundBackup(backup_id, snapshot.hostname, snapshot))
    return found


def choose_backup(backups: Sequence[FoundBackup], wanted: str | None) -> FoundBackup:
    """The backup with this ID (its own or its snapshot's, or the beginning of one), by default the newest. Failure if
    there is none, or several.
    """
    if wanted is None:
        instances = {each.instance for each in backups}
        if len(instances) > 1:
            newest = {each.instance: each for each in backups}
            choice = "; ".join(f"{each.id} of {iso(each.snapshot.time)}" for each in newest.values())
            raise Failure(
                f"The repository has backups of {len(instances)} instances: choose one with --backup. The newest of "
                f"each: {choice}.",
                permanent=True,
            )
        if not backups:
            raise Failure("The repository has no backup of Mailkeep.", permanent=True)
        return backups[-1]
    matching = [each for each in backups if f"{each.id}".startswith(wanted) or each.snapshot.id.startswith(wanted)]
    if len(matching) != 1:
        count = "no backup" if not matching else f"{len(matching)} backups"
        raise Failure(f"The repository has {count} whose ID begins with {wanted}.", permanent=True)
    return matching[0]


async def make_plan(
    repository: Repository,
    scratch: Path,
    data_dir: Path,
    wanted: str | None,
    profile: str | None,
    at: datetime | None = None,
) -> RestorePlan:
    """Choose a backup and check that it can be restored here. `scratch`: a folder for its manifest. `at`: the time to
    which the database is to be brought. Changes nothing. Failure.
    """
    require_empty(data_dir)
    backups = await list_backups(repository)
    target = None
    # Without a wish, the newest: it also says whether there are backups of several instances.
    backup = choose_backup(backups, wanted)
    if at:
        snapshots = [each.snapshot for each in backups]
        snapshot, target = await point_in_time.choose(repository, snapshots, at, backup.snapshot if wanted else None)
        backup = next(each for each in backups if each.snapshot.id == snapshot.id)
    path = scratch / MANIFEST
    if len(backup.snapshot.paths) != 1:
        raise Failure("The snapshot was not made of one folder.", permanent=True)
    await repository.dump(backup.snapshot.id, f"{backup.snapshot.paths[0]}/{MANIFEST}", path)
    manifest = read_manifest(scratch)
    path.unlink()
    if manifest.backup_id != backup.id:
        raise Failure("The manifest of the snapshot is that of another backup.", permanent=True)
    if target:
        point_in_time.check_manifest(target, manifest)
    if len(manifest.migrations) > len(read_schema().migrations):
        raise Failure(
            f"The backup is of Mailkeep {manifest.mailkeep_version}, whose database is newer than this program's. "
            "Install that version or a newer one. Nothing was changed.",
            permanent=True,
        )
    find_binaries(manifest.postgresql_major)
    profile = profile or manifest.profile
    if profile == "full":
        if os.geteuid() != 0:
            raise Failure(
                "A backup of the full profile is restored as root. (--profile embedded restores it without its "
                "daemons.)",
                permanent=True,
            )
        install.require_installed()
    _require_space(data_dir, manifest)
    return RestorePlan(backup, manifest, profile, len(backups) - 1, target)


def require_empty(data_dir: Path) -> None:
    """Failure if the folder has something; a restore that was interrupted does not count."""
    try:
        names = set(os.listdir(data_dir))  # noqa: PTH208 - names
    except FileNotFoundError:
        return
    if UNFINISHED_RESTORE not in names and names - _IGNORED:
        raise Failure(
            f"{data_dir} is not empty: a backup is restored into a new folder only. Choose another, or move what is "
            "there away.",
            permanent=True,
        )


async def perform(
    plan: RestorePlan, repository: Repository, data_dir: Path, at: datetime, report: Report | None = None
) -> RestoredInstance:
    """Restore a backup into a folder. Failure; then, and when it is cancelled, the folder is empty again."""
    create_data_dir(data_dir)
    lock = acquire_lock(data_dir)
    try:
        require_empty(data_dir)
        await asyncio.to_thread(_discard, data_dir)
        try:
            return await _perform(plan, repository, data_dir, at, report)
        except BaseException:
            await asyncio.to_thread(_discard, data_dir)
            raise
    finally:
        lock.release()


async def complete_at_start(app: App, webmail_sockets: Path | None = None) -> str | None:
    """At the start of an instance, before it serves anybody: end sessions and hold what was pending, if the instance
    was just restored. Returns the line to print about it. `webmail_sockets`: the folder of the database's socket, if
    there may be sessions of the webmail.
    """
    path = app.data_dir / RESTORED
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = msgspec.json.decode(content, type=_Restored)
    except msgspec.MsgspecError as error:
        raise Failure(f"{path} is not valid: {error}. Restore the backup again.", permanent=True) from None
    restored = RestoredBackup(found.backup_id, found.began_at, found.restored_at)
    async with app.db.tx() as conn:
        await holds.complete_restore(conn, _SYSTEM, app.clock(), restored, found.database_at)
        if found.database_at:  # deleted after the backup, with their mail
            await mailboxes.remove_mail_without_mailbox(conn, app)
        rows = await holds.count(conn)
    if webmail_sockets:
        await webmail.end_sessions(webmail_sockets)
    failpoint.reach("restore.completed")
    path.unlink()
    database = f" with the database of {iso(found.database_at)}" if found.database_at else ""
    spools = "the mail queue, mail of Sieve and of local programs, and " if app.settings.is_full_profile else ""
    return (
        f"Restored from the backup of {iso(found.began_at)}{database}: all sessions have ended. On hold until "
        f"`mailkeep queue act release --all`: {spools}scheduled messages ({rows.scheduled_messages}), webhook "
        f"deliveries ({rows.webhook_deliveries}) and mail of the server itself ({rows.system_mails})."
    )


async def _perform(
    plan: RestorePlan, repository: Repository, data_dir: Path, at: datetime, report: Report | None
) -> RestoredInstance:
    folder = data_dir / UNFINISHED_RESTORE
    folder.mkdir(mode=0o700)
    failpoint.reach("restore.begun")
    restoring = replace(repository, cache=folder / "cache")
    tree = await restored_tree.restore_tree(restoring, plan.backup.snapshot, folder / "tree", report=report)
    failpoint.reach("restore.tree_restored")
    if (await asyncio.to_thread(read_manifest, tree)) != plan.manifest:
        raise Failure("The snapshot has changed since its manifest was read.", permanent=True)
    target = plan.target
    log_folders = await point_in_time.fetch(restoring, target, folder / "wal") if target else []

    def note_cluster(cluster: Path) -> None:
        write_atomically(folder / _CLUSTER, f"{cluster}\n", 0o600)

    held, cluster = await asyncio.to_thread(
        restored_places.place, tree, data_dir, plan.manifest, plan.profile, note_cluster
    )
    failpoint.reach("restore.placed")
    if target:
        await point_in_time.bring_to(target, data_dir, cluster, log_folders)
    warning = await _add_own_key(repository, data_dir)
    marker = _Restored(plan.backup.id, plan.manifest.began_at, at, target.to if target else None)
    write_atomically(data_dir / RESTORED, msgspec.json.encode(marker).decode() + "\n", 0o600)
    await asyncio.to_thread(os.sync)
    failpoint.reach("restore.synced")
    await asyncio.to_thread(restored_tree.remove_tree, folder)
    return RestoredInstance(held, cluster, warning)


async def _add_own_key(repository: Repository, data_dir: Path) -> str | None:
    """Give the instance a password of its own for the repository, because the recovery key is stored nowhere. Returns
    a warning if the repository does not accept it.
    """
    folder = data_dir / BACKUP_FOLDER
    folder.mkdir(mode=0o700)
    new = folder / "password.new"
    secrets.write_password(new, secrets.new_password())
    try:
        await repository.add_key(new, secrets.PASSWORD_USER)
    except Failure as error:
        new.unlink()
        return (
            f"The instance got no password of its own for the repository ({error}). If it shall make its backups "
            f"there, write a password that opens it into {folder / 'password'} (mode 0600)."
        )
    secrets.replace_password(folder / "password", new)
    return None


def _require_space(data_dir: Path, manifest: Manifest) -> None:
    """Failure if not even the mail fits."""
    existing = next(each for each in (data_dir, *data_dir.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    if free < manifest.mail_bytes + restored_tree.FREE_BYTES:
        raise Failure(
            f"{existing} has {free >> 20} MiB free; the mail of the backup alone needs {manifest.mail_bytes >> 20} MiB."
        )


def _discard(data_dir: Path) -> None:
    """Remove what an interrupted restore left, with the marker last."""
    marker = data_dir / UNFINISHED_RESTORE
    if not marker.exists():
        return
    with contextlib.suppress(FileNotFoundError):
        restored_tree.remove_tree(Path((marker / _CLUSTER).read_text("utf-8").strip()))
    for entry in sorted(data_dir.iterdir()):
        if entry.name not in _IGNORED:
            restored_tree.remove_tree(entry)
    restored_tree.remove_tree(marker)
