"""Begin and end chains of the archive of the write-ahead log, and tell what can be restored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import structlog

from mailkeep.app import App
from mailkeep.backup import wal
from mailkeep.backup.restic import Repository, Snapshot
from mailkeep.backup.stage import StageSource
from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure
from mailkeep.db.instance import instance_id
from mailkeep.db.pool import Conn
from mailkeep.features.operations.wal_archive import store
from mailkeep.features.operations.wal_archive.model import PointInTime, WalArchive
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event, SystemAlert
from mailkeep.settings.backup import BackupSettings

log = structlog.get_logger("mailkeep.wal_archive")

LATE_AFTER = timedelta(minutes=5)
"""How old the last stored WAL may be before that is a problem."""
busy = asyncio.Lock()
"""Held while the folder or the replication slot is used: a backup may begin a chain while WAL is stored."""


def spool_folder(app: App) -> Path:
    """The folder of what is received."""
    return StageSource(app.data_dir).folder / wal.SPOOL


async def begin(app: App, backup_began_at: datetime) -> UUID | None:
    """The chain that a backup belongs to, which now begins: the one in progress, or a new one. None if
    `backup.wal_archive` is off, or WAL can't be kept: then that is recorded, and the backup is made nevertheless.
    """
    settings = app.settings.backup
    if not settings.wal_archive:
        return None
    async with busy:
        async with app.db.autocommit() as conn:
            found, slot = await store.find(conn), await store.find_slot(conn)
        if found and not found.ended and slot not in (None, "lost") and found.repository == settings.repository:
            return found.chain
        archive = WalArchive(uuid4(), settings.repository, backup_began_at)
        try:
            await remove(app, has_slot=slot is not None)
            await wal.create_slot(app.data_dir)
            await receive(app)  # the slot keeps WAL from what is received first
        except Failure as error:
            log.warning("no write-ahead log is archived", why=str(error))
            archive = WalArchive(archive.chain, archive.repository, archive.began_at, ended=str(error))
        async with app.db.tx() as conn:
            await store.begin(conn, archive)
        return None if archive.ended else archive.chain


async def receive(app: App) -> datetime:
    """Receive what was written until now, and return the time before which everything is received. Failure, OSError."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        lsn = await store.mark(conn)
    await wal.receive(app.data_dir, spool_folder(app), lsn)
    return at


async def end(app: App, chain: UUID, reason: str, *, has_slot: bool) -> None:
    """End a chain because WAL is missing, tell it, and give up what is not stored."""
    log.error("the archive of the write-ahead log has a gap", why=reason)
    async with app.db.tx() as conn:
        if await store.end(conn, chain, reason):
            alert = SystemAlert(alert="wal_archive_ended", reason=f"{reason} The next backup begins a new archive.")
            await events.emit(conn, app.clock(), Event(None, None, alert))
    await remove(app, has_slot=has_slot)


async def remove(app: App, *, has_slot: bool) -> None:
    """Remove the slot and what was received. Failure."""
    if has_slot:
        await wal.drop_slot(app.data_dir)
    await asyncio.to_thread(wal.remove, spool_folder(app))
    await asyncio.to_thread(wal.remove, spool_folder(app).with_name(wal.STAGE))


async def remove_old(app: App, repository: Repository, backups: Sequence[Snapshot]) -> int:
    """Remove the WAL that no restore needs; returns the number of snapshots. `backups`: those that are kept.
    Failure.
    """
    own = instance_id(app.data_dir)
    snapshots = [each for each in await repository.list_snapshots([wal.TAG]) if each.hostname == own]
    keep = timedelta(days=app.settings.backup.wal_keep_days)
    removed = wal.select_removed(wal.read_snapshots(snapshots), backups, keep, app.clock())
    await repository.alone(lambda: repository.forget(removed))
    return len(removed)


async def read(conn: Conn, settings: BackupSettings, at: datetime) -> PointInTime | None:
    """To which times the instance can be restored; None if `backup.wal_archive` is off."""
    if not settings.wal_archive:
        return None
    found = await store.find(conn)
    if found is None:
        return PointInTime(None, None, 0, None)
    if found.ended:
        problem = f"{found.ended} The next backup begins a new archive."
        return PointInTime(None, None, found.spool_bytes, problem)
    begin = await store.find_first_backup(conn, max(found.began_at, at - timedelta(days=settings.wal_keep_days)))
    is_late = at - (found.stored_to or found.began_at) > LATE_AFTER
    since = f"since {iso(found.stored_to)}" if found.stored_to else "yet"
    problem = (
        f"No write-ahead log was stored {since}: {found.error or 'the process backup does not store it'}."
        if is_late
        else None
    )
    has_range = begin is not None and found.stored_to is not None and begin <= found.stored_to
    return PointInTime(begin if has_range else None, found.stored_to if has_range else None, found.spool_bytes, problem)
