"""An application with a private database server, which has a data directory with a domain, a mailbox and mail."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.sql import SQL, Identifier

from mailkeep.app import App
from mailkeep.backup import restic
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock
from mailkeep.db.migrate import migrate
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import ServerOptions
from mailkeep.features.operations.backups.jobs import BackupWorker
from mailkeep.features.operations.backups.model import Backup, BackupOperation
from mailkeep.run.runtime.context import open_vault
from mailkeep.settings import load_settings
from tests.support.backups import find, place_repository, request, wait
from tests.support.scratch import new_directory


class Scene:
    """The application, and a worker that performs what a test requests."""

    def __init__(self, app: App, mailbox: UUID) -> None:
        self.app = app
        self.maildir = app.data_dir / "mail" / str(mailbox) / "Maildir"
        self._started = app.clock()

    def configure(self, **backup: Any) -> None:
        """Change settings of the section `backup`."""
        settings = self.app.settings
        self.app.settings = replace(settings, backup=replace(settings.backup, **backup))

    def pass_time(self, passed: timedelta) -> None:
        """Set the clock ahead."""
        at: datetime = self.app.clock() + passed
        self.app.clock = lambda: at

    async def perform(self, worker: BackupWorker | None = None, **operation: Any) -> BackupOperation:
        """Request an operation, perform it and return its end."""
        operation_id = await request(self.app, **operation)
        assert await (worker or BackupWorker(self.app)).perform_waiting()
        return await wait(self.app, operation_id, 1)

    async def back_up(self) -> Backup:
        """A backup that succeeds."""
        operation = await self.perform()
        assert operation.state == "succeeded", operation.error
        return await find(self.app, operation)

    async def count(self, table: str) -> int:
        """The number of rows of a table."""
        async with self.app.db.autocommit() as conn:
            cursor = await conn.execute(SQL("SELECT count(*) AS n FROM {}").format(Identifier(table)))
            row = await cursor.fetchone()
        assert row
        return row["n"]


@pytest.fixture(scope="module")
async def data_dir() -> AsyncIterator[Path]:
    if restic.find_program() is None:
        pytest.skip("restic is not installed: apt install restic")
    folder = new_directory("mailkeep-backups-", 0o755)
    (folder / "data").mkdir(mode=0o711)
    open_vault(folder / "data", load_settings(folder / "data", environ={}))
    lock = acquire_lock(folder / "data")
    server = await postgres.start(folder / "data", ServerOptions(settings={"max_slot_wal_keep_size": "64MB"}))
    await migrate(server.urls.owner, utc_now)
    yield folder / "data"
    await server.stop()
    lock.release()
    shutil.rmtree(folder)


@pytest.fixture
async def scene(data_dir: Path) -> AsyncIterator[Scene]:
    urls = postgres.running_urls(data_dir)
    assert urls
    loaded = load_settings(data_dir, environ={})
    db = DatabasePool(urls.app)
    await db.open()
    app = App(loaded.settings, data_dir, utc_now, open_vault(data_dir, loaded), db, loaded)
    mailbox = uuid7(utc_now())
    scene = Scene(app, mailbox)
    place_repository(data_dir)
    (scene.maildir / "cur").mkdir(parents=True)
    (scene.maildir / "cur" / "1.a:2,S").write_bytes(b"Message-ID: <1@b.test>\r\n\r\nText\r\n")
    yield scene
    async with db.tx() as conn:
        await conn.execute("DELETE FROM backup_operations")
        await conn.execute("DELETE FROM backups")
    await db.close()
    shutil.rmtree(data_dir / "backup", ignore_errors=True)
    shutil.rmtree(data_dir / "mail")
