"""Backups of a running instance: request them, wait for them, and look into the repository with restic."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from uuid import UUID

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.backup import restic
from mailkeep.core.ids import uuid7
from mailkeep.features.operations.backups import store
from mailkeep.features.operations.backups.model import Backup, BackupOperation, OperationKind
from mailkeep.run.runtime.context import attach
from tests.support.hostile_repository import replace_key
from tests.support.scratch import new_directory

SECONDS = 120.0


async def request(app: App, kind: OperationKind = "create", argument: Mapping[str, str] | None = None) -> UUID:
    """Insert an operation; its ID. Asserts that no other one waits or runs."""
    at = app.clock()
    backup = Backup(uuid7(at), "running", "manual", at, version=__version__) if kind == "create" else None
    operation = BackupOperation(
        uuid7(at), kind, "waiting", backup.id if backup else None, None, "tests", at, argument or {}
    )
    async with app.db.tx() as conn:
        if backup:
            await store.insert_backup(conn, backup)
        assert await store.insert_operation(conn, operation), "another operation waits or runs"
    return operation.id


async def wait(app: App, operation_id: UUID, seconds: float = SECONDS) -> BackupOperation:
    """The operation when it has ended."""
    async with asyncio.timeout(seconds):
        while True:
            async with app.db.autocommit() as conn:
                operation = await store.find_operation(conn, operation_id)
            assert operation
            if operation.state not in ("waiting", "running"):
                return operation
            await asyncio.sleep(0.05)


async def find(app: App, operation: BackupOperation) -> Backup:
    """The backup of an operation."""
    assert operation.backup_id
    async with app.db.autocommit() as conn:
        backup = await store.find_backup(conn, operation.backup_id)
    assert backup
    return backup


async def back_up(app: App) -> Backup:
    """A backup that succeeds."""
    operation = await wait(app, await request(app))
    assert operation.state == "succeeded", operation.error
    return await find(app, operation)


def back_up_now(data_dir: Path) -> Backup:
    """A backup of a running instance."""

    async def run() -> Backup:
        async with attach(data_dir, "tests") as app:
            return await back_up(app)

    return asyncio.run(run())


def place_repository(data_dir: Path) -> None:
    """Give a data directory without backups an empty repository that opens at once, not after a second of CPU time: a
    backup opens it several times.
    """
    shutil.copytree(_empty_repository(), data_dir / "backup", dirs_exist_ok=True)


@cache
def _empty_repository() -> Path:
    folder = new_directory("mailkeep-repository-", 0o700)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    password = folder / "password"
    password.touch(0o600)
    password.write_text("a password of tests\n")
    repository = restic.Repository(str(folder / "repository"), password, folder / "cache")
    subprocess.run(["restic", "init", "-q"], env=repository.variables(), check=True, timeout=60)
    replace_key(repository)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    return folder


def run_restic(data_dir: Path, *arguments: str, repository: str = "") -> str:
    """The output of restic on the instance's repository."""
    folder = data_dir / "backup"
    program = restic.find_program()
    assert program
    environment = {
        "PATH": "/usr/bin:/bin",
        "RESTIC_REPOSITORY": repository or str(folder / "repository"),
        "RESTIC_PASSWORD_FILE": str(folder / "password"),
        "RESTIC_CACHE_DIR": str(folder / "cache"),
    }
    command = [program, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=120).stdout


def restore(data_dir: Path, snapshot: str, target: Path) -> Path:
    """Restore a snapshot; its folder with the entries of `backup/layout`."""
    run_restic(data_dir, "restore", "--no-lock", snapshot, "--target", str(target))
    return target / str(data_dir / "backup" / "stage").lstrip("/")


def perform_now(
    data_dir: Path, kind: OperationKind, backup_id: UUID, argument: Mapping[str, object] | None = None
) -> BackupOperation:
    """An operation on a backup of a running instance, when it has ended."""

    async def run() -> BackupOperation:
        async with attach(data_dir, "tests") as app:
            at = app.clock()
            operation = BackupOperation(uuid7(at), kind, "waiting", backup_id, None, "tests", at, argument or {})
            async with asyncio.timeout(SECONDS):  # a scheduled verification may run
                while not await _insert(app, operation):
                    await asyncio.sleep(0.1)
            return await wait(app, operation.id)

    return asyncio.run(run())


async def _insert(app: App, operation: BackupOperation) -> bool:
    async with app.db.tx() as conn:
        return await store.insert_operation(conn, operation)
