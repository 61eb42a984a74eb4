"""Performs the operations on the repository itself: making a backup, and removing old ones."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any
from uuid import UUID

import structlog

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.backup import index, layout, restic, stage, wal
from mailkeep.backup.layout import Counts, Manifest
from mailkeep.backup.restic import Progress, Repository, RepositoryMissing, Retention, Snapshot
from mailkeep.backup.stage import Report, StageSource
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.core.ids import parse_uuid
from mailkeep.db.instance import instance_id, run_folder, write_atomically
from mailkeep.features.operations.backups import policy, source_store, store
from mailkeep.features.operations.backups.model import BACKUP_FOLDER, Backup, BackupOperation
from mailkeep.features.operations.wal_archive import service as wal_archive
from mailkeep.mail.daemons.paths import InstancePaths

log = structlog.get_logger("mailkeep.backups")

TAG = "mailkeep"
INTERRUPTED = "It was interrupted, because its process ended."
_MISSING = "Its snapshot is no longer in the repository."
_LOCATION = "location"
_PRUNE_EVERY_SECONDS = 86_400.0
_PRUNED = "pruned"
_STALLED_SECONDS = 3600.0  # restic itself waits for ever; it reports progress after each of its packs of 16 MiB
_MOST_ADDED = 1000  # snapshots without a row that one operation adds
_ID = "id="


def backup_folder(app: App) -> Path:
    """The folder of backups in the data directory."""
    return app.data_dir / BACKUP_FOLDER


def open_repository(app: App) -> Repository:
    """The repository of the settings. Creates the folder of backups and the repository's password, if missing."""
    folder = backup_folder(app)
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    password = folder / "password"
    if not password.exists():
        write_atomically(password, secrets.token_urlsafe(32) + "\n", 0o600)
    return Repository.from_settings(app.settings.backup, folder)


async def create(app: App, operation: BackupOperation, report: Report) -> Mapping[str, Any]:
    """Make the backup whose row is `operation.backup_id`."""
    if app.settings.database.url:
        raise Failure(
            "Mailkeep does not back up an external database (database.url): use the tools of that server, such as "
            "pg_dump, and copy the data directory.",
            permanent=True,
        )
    assert operation.backup_id is not None
    async with app.db.autocommit() as conn:
        backup = await store.find_backup(conn, operation.backup_id)
    if backup is None:
        raise Failure("The backup has been deleted.", permanent=True)
    await report("repository", 0, 0)
    repository = await _prepare_repository(app)
    source = _source(app)
    chain = await wal_archive.begin(app, backup.created_at)
    try:
        manifest = await _stage(app, source, backup, report)
        failpoint.reach("backup.staged")
        backup = await _store(app, repository, source, backup, (manifest, chain), report)
        failpoint.reach("backup.stored")
    except (OSError, sqlite3.Error) as error:
        is_full = getattr(error, "errno", None) == errno.ENOSPC or "disk is full" in str(error)
        text = "no space is left on its disk" if is_full else str(error)
        raise Failure(f"{source.stage} could not be filled: {text}.") from error
    finally:
        await asyncio.to_thread(stage.remove, source)
    snapshots = await repository.list_snapshots([TAG])
    full = next((each.id for each in snapshots if each.id.startswith(backup.snapshot)), None)
    if full is None:
        raise Failure("The repository does not list the new snapshot.")
    backup = replace(backup, state="succeeded", snapshot=full, finished_at=app.clock())
    async with app.db.tx() as conn:
        await store.finish_backup(conn, backup)
    failpoint.reach("backup.recorded")
    try:
        await _tidy(app, repository, snapshots, report)
    except Failure as error:
        log.warning("old backups were not removed", why=str(error))
        return {"snapshot": full, "warning": f"Old backups were not removed: {error}"}
    return {"snapshot": full}


async def prune(app: App, operation: BackupOperation, report: Report) -> Mapping[str, Any]:
    """Remove a backup (`argument` has its `backup_id`), or else what the retention does not keep, and its data."""
    repository = await _prepare_repository(app)
    snapshots = await repository.list_snapshots([TAG])
    wanted = parse_uuid(str(operation.argument.get("backup_id", "")))
    if wanted is not None:
        await report("forget", 0, 0)
        return {"removed": await _forget(app, repository, [wanted])}
    return {"removed": await _tidy(app, repository, snapshots, report, is_prune_due=True)}


