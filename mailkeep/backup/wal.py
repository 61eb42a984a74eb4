"""The write-ahead log (WAL) of the private database, received into a folder and stored as snapshots of their own.

pg_receivewal runs for a moment each minute. In between, a replication slot keeps what is not received, up to
`max_slot_wal_keep_size` (db/postgres_cluster); beyond that PostgreSQL gives the slot up, rather than fill the disk.

The WAL that follows one slot is a chain: its ID is in the tags of the backups that it belongs to, and of its own
snapshots. Another instance, also one that was restored from the same backup, begins another chain. A snapshot has all
files of the folder, and the name of the first in its tags: of several with the same one, the last has all files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

from psycopg.conninfo import make_conninfo

from mailkeep.backup.database_copy import find_cluster, find_programs, run_program
from mailkeep.backup.restic import Snapshot
from mailkeep.backup.restored_tree import HostileSnapshot
from mailkeep.core.clock import iso
from mailkeep.core.errors import Failure
from mailkeep.core.ids import parse_uuid
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import BACKUP

TAG = "wal"
"""The tag of snapshots of WAL."""
SLOT = "mailkeep_wal"
"""The replication slot."""
SPOOL, STAGE = "wal", "wal-stage"
"""In the folder of backups: what is received, and what is being stored."""
SEGMENT_BYTES = 16 << 20
LONGEST_BACKUP = timedelta(days=1)
"""How much earlier than its snapshot a backup may have begun."""

_PROGRAM = "pg_receivewal"
_PARTIAL = ".partial"
_SEGMENT = re.compile(r"[0-9A-F]{24}")
_FILE = re.compile(r"[0-9A-F]{24}(\.partial)?|[0-9A-F]{8}\.history")
_CHAIN, _SEGMENT_TAG, _FIRST, _TO = "chain=", "segment=", "first=", "to="
_SEGMENTS_PER_LOG = 256
_RECEIVE_SECONDS = 300.0
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class WalSnapshot:
    """A snapshot of WAL. What was committed before `to` is in it, or in one with a lower `first`."""

    chain: UUID
    first: str
    to: datetime
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class WalSpool:
    """What is received: names of complete segments in order, the one that is being filled, and the size of all."""

    complete: Sequence[str]
    partial: str | None
    bytes: int

    @property
    def first(self) -> str:
        """The name of the first segment, complete or not; empty if there is none."""
        return self.complete[0] if self.complete else self.partial or ""


def segment_name(timeline: int, lsn: str) -> str:
    """The name of the segment with this position, as 0/2000028."""
    high, _, low = lsn.partition("/")
    return f"{timeline:08X}{int(high, 16):08X}{int(low, 16) // SEGMENT_BYTES:08X}"


def next_segment(name: str) -> str:
    """The name of the segment after this one."""
    number = int(name[8:16], 16) * _SEGMENTS_PER_LOG + int(name[16:], 16) + 1
    return f"{name[:8]}{number // _SEGMENTS_PER_LOG:08X}{number % _SEGMENTS_PER_LOG:08X}"


def to_tags(chain: UUID, first: str, to: datetime) -> list[str]:
    """The tags of a snapshot of WAL."""
    return [TAG, f"{_CHAIN}{chain}", f"{_FIRST}{first}", f"{_TO}{iso(to)}"]


def to_backup_tags(chain: UUID, segment: str) -> list[str]:
    """The tags of a backup that WAL follows, from this segment on."""
    return [f"{_CHAIN}{chain}", f"{_SEGMENT_TAG}{segment}"]


def segment_of(snapshot: Snapshot) -> str:
    """The segment that the WAL after a backup begins with; empty if none follows."""
    name = _value(snapshot, _SEGMENT_TAG)
    return name if _SEGMENT.fullmatch(name) else ""


def chain_of(snapshot: Snapshot) -> UUID | None:
    """The chain of a backup's snapshot, or of WAL."""
    return parse_uuid(_value(snapshot, _CHAIN))


def read_snapshots(snapshots: Sequence[Snapshot]) -> list[WalSnapshot]:
    """The snapshots of WAL among these, in the order of their segments."""
    found: list[WalSnapshot] = []
    for each in snapshots:
        chain, first = chain_of(each), _value(each, _FIRST)
        try:
            to = datetime.fromisoformat(_value(each, _TO))
        except ValueError:
            continue
        if TAG in each.tags and chain and _SEGMENT.fullmatch(first) and to.tzinfo:
            found.append(WalSnapshot(chain, first, to, each))
    return sorted(found, key=lambda each: (each.chain, each.first, each.to))


def select_last(snapshots: Sequence[WalSnapshot], chain: UUID) -> list[WalSnapshot]:
    """Of a chain's snapshots with the same first segment the last one, in order."""
    return list({each.first: each for each in snapshots if each.chain == chain}.values())


def select_removed(
    snapshots: Sequence[WalSnapshot], backups: Sequence[Snapshot], keep: timedelta, at: datetime
) -> list[str]:
    """The IDs of snapshots of WAL that nothing needs: another one has all of it, or it is older than the newest backup
    that was made before the last `keep`, so that each time since then can be restored. `backups`: those that are kept.
    The last day is never removed: a backup may be in progress.
    """
    removed: list[str] = []
    for chain in {each.chain for each in snapshots}:
        last = {each.snapshot.id for each in select_last(snapshots, chain)}
        times = sorted(each.time for each in backups if chain_of(each) == chain)
        old = [each for each in times if each <= at - keep]
        begin = old[-1] if old else times[0] if times else at
        for each in snapshots:
            is_old = each.to < min(begin, at) - LONGEST_BACKUP
            if each.chain == chain and (is_old or each.snapshot.id not in last):
                removed.append(each.snapshot.id)
    return removed


