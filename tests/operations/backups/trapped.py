"""A process that performs operations on backups, among them of a queue, and is killed when it reaches a
failpoint.

`python -m tests.operations.backups.trapped DATA_DIR FAILPOINT [KIB_PER_SECOND [wal]]`; `-` is no failpoint, `wal`
stores the write-ahead log.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from mailkeep.app import App
from mailkeep.backup.stage import StageSource
from mailkeep.core import failpoint
from mailkeep.features.operations.backups import engine
from mailkeep.features.operations.backups.jobs import BackupWorker
from mailkeep.features.operations.wal_archive.jobs import WalArchiver
from mailkeep.run.runtime.context import attach


async def main(data_dir: Path, place: str, kib_per_second: int, *, stores_wal: bool) -> None:
    def reach(name: str) -> None:
        if name == place:
            os.kill(os.getpid(), signal.SIGKILL)

    def with_queue(app: App) -> StageSource:
        return replace(source(app), queue=data_dir / "postfix" / "queue")

    failpoint.reach = reach
    source, engine._source = engine._source, with_queue
    async with attach(data_dir, "trapped") as app:
        backup = replace(app.settings.backup, upload_kib_per_second=kib_per_second)
        app.settings = replace(app.settings, backup=backup)
        if stores_wal:
            app.settings = replace(app.settings, backup=replace(backup, wal_archive=True))
            await WalArchiver(app).store_new()
        else:
            await BackupWorker(app).perform_waiting()


if __name__ == "__main__":
    rate = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], rate, stores_wal="wal" in sys.argv[4:]))