async def remove_leftovers(app: App) -> None:
    """Remove what an interrupted operation left: the stage, and locks in the repository."""
    await asyncio.to_thread(stage.remove, _source(app))
    if not restic.find_program():
        return
    try:
        await open_repository(app).unlock()
    except Failure as error:
        log.warning("locks of interrupted operations were not removed", why=str(error))


async def _prepare_repository(app: App) -> Repository:
    """The repository, created if it is new. A known one that is missing is not created again: it may be a disk that is
    not mounted.
    """
    repository = open_repository(app)
    known = backup_folder(app) / _LOCATION
    location = app.settings.backup.repository or BACKUP_FOLDER
    is_known = known.exists() and known.read_text("utf-8").strip() == location
    try:
        await repository.open()
    except RepositoryMissing as error:
        if is_known:
            raise Failure(
                f"{error} It had backups before: if it is a disk, mount it. To begin a new one, delete {known}.",
                permanent=True,
            ) from None
        await repository.create()
    if not is_known:
        write_atomically(known, location + "\n", 0o600)
    return repository


def _source(app: App) -> StageSource:
    secret = app.loaded.first_start.secret_file
    queue = None
    if app.settings.is_full_profile:
        queue = InstancePaths(app.data_dir, run_folder(app.data_dir)).postfix_queue
    return StageSource(app.data_dir, queue, Path(secret) if secret else None)


async def _stage(app: App, source: StageSource, backup: Backup, report: Report) -> Manifest:
    await stage.begin(source)
    began_at = app.clock()
    # The transaction of the counts lasts until the database is copied, so that no month of the counted tables is
    # dropped meanwhile (db/partitions): the copy has at least these rows.
    async with app.db.tx() as conn:
        domains = await source_store.list_domain_names(conn)
        mailboxes = await source_store.list_mailbox_addresses(conn)
        migrations = await source_store.list_migrations(conn)
        rows = await source_store.count_rows(conn)
        await asyncio.to_thread(index.save_directory, source.stage, domains, mailboxes)
        counts = Counts(len(domains), len(mailboxes))
        del domains, mailboxes
        database = await stage.add_database(source, report)
    mail = await stage.add_files(source, report)
    manifest = Manifest(
        backup_id=backup.id,
        instance_id=instance_id(app.data_dir),
        profile="full" if app.settings.is_full_profile else "embedded",
        mailkeep_version=__version__,
        postgresql_major=database.major,
        migrations=migrations,
        began_at=began_at,
        counts=Counts(counts.domains, counts.mailboxes, mail.messages),
        rows=rows,
        mail_bytes=mail.size,
        lsn=database.lsn,
        timeline=database.timeline,
    )
    await asyncio.to_thread(layout.write_manifest, source.stage, manifest)
    return manifest


async def _store(
    app: App,
    repository: Repository,
    source: StageSource,
    backup: Backup,
    content: tuple[Manifest, UUID | None],
    report: Report,
) -> Backup:
    """Store the stage as a snapshot. Its ID is a part of the backup's row before anything else is done."""
    progress = Progress()
    manifest, chain = content
    tags = [TAG, f"{_ID}{backup.id}"]
    if chain:
        tags += wal.to_backup_tags(chain, wal.segment_name(manifest.timeline, manifest.lsn))

    def keep(read: Progress) -> None:
        nonlocal progress
        progress = read

    storing = asyncio.create_task(repository.backup(source.stage, tags, instance_id(app.data_dir), keep))
    taken, taken_at = progress, monotonic()
    try:
        while not storing.done():
            await report("upload", progress.bytes_done, progress.total_bytes)
            await asyncio.wait({storing}, timeout=1.0)
            if progress != taken:
                taken, taken_at = progress, monotonic()
            elif monotonic() - taken_at > _STALLED_SECONDS:
                raise Failure("The repository has not taken anything for an hour. Is its server overloaded?")
        summary = storing.result()
    finally:
        storing.cancel()
        await asyncio.wait({storing})
    await asyncio.to_thread(stage.keep_index, source)
    return replace(
        backup,
        snapshot=summary.snapshot_id,
        size_bytes=summary.total_bytes_processed,
        added_bytes=summary.data_added,
        counts=manifest.counts,
    )


