"""What `backup.wal_archive` costs each minute: a database where nothing happens, and one where much is written.

CPU of the process with its ended children (pg_receivewal, restic), and what the repository grows by.
`python -m bench.wal_archive [MINUTES]`: how often the log is stored in each case; a minute is not waited for.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

from mailkeep.app import App
from mailkeep.backup import wal
from mailkeep.core.clock import utc_now
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock
from mailkeep.db.migrate import migrate
from mailkeep.features.operations.backups.jobs import BackupWorker
from mailkeep.features.operations.wal_archive.jobs import WalArchiver
from mailkeep.run.runtime.context import attach, open_vault
from mailkeep.settings import load_settings
from tests.support.backups import request, wait
from tests.support.scratch import new_directory

MIB = 1 << 20


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def write(app: App, mebibytes: int) -> None:
    async with app.db.autocommit() as conn:
        for _ in range(mebibytes):
            await conn.execute(
                "SELECT pg_logical_emit_message(false, 'bench', string_agg(md5(random()::text), ''))"
                " FROM generate_series(1, 32768)"
            )


async def measure(app: App, minutes: int, mebibytes: int) -> None:
    archiver, repository = WalArchiver(app), app.data_dir / "backup" / "repository"
    await archiver.store_new()
    before, cpu = size(repository), 0.0
    for _ in range(minutes):
        await write(app, mebibytes)
        began = os.times()
        await archiver.store_new()
        ended = os.times()
        cpu += sum(ended[:4]) - sum(began[:4])
    added = (size(repository) - before) / minutes / MIB
    print(f"{mebibytes} MiB of WAL a minute: {cpu / minutes:.2f} s of CPU a minute, {added:.2f} MiB stored", flush=True)


async def main(minutes: int) -> None:
    folder = new_directory("mailkeep-bench-", 0o755)
    data_dir = folder / "data"
    data_dir.mkdir(mode=0o711)
    os.environ["MAILKEEP_BACKUP__WAL_ARCHIVE"] = "true"
    open_vault(data_dir, load_settings(data_dir))
    lock = acquire_lock(data_dir)
    server = await postgres.start(data_dir)
    try:
        await migrate(server.urls.owner, utc_now)
        async with attach(data_dir, "bench") as app:
            operation = await request(app)
            await BackupWorker(app).perform_waiting()
            assert (await wait(app, operation)).state == "succeeded"
            for mebibytes in (0, 1, 16):
                await measure(app, minutes, mebibytes)
            await wal.drop_slot(data_dir)
    finally:
        await server.stop()
        lock.release()
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else 5))
