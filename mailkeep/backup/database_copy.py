"""A physical copy of the private database cluster while it runs (pg_basebackup), checked by its own manifest
(pg_verifybackup).

It is physical, because audit log and events depend on transaction numbers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import make_conninfo

from mailkeep.core.errors import Failure
from mailkeep.db.instance import instance_id, run_folder
from mailkeep.db.postgres_binaries import cluster_major, find_binaries
from mailkeep.db.postgres_cluster import BACKUP, choose_location, clean_environment

PROGRAMS = ("pg_basebackup", "pg_verifybackup")
END_WITH_PARENT = ("/usr/bin/setpriv", "--pdeathsig", "KILL", "--")
"""The beginning of a command that ends when the process that started it is killed."""

_START = re.compile(r"^START WAL LOCATION: ([0-9A-F]+/[0-9A-F]+) ", re.MULTILINE)
_TIMELINE = re.compile(r"^START TIMELINE: ([0-9]+)$", re.MULTILINE)
_SPARE_BYTES = 128 << 20  # write-ahead log that is written during the copy, and the index
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """The PostgreSQL version of a copy, and where it begins in the write-ahead log."""

    major: int
    lsn: str
    timeline: int


def find_cluster(data_dir: Path) -> Path:
    """The folder of the private cluster. Failure if this account can't reach it."""
    data_dir = data_dir.resolve()
    return choose_location(data_dir, instance_id(data_dir)).cluster


def find_programs(cluster: Path) -> tuple[Path, int]:
    """The folder of PostgreSQL's programs for this cluster, and their version. Failure if one is missing."""
    binaries = find_binaries(cluster_major(cluster))
    missing = [name for name in PROGRAMS if not os.access(binaries.bin_dir / name, os.X_OK)]
    if missing:
        raise Failure(
            f"{' and '.join(missing)} of PostgreSQL {binaries.major} missing in {binaries.bin_dir}: "
            f"`apt install postgresql-{binaries.major}`.",
            permanent=True,
        )
    return binaries.bin_dir, binaries.major


def estimate_bytes(cluster: Path) -> int:
    """How much space a copy needs, with what may be written meanwhile. Blocks."""
    total = _SPARE_BYTES
    for folder, _, names in os.walk(cluster):
        if folder == str(cluster / "pg_wal"):
            continue
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


async def copy_database(data_dir: Path, target: Path) -> DatabaseCopy:
    """Copy the cluster of the running instance into the folder `target`, which does not exist, and verify the copy.

    What was committed before the call is in the copy. Failure. Cancelled, it ends its programs.
    """
    programs, major = find_programs(find_cluster(data_dir))
    server = make_conninfo(
        host=str(run_folder(data_dir.resolve()) / "pg"), port=5432, user=BACKUP, dbname="replication"
    )
    options = ["-D", str(target), "-F", "plain", "-X", "stream", "-c", "fast", "--no-sync", "--label", "mailkeep"]
    await run_program([str(programs / "pg_basebackup"), "-d", server, *options])
    await run_program([str(programs / "pg_verifybackup"), "--quiet", str(target)])
    label = (target / "backup_label").read_text("utf-8", "replace")
    start, timeline = _START.search(label), _TIMELINE.search(label)
    if start is None or timeline is None:
        raise Failure("pg_basebackup wrote no start position into backup_label.")
    return DatabaseCopy(major, start[1], int(timeline[1]))


async def run_program(argv: Sequence[str]) -> None:
    """Run one of PostgreSQL's programs to its end, in a process group of its own. Failure with its message."""
    process = await asyncio.create_subprocess_exec(
        *END_WITH_PARENT,
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=clean_environment(),
        cwd="/",
        start_new_session=True,
    )
    try:
        _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_SECONDS):
                    await process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        text = errors.decode("utf-8", "replace")
        if "No space left on device" in text:
            raise Failure("The database could not be copied: no space is left on the disk of the data directory.")
        lines = " ".join(line.strip() for line in text.splitlines()[-3:])[:1000]
        raise Failure(f"{Path(argv[0]).name} failed with status {process.returncode}: {lines}")