async def _tidy(
    app: App, repository: Repository, snapshots: Sequence[Snapshot], report: Report, *, is_prune_due: bool = False
) -> int:
    """Bring the rows in line with the repository, and remove what the retention does not keep; returns how many."""
    await reconcile(app, repository, snapshots)
    settings = app.settings.backup
    if settings.append_only:
        return 0
    retention = Retention(settings.keep_hourly, settings.keep_daily, settings.keep_weekly, settings.keep_monthly)
    async with app.db.autocommit() as conn:
        backups = await store.list_stored(conn)
    await report("forget", 0, 0)
    superfluous = policy.select_removed(backups, retention, app.clock())
    removed = await _forget(app, repository, superfluous)
    marker = backup_folder(app) / _PRUNED
    is_prune_due = is_prune_due or _is_older(marker, app.clock().timestamp() - _PRUNE_EVERY_SECONDS)
    if is_prune_due or settings.wal_archive:
        gone = {each.snapshot for each in backups if each.id in superfluous}
        await wal_archive.remove_old(app, repository, [each for each in snapshots if each.id not in gone])
    if is_prune_due:
        await report("prune", 0, 0)
        await repository.alone(repository.prune)
        at = app.clock().timestamp()
        marker.touch()
        os.utime(marker, (at, at))
    return removed


async def _forget(app: App, repository: Repository, backup_ids: Sequence[UUID]) -> int:
    """Remove the snapshots of these backups, and then their rows."""
    async with app.db.autocommit() as conn:
        found = [await store.find_backup(conn, each) for each in backup_ids]
    backups = [each for each in found if each is not None]
    snapshots = [each.snapshot for each in backups if each.snapshot and each.error != _MISSING]
    await repository.alone(lambda: repository.forget(snapshots))
    failpoint.reach("backup.forgotten")
    async with app.db.tx() as conn:
        for each in backups:
            await store.delete_backup(conn, each.id)
    return len(backups)


async def reconcile(app: App, repository: Repository, snapshots: Sequence[Snapshot]) -> None:
    """Bring the rows of backups in line with the snapshots of the repository.

    A snapshot without a row gets one (after a full restore, or a crash just after it was stored); a backup whose
    snapshot is missing is marked.
    """
    async with app.db.autocommit() as conn:
        rows = await store.list_stored(conn)
        present = {each.id for each in snapshots}
        await store.set_missing(conn, [each.id for each in rows if each.snapshot not in present], _MISSING)
        await store.set_found(conn, [each.id for each in rows if each.snapshot in present], _MISSING)
    known = {each.snapshot for each in rows}
    unknown = [each for each in snapshots if each.id not in known and each.hostname == instance_id(app.data_dir)]
    for each in unknown[-_MOST_ADDED:]:
        await _add_found(app, repository, each)


async def _add_found(app: App, repository: Repository, snapshot: Snapshot) -> None:
    """Add a row for a snapshot that has none, or complete the row of a backup that was interrupted after it was stored.
    One of another instance, or that failed, is left alone.
    """
    backup_id = next((parse_uuid(tag.removeprefix(_ID)) for tag in snapshot.tags if tag.startswith(_ID)), None)
    if backup_id is None:
        return
    async with app.db.autocommit() as conn:
        row = await store.find_backup(conn, backup_id)
    if row is not None and row.error != INTERRUPTED:
        return
    with TemporaryDirectory(dir=backup_folder(app)) as folder:
        path = Path(folder) / layout.MANIFEST
        try:
            await repository.dump(snapshot.id, f"{snapshot.paths[0]}/{layout.MANIFEST}", path)
            manifest = await asyncio.to_thread(layout.read_manifest, Path(folder))
        except (Failure, IndexError) as error:
            log.warning("a snapshot is not one of Mailkeep's", snapshot=snapshot.id, why=str(error))
            return
    found = Backup(
        backup_id,
        "succeeded",
        row.trigger if row else "schedule",
        manifest.began_at,
        snapshot.time,
        snapshot.id,
        counts=manifest.counts,
        size_bytes=manifest.mail_bytes,
        version=manifest.mailkeep_version,
    )
    async with app.db.tx() as conn:
        if row is not None:
            await store.delete_backup(conn, backup_id)
        await store.insert_backup(conn, found)


def _is_older(path: Path, seconds: float) -> bool:
    try:
        return path.stat().st_mtime < seconds
    except FileNotFoundError:
        return True
