"""Stores the write-ahead log, each minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from mailkeep.app import App
from mailkeep.backup import wal
from mailkeep.backup.restic import Repository
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.db.instance import instance_id
from mailkeep.features.operations.wal_archive import service, store
from mailkeep.features.operations.wal_archive.model import WalArchive
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat

log = structlog.get_logger("mailkeep.wal_archive")

SPOOL_BYTES = 512 << 20
"""With more than this that is not stored, nothing more is received. PostgreSQL then keeps it, up to its own limit."""
_INTERVAL_SECONDS = 60.0
_KEPT_SEGMENTS = 8
_TIDY_EVERY = timedelta(hours=1)
_REMOVED = "PostgreSQL has removed WAL that was not archived, because there was too much of it."
_NO_SLOT = "The database has no replication slot for it, as after a restore."
_OTHER_REPOSITORY = "backup.repository was changed."


class WalArchiver:
    """Stores what was written. It keeps the files here until there are some, or for an hour, so that few snapshots hold
    everything: each one replaces the one before, and those that are replaced are removed then.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._folder = service.spool_folder(app)
        self._tidied_at: datetime | None = None

    async def run(self) -> None:
        """Store WAL each minute until cancelled."""
        await repeat(_INTERVAL_SECONDS, "the archive of the write-ahead log", self.store_new)

    async def store_new(self) -> None:
        """Store what was written until now, if there is a chain. An error is recorded; one that can't be corrected ends
        the chain.
        """
        app = self._app
        if app.settings.database.url:
            return
        async with service.busy:
            async with app.db.autocommit() as conn:
                archive, slot = await store.find(conn), await store.find_slot(conn)
            if not app.settings.backup.wal_archive:
                await self._switch_off(archive, has_slot=slot is not None)
            elif archive and not archive.ended:
                gap = _find_end(archive, slot, app.settings.backup.repository)
                if gap:
                    await service.end(app, archive.chain, gap, has_slot=slot is not None)
                else:
                    await self._store(archive)

    async def _switch_off(self, archive: WalArchive | None, *, has_slot: bool) -> None:
        if archive or has_slot:
            async with self._app.db.tx() as conn:
                await store.delete(conn)
            await service.remove(self._app, has_slot=has_slot)

    async def _store(self, archive: WalArchive) -> None:
        app = self._app
        try:
            stored = await self._receive_and_store(archive)
        except (Failure, OSError) as error:
            spool = await asyncio.to_thread(wal.list_spool, self._folder)
            stored = replace(archive, spool_bytes=spool.bytes, error=str(error).rstrip("."))
            log.warning("the write-ahead log was not stored", why=str(error))
        if stored is None:
            return
        async with app.db.tx() as conn:
            await store.save_progress(conn, stored)
        failpoint.reach("wal.recorded")

    async def _receive_and_store(self, archive: WalArchive) -> WalArchive | None:
        """The chain with what is now stored; None if it has ended. Failure, OSError."""
        app, folder = self._app, self._folder
        spool = await asyncio.to_thread(wal.list_spool, folder)
        to = archive.stored_to or archive.began_at
        if spool.bytes < SPOOL_BYTES:
            to = await service.receive(app)
            failpoint.reach("wal.received")
            spool = await asyncio.to_thread(wal.list_spool, folder)
        gap = wal.find_gap(spool, archive.next_segment)
        if gap:
            await service.end(app, archive.chain, f"The segment {gap} of the WAL is missing.", has_slot=True)
            return None
        if not spool.first:
            return archive
        stage = folder.with_name(wal.STAGE)
        await asyncio.to_thread(wal.link_spool, folder, stage)
        failpoint.reach("wal.staged")
        repository = Repository.from_settings(app.settings.backup, folder.parent)
        await repository.backup(stage, wal.to_tags(archive.chain, spool.first, to), instance_id(app.data_dir))
        failpoint.reach("wal.stored")
        await asyncio.to_thread(wal.remove, stage)
        stored = replace(archive, stored_to=to, spool_bytes=spool.bytes, error=None)
        is_due = self._tidied_at is None or app.clock() - self._tidied_at >= _TIDY_EVERY
        if len(spool.complete) >= _KEPT_SEGMENTS or is_due:
            stored = await self._remove_stored(stored, spool.complete)
        return stored

    async def _remove_stored(self, archive: WalArchive, names: Sequence[str]) -> WalArchive:
        """Remove complete segments that are stored, and snapshots that the last one replaces."""
        app = self._app
        if names:
            archive = replace(archive, next_segment=wal.next_segment(names[-1]))
            # Recorded first: what is removed must not look like a gap, nor a gap like what was removed.
            async with app.db.tx() as conn:
                await store.save_progress(conn, archive)
            failpoint.reach("wal.removing")
            for name in names:
                (self._folder / name).unlink()
        spool = await asyncio.to_thread(wal.list_spool, self._folder)
        archive = replace(archive, spool_bytes=spool.bytes)
        failpoint.reach("wal.removed")
        self._tidied_at = app.clock()
        if not app.settings.backup.append_only:
            repository = Repository.from_settings(app.settings.backup, self._folder.parent)
            try:
                found = wal.read_snapshots(await repository.list_snapshots([wal.TAG]))
                last = {each.snapshot.id for each in wal.select_last(found, archive.chain)}
                replaced = [each.snapshot.id for each in found if each.chain == archive.chain]
                await repository.alone(lambda: repository.forget([each for each in replaced if each not in last]))
            except Failure as error:
                log.warning("snapshots of the write-ahead log were not removed", why=str(error))
        return archive


@asynccontextmanager
async def archiving(app: App) -> AsyncGenerator[None]:
    """Store the write-ahead log while the block lasts."""
    task = asyncio.create_task(WalArchiver(app).run())
    try:
        yield
    finally:
        await cancel_all(task)


def _find_end(archive: WalArchive, slot: str | None, repository: str) -> str | None:
    """Why a chain has ended, None if it goes on."""
    if slot is None:
        return _NO_SLOT
    if slot == "lost":
        return _REMOVED
    return _OTHER_REPOSITORY if archive.repository != repository else None
