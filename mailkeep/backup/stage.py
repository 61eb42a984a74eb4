"""The stage: the folder that becomes a snapshot, always at the same place, so that restic finds what has not changed.

Order: links of contents and mail, so that what is deleted meanwhile is there; the database; Postfix's queue; contents
and mail again. A file is synced before the row that names it commits, and a message that leaves the queue is in a
mailbox, so nothing in the database or in the queue lacks its file.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from mailkeep.backup import database_copy, index, layout, mail_snapshot, queue_copy
from mailkeep.backup.database_copy import DatabaseCopy
from mailkeep.backup.index import IndexTotals
from mailkeep.backup.mail_snapshot import SnapshotCancelled, Stop
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure

T = TypeVar("T")
Report = Callable[[str, int, int], Awaitable[None]]
"""Reports what is done now, and how many of how many bytes (or steps) are done."""

STAGE, NEXT_INDEX = "stage", "index.sqlite"
# Of the data directory: parts of a snapshot with an entry of their own, and what a start makes again.
_NOT_OF_INSTANCE = frozenset(
    {"backup", "content", "mail", "pg", "pg.new", "log", "tmp", "lock", "run.json"}
    | {"postfix", "dovecot", "nginx", "unbound", "clamd", "freshclam", "webmail", "php-fpm"}
)


@dataclass(frozen=True, slots=True)
class StageSource:
    """What a snapshot is made of. `queue`: Postfix's, in the full profile. `secret_file`: the master secret, if it is
    outside the data directory.
    """

    data_dir: Path
    queue: Path | None = None
    secret_file: Path | None = None

    @property
    def folder(self) -> Path:
        """The folder of backups in the data directory."""
        return self.data_dir / "backup"

    @property
    def stage(self) -> Path:
        """The stage."""
        return self.folder / STAGE


async def begin(source: StageSource) -> None:
    """Create an empty stage with its index. Failure if the space does not suffice."""
    await asyncio.to_thread(remove, source)
    cluster = database_copy.find_cluster(source.data_dir)
    database_copy.find_programs(cluster)
    await asyncio.to_thread(_check_space, source.folder, cluster)
    source.stage.mkdir(mode=0o700)
    await asyncio.to_thread(index.begin_index, source.stage, source.folder / NEXT_INDEX)


async def add_database(source: StageSource, report: Report) -> DatabaseCopy:
    """Add links of the files that exist now, and the database. Failure, OSError. Its threads end with it."""
    await report("mail", 0, 0)
    await run_in_thread(partial(_copy_files, source, is_last=False))
    failpoint.reach("backup.linked")
    await report("database", 0, 0)
    database = await database_copy.copy_database(source.data_dir, source.stage / layout.DATABASE)
    failpoint.reach("backup.database_copied")
    return database


async def add_files(source: StageSource, report: Report) -> IndexTotals:
    """Add everything else but the manifest. OSError, sqlite3.Error. Its threads end with it."""
    stage = source.stage
    if source.queue:
        await report("queue", 0, 0)
        await run_in_thread(partial(queue_copy.copy_queue, source.queue, stage / layout.QUEUE))
        failpoint.reach("backup.queue_copied")
    await report("mail", 0, 0)
    await run_in_thread(partial(_copy_files, source))
    failpoint.reach("backup.mail_copied")
    await report("index", 0, 0)
    mail = await run_in_thread(partial(index.index_mail, stage))
    failpoint.reach("backup.indexed")
    return mail


def remove(source: StageSource) -> None:
    """Remove the stage, also one of a process that was killed. Blocks."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(source.stage)


def keep_index(source: StageSource) -> None:
    """Keep the index of a stored snapshot for the next one. Blocks."""
    (source.stage / layout.INDEX).replace(source.folder / NEXT_INDEX)


def _copy_files(source: StageSource, stop: Stop, *, is_last: bool = True) -> None:
    """Contents, mail and the instance's own files: what is not yet in the stage."""
    stage, data_dir = source.stage, source.data_dir
    mail_snapshot.link_tree(data_dir / "content", stage / layout.CONTENT, stop)
    mail_snapshot.snapshot_mail(data_dir / "mail", stage / layout.MAIL, stop, is_last=is_last)
    mail_snapshot.copy_tree(data_dir, stage / layout.INSTANCE, stop, skip=_NOT_OF_INSTANCE)
    if source.secret_file:
        shutil.copy2(source.secret_file, stage / layout.INSTANCE / "secret")


def _check_space(folder: Path, cluster: Path) -> None:
    needed = database_copy.estimate_bytes(cluster)
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        raise Failure(
            f"{folder} has {free >> 20} MiB free; the copy of the database needs {needed >> 20} MiB. Free some space."
        )


async def run_in_thread(work: Callable[[Stop], T]) -> T:
    """Run blocking work; if the caller is cancelled, wait until the work has ended."""
    stop = Stop()
    running = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        with contextlib.suppress(SnapshotCancelled, Exception):
            await running
        raise
