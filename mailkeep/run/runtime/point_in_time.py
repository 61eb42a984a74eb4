"""The part of a full restore that brings the database to a point in time, with the archive of the write-ahead log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from mailkeep.backup import wal
from mailkeep.backup.layout import Manifest
from mailkeep.backup.restic import Repository, Snapshot
from mailkeep.backup.restored_tree import remove_tree, restore_tree
from mailkeep.backup.scratch_server import CopyUnusable, recover
from mailkeep.backup.wal import WalSnapshot
from mailkeep.core import failpoint
from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RecoveryTarget:
    """A time, the segment that the WAL after the chosen backup begins with, and the snapshots with that WAL."""

    to: datetime
    segment: str
    snapshots: Sequence[WalSnapshot]


@dataclass(frozen=True, slots=True)
class _Range:
    """The times that one chain of WAL can restore, with its backups that can be the beginning, oldest first."""

    chain: UUID
    backups: Sequence[Snapshot]
    end: datetime


async def choose(
    repository: Repository, backups: Sequence[Snapshot], to: datetime, wanted: Snapshot | None
) -> tuple[Snapshot, RecoveryTarget]:
    """The newest backup that was complete at a time, or the one that is `wanted`, and the WAL that leads from it to the
    time. Failure, which names the times that can be restored.
    """
    found = wal.read_snapshots(await repository.list_snapshots([wal.TAG]))
    ranges = _list_ranges(backups, found)
    candidates = [
        (snapshot, each)
        for each in ranges
        for snapshot in each.backups
        if snapshot.time <= to <= each.end and snapshot.id == (wanted or snapshot).id
    ]
    if not candidates:
        raise Failure(_describe(ranges, to, wanted), permanent=True)
    snapshot, chosen = max(candidates, key=lambda each: each[0].time)
    segment = wal.segment_of(snapshot)
    return snapshot, RecoveryTarget(to, segment, wal.select_needed(found, chosen.chain, segment, to))


def check_manifest(target: RecoveryTarget, manifest: Manifest) -> None:
    """Failure unless the manifest of the backup says the same as its tags."""
    if wal.segment_name(manifest.timeline, manifest.lsn) != target.segment:
        raise Failure("The manifest of the backup names another position in the WAL than its tags.", permanent=True)


async def fetch(repository: Repository, target: RecoveryTarget, folder: Path) -> list[Path]:
    """Restore the WAL into a folder, which is created; the folders with the files, in order. Failure."""
    folder.mkdir(mode=0o700)
    found: list[Path] = []
    for number, each in enumerate(target.snapshots):
        place = folder / str(number)
        found.append(await restore_tree(repository, each.snapshot, place, check=wal.check_restored))
    failpoint.reach("restore.wal_restored")
    return found


async def bring_to(target: RecoveryTarget, data_dir: Path, cluster: Path, folders: Sequence[Path]) -> None:
    """Bring the database, which is in its place, to the time. Failure."""
    await asyncio.to_thread(wal.merge_restored, folders, cluster / "pg_wal", target.segment)
    for folder in folders:
        await asyncio.to_thread(remove_tree, folder)
    failpoint.reach("restore.wal_placed")
    try:
        await recover(data_dir, target.to)
    except CopyUnusable as error:
        raise Failure(f"The database was not brought to {iso(target.to)}. {error}", permanent=True) from error
    failpoint.reach("restore.recovered")


def _list_ranges(backups: Sequence[Snapshot], snapshots: Sequence[WalSnapshot]) -> list[_Range]:
    found: list[_Range] = []
    for chain in {each.chain for each in snapshots}:
        own = [each for each in snapshots if each.chain == chain]
        first, end = own[0].first, max(each.to for each in own)
        usable = [
            each
            for each in backups
            if wal.chain_of(each) == chain and wal.segment_of(each)[8:] >= first[8:] and each.time <= end
        ]
        if usable:
            found.append(_Range(chain, sorted(usable, key=lambda each: each.time), end))
    return sorted(found, key=lambda each: each.end)


def _describe(ranges: Sequence[_Range], to: datetime, wanted: Snapshot | None) -> str:
    if not ranges:
        return "The repository has no write-ahead log (backup.wal_archive was off): restore a backup, without --at."
    shown = "; ".join(f"{iso(each.backups[0].time)} to {iso(each.end)}" for each in ranges[-_SHOWN:])
    of_backup = f" with the backup of {iso(wanted.time)}" if wanted else ""
    return f"The database can't be restored to {iso(to)}{of_backup}. Possible times: {shown}."