def select_needed(snapshots: Sequence[WalSnapshot], chain: UUID, start: str, to: datetime) -> list[WalSnapshot]:
    """The snapshots that a backup, which begins in the segment `start`, needs to be brought to a time."""
    found = select_last(snapshots, chain)
    before = [number for number, each in enumerate(found) if each.first[8:] <= start[8:]]
    found = found[before[-1] if before else 0 :]
    after = [number for number, each in enumerate(found) if each.to >= to]
    return found[: after[0] + 1] if after else found


def list_spool(folder: Path) -> WalSpool:
    """What is in the folder. Blocks."""
    names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    complete = [each for each in names if _SEGMENT.fullmatch(each)]
    partial = [each.removesuffix(_PARTIAL) for each in names if each.endswith(_PARTIAL)]
    return WalSpool(complete, partial[-1] if partial else None, sum((folder / each).stat().st_size for each in names))


def find_gap(spool: WalSpool, expected: str) -> str | None:
    """The name of the first segment that is missing; `expected`: the next one after those that were removed, or
    empty.
    """
    names = [*spool.complete, *([spool.partial] if spool.partial else [])]
    if expected and names and names[0][8:] > expected[8:]:
        return expected
    return next((next_segment(name) for name, after in pairwise(names) if after != next_segment(name)), None)


def link_spool(folder: Path, stage: Path) -> None:
    """Link what is in the folder into an empty stage, so that nothing vanishes while it is stored. Blocks."""
    remove(stage)
    stage.mkdir(mode=0o700)
    for each in folder.iterdir():
        if _FILE.fullmatch(each.name):
            os.link(each, stage / each.name)


def remove(folder: Path) -> None:
    """Remove a folder, if it exists. Blocks."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


async def create_slot(data_dir: Path) -> None:
    """Create the replication slot: from now on the server keeps what is not received. Failure."""
    await run_program([*_command(data_dir), "--create-slot"])


async def drop_slot(data_dir: Path) -> None:
    """Drop the replication slot. Failure, also if there is none."""
    await run_program([*_command(data_dir), "--drop-slot"])


async def receive(data_dir: Path, folder: Path, lsn: str) -> None:
    """Receive what is written up to a position, after which something more was written. Failure.

    Complete segments have their name, the last one the suffix `.partial`; all are synced.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    for each in folder.glob(f"*{_PARTIAL}"):
        if each.stat().st_size != SEGMENT_BYTES:  # pg_receivewal was killed while it created it
            each.unlink()
    arguments = ["-D", str(folder), "--endpos", lsn, "--synchronous", "--no-loop"]
    try:
        async with asyncio.timeout(_RECEIVE_SECONDS):
            await run_program([*_command(data_dir), *arguments])
    except TimeoutError:
        raise Failure(f"pg_receivewal did not end within {_RECEIVE_SECONDS:.0f} s.") from None


def check_restored(folder: Path) -> None:
    """Check a restored snapshot of WAL. HostileSnapshot if it has anything but segments and history files. Blocks."""
    with os.scandir(folder) as entries:
        found = [(each.name, each.stat(follow_symlinks=False), each.is_file(follow_symlinks=False)) for each in entries]
    if len(found) > _MOST_FILES:
        raise HostileSnapshot("A snapshot of WAL has too many files.", permanent=True)
    for name, status, is_file in found:
        if not is_file or not _FILE.fullmatch(name) or status.st_size > SEGMENT_BYTES or status.st_nlink > 1:
            raise HostileSnapshot(f"A snapshot of WAL has an entry that is not WAL: {name!r}.", permanent=True)


def merge_restored(folders: Sequence[Path], target: Path, start: str) -> None:
    """Move the files of restored snapshots, in their order, into the WAL of a database that begins in the segment
    `start`. Failure if a segment is missing. Blocks.

    They replace those that came with the copy of the database, whose last one is not complete. The last one that was
    not complete when it was stored gets its full name.
    """
    complete: set[str] = set()
    partial: dict[str, Path] = {}
    for path in (each for folder in folders for each in sorted(folder.iterdir())):
        name = path.name.removesuffix(_PARTIAL)
        if name != path.name:
            partial[name] = path
        else:
            path.replace(target / name)
            complete.add(name)
    for name, path in partial.items():
        if name not in complete:
            path.replace(target / name)
    present = {each.name for each in target.iterdir() if _SEGMENT.fullmatch(each.name)}
    name = start
    while name in present:
        name = next_segment(name)
    if name <= max(present, default=start):
        raise Failure(f"The WAL is not complete: the segment {name} is missing.", permanent=True)


def _command(data_dir: Path) -> list[str]:
    programs, major = find_programs(find_cluster(data_dir))
    if not os.access(programs / _PROGRAM, os.X_OK):
        raise Failure(f"{_PROGRAM} of PostgreSQL {major} is missing in {programs}.", permanent=True)
    host = str(run_folder(data_dir.resolve()) / "pg")
    server = make_conninfo(host=host, port=5432, user=BACKUP, dbname="replication")
    return [str(programs / _PROGRAM), "-d", server, "--no-password", "--slot", SLOT]


def _value(snapshot: Snapshot, prefix: str) -> str:
    return next((tag.removeprefix(prefix) for tag in snapshot.tags if tag.startswith(prefix)), "")
