"""Operations on backups: making, cancelling, retention, the schedule, errors, and processes that are killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailkeep.app import App
from mailkeep.backup import layout, stage
from mailkeep.backup.stage import Report
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict
from mailkeep.features.operations.backups import engine, service, store
from mailkeep.features.operations.backups.jobs import HANDLERS, BackupWorker
from mailkeep.features.operations.backups.model import BackupOperation
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.jobs.repeat import repeat
from mailkeep.run.cli.accounts import cli_principal
from tests.operations.backups.conftest import Scene
from tests.support.backups import find, request, restore, run_restic, wait

PLACES = (
    "backup.claimed",
    "backup.linked",
    "backup.database_copied",
    "backup.queue_copied",
    "backup.mail_copied",
    "backup.indexed",
    "backup.staged",
    "backup.stored",
    "backup.recorded",
)


def list_snapshots(data_dir: Path) -> list[str]:
    return [line.split()[0] for line in run_restic(data_dir, "snapshots", "-q").splitlines() if "/stage" in line]


async def test_a_backup_can_be_restored_and_the_next_adds_little(scene: Scene, tmp_path: Path):
    shutil.rmtree(scene.app.data_dir / "backup")  # this one's repository is created by the backup
    first = await scene.back_up()
    second = await scene.back_up()
    assert first.counts == layout.Counts(0, 0, 1)
    assert (first.state, first.error, first.size_bytes is not None) == ("succeeded", None, True)
    assert second.added_bytes
    assert first.added_bytes
    assert second.added_bytes < first.added_bytes / 4
    restored = restore(scene.app.data_dir, second.snapshot, tmp_path)
    message = restored / "mail" / scene.maildir.parent.name / "Maildir/cur/1.a:2,S"
    assert message.read_bytes() == (scene.maildir / "cur/1.a:2,S").read_bytes()
    assert layout.read_manifest(restored).backup_id == second.id
    assert (restored / "database" / "backup_manifest").exists()
    folder = scene.app.data_dir / "backup"
    assert (folder.stat().st_mode & 0o777, (folder / "password").stat().st_mode & 0o777) == (0o700, 0o600)
    assert not (folder / "stage").exists()


async def test_one_operation_at_a_time(scene: Scene):
    await request(scene.app)
    with pytest.raises(AssertionError, match="another operation"):
        await request(scene.app)


async def test_a_cancelled_backup_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def hang(*_: object) -> None:
        reached.set()
        await go_on.wait()

    monkeypatch.setattr(stage.database_copy, "copy_database", hang)
    operation_id = await request(scene.app)
    performing = asyncio.create_task(BackupWorker(scene.app).perform_waiting())
    await asyncio.wait_for(reached.wait(), 30)
    async with scene.app.db.autocommit() as conn:
        operation = await store.find_operation(conn, operation_id)
        assert operation
        assert operation.backup_id
        assert (operation.state, operation.phase) == ("running", "database")
        assert await store.request_cancel(conn, operation.backup_id, scene.app.clock())
    await asyncio.wait_for(performing, 10)
    ended = await wait(scene.app, operation_id, 1)
    assert (ended.state, ended.error) == ("cancelled", None)
    assert (await find(scene.app, ended)).state == "cancelled"
    assert not (scene.app.data_dir / "backup" / "stage").exists()


async def test_cancelling_ends_restic_and_leaves_no_lock(scene: Scene):
    await scene.back_up()
    (scene.maildir / "cur" / "2.large:2,S").write_bytes(os.urandom(4 << 20))
    scene.configure(upload_kib_per_second=200)
    operation_id = await request(scene.app)
    performing = asyncio.create_task(BackupWorker(scene.app).perform_waiting())

    async def uploads() -> BackupOperation:
        while True:
            async with scene.app.db.autocommit() as conn:
                operation = await store.find_operation(conn, operation_id)
            if operation and operation.phase == "upload" and operation.done:
                return operation
            await asyncio.sleep(0.05)

    operation = await asyncio.wait_for(uploads(), 30)
    assert 0 < operation.done <= operation.total
    async with scene.app.db.autocommit() as conn:
        assert operation.backup_id
        await store.request_cancel(conn, operation.backup_id, scene.app.clock())
    await asyncio.wait_for(performing, 20)
    assert (await wait(scene.app, operation_id, 1)).state == "cancelled"
    assert run_restic(scene.app.data_dir, "list", "locks", "--no-lock", "-q") == ""
    assert len(list_snapshots(scene.app.data_dir)) == 1


async def test_the_retention_and_the_repository_decide_which_backups_there_are(scene: Scene):
    scene.configure(keep_hourly=1, keep_daily=0, keep_weekly=0, keep_monthly=0)
    removed = await scene.back_up()
    scene.pass_time(timedelta(days=1))
    scene.configure(append_only=True)
    lost = await scene.back_up()
    assert len(list_snapshots(scene.app.data_dir)) == 2, "nothing is removed from an append-only repository"
    scene.configure(append_only=False)
    ended = await scene.perform(kind="prune")
    assert (ended.state, ended.result) == ("succeeded", {"removed": 1})
    assert list_snapshots(scene.app.data_dir) == [lost.snapshot[:8]]
    # A snapshot without a row gets one; a row without a snapshot is marked.
    kept = await scene.back_up()
    run_restic(scene.app.data_dir, "forget", lost.snapshot)
    async with scene.app.db.autocommit() as conn:
        await store.delete_backup(conn, kept.id)
    await scene.perform(kind="prune")
    async with scene.app.db.autocommit() as conn:
        assert await store.find_backup(conn, removed.id) is None
        rows = {each.id: each for each in await store.list_stored(conn)}
    assert rows.keys() == {lost.id, kept.id}
    assert (rows[lost.id].state, rows[lost.id].error) == ("failed", "Its snapshot is no longer in the repository.")
    assert (rows[kept.id].state, rows[kept.id].snapshot) == ("succeeded", kept.snapshot)
    assert rows[kept.id].counts == kept.counts
    ended = await scene.perform(kind="prune", argument={"backup_id": str(kept.id)})
    assert (ended.result, list_snapshots(scene.app.data_dir)) == ({"removed": 1}, [])


async def test_a_repository_that_is_missing_is_not_created_again(scene: Scene):
    await scene.back_up()
    repository = scene.app.data_dir / "backup" / "repository"
    repository.rename(repository.with_name("away"))
    ended = await scene.perform()
    assert ended.state == "failed"
    assert "mount it" in (ended.error or "")
    assert not repository.exists()


async def test_a_wrong_key_is_named(scene: Scene):
    await scene.back_up()
    password = scene.app.data_dir / "backup" / "password"
    password.write_text("wrong\n")
    ended = await scene.perform()
    assert (ended.state, ended.error) == ("failed", "The key does not open the repository.")
    assert (await find(scene.app, ended)).error == ended.error


async def test_the_schedule_inserts_what_is_due(scene: Scene):
    async def nothing(_app: App, _operation: BackupOperation, _report: Report) -> Mapping[str, Any]:
        return {}

    worker = BackupWorker(scene.app, {**HANDLERS, "verify": nothing})
    await worker.schedule_due()
    assert await scene.count("backup_operations") == 0, "no schedule"
    scene.configure(schedule="hourly")
    await worker.schedule_due()
    await worker.schedule_due()
    assert await worker.perform_waiting()
    await worker.schedule_due()
    assert await scene.count("backup_operations") == 1, "it is verified at the time of day"
    scene.pass_time(timedelta(days=1))
    await worker.schedule_due()
    assert await worker.perform_waiting()
    await worker.schedule_due()
    async with scene.app.db.autocommit() as conn:
        verification = await store.find_open_operation(conn)
        newest = await store.find_newest(conn)
    assert verification
    assert newest
    assert (verification.kind, verification.backup_id, newest.trigger) == ("verify", newest.id, "schedule")
    assert await worker.perform_waiting()
    await worker.schedule_due()
    assert await scene.count("backup_operations") == 3
    scene.pass_time(timedelta(hours=1))
    await worker.schedule_due()
    assert await scene.count("backup_operations") == 4


async def test_an_unknown_error_ends_the_operation(scene: Scene):
    async def fail(*_: object) -> Mapping[str, Any]:
        raise RuntimeError("a bug")

    ended = await scene.perform(BackupWorker(scene.app, {"create": fail}))
    assert (ended.state, (await find(scene.app, ended)).state) == ("failed", "failed")
    assert "internal error" in (ended.error or "")
    unknown = await scene.perform(BackupWorker(scene.app, {}))
    assert "does not know" in (unknown.error or "")


async def test_an_external_database_is_refused(scene: Scene):
    database = replace(scene.app.settings.database, url="postgresql://db.example/mailkeep")
    scene.app.settings = replace(scene.app.settings, database=database)
    assert "external database" in ((await scene.perform()).error or "")


@pytest.mark.parametrize("place", PLACES)
async def test_a_killed_process_leaves_nothing_and_the_next_backup_works(scene: Scene, place: str):
    """The process is killed when it reaches the place; the next one ends the operation, and removes what it left."""
    queued = scene.app.data_dir / "postfix" / "queue" / "active" / "A"  # of a full profile
    queued.parent.mkdir(parents=True, exist_ok=True)
    queued.write_text("")
    queued.chmod(0o700)
    operation_id = await request(scene.app)
    killed = await run_trapped(scene.app.data_dir, place)
    assert killed == -signal.SIGKILL
    ended = await end_interrupted(scene.app, operation_id)
    assert (ended.state, ended.error) == ("failed", engine.INTERRUPTED)
    assert not (scene.app.data_dir / "backup" / "stage").exists()
    backup = await find(scene.app, ended)
    if place == "backup.recorded":
        assert backup.state == "succeeded"
    else:
        assert (backup.state, backup.error) == ("failed", engine.INTERRUPTED)
    if place == "backup.stored":  # the snapshot was complete before the process was killed: it becomes a backup
        await scene.back_up()
        assert (await find(scene.app, ended)).state == "succeeded"


async def test_restic_ends_with_its_process(scene: Scene):
    (scene.maildir / "cur" / "2.large:2,S").write_bytes(os.urandom(2 << 20))
    operation_id = await request(scene.app)
    process = await start_trapped(scene.app.data_dir, "-", "50")
    repository = scene.app.data_dir / "backup" / "repository"

    async def find_restic() -> list[int]:
        stage_folder = f"{scene.app.data_dir}/backup/stage"
        while not (found := find_processes(stage_folder)) or not list((repository / "locks").iterdir()):
            await asyncio.sleep(0.05)
        return found

    running = await asyncio.wait_for(find_restic(), 30)
    process.kill()
    await process.wait()

    async def wait_for_end() -> None:
        while any(Path(f"/proc/{pid}").exists() for pid in running):
            await asyncio.sleep(0.05)

    await asyncio.wait_for(wait_for_end(), 10)
    assert list((repository / "locks").iterdir())
    assert (await end_interrupted(scene.app, operation_id)).error == engine.INTERRUPTED
    assert not list((repository / "locks").iterdir()), "the lock of the killed restic is removed"
    assert list_snapshots(scene.app.data_dir) == []


async def end_interrupted(app: App, operation_id: UUID) -> BackupOperation:
    """The operation after the next process has ended it, as soon as PostgreSQL knows that the killed one is gone."""
    ending = asyncio.create_task(repeat(0.05, "interrupted operations", BackupWorker(app).end_interrupted))
    try:
        return await wait(app, operation_id, 30)
    finally:
        await cancel_all(ending)


def find_processes(argument: str) -> list[int]:
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in arguments and b"backup" in arguments:
            found.append(int(path.parent.name))
    return found


async def start_trapped(data_dir: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.operations.backups.trapped", str(data_dir), *arguments
    )


async def run_trapped(data_dir: Path, place: str) -> int:
    process = await start_trapped(data_dir, place)
    try:
        return await asyncio.wait_for(process.wait(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True, timeout=60)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)


@pytest.mark.root
@pytest.mark.parametrize("size, text", [("1m", "MiB free"), ("256m", "o space is left")])
async def test_a_full_disk_is_said_and_leaves_nothing(scene: Scene, size: str, text: str, monkeypatch: Any):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("only root can mount a small disk")
    folder = scene.app.data_dir / "backup"
    folder.mkdir(mode=0o700, exist_ok=True)
    with small_disk(folder, size):
        if size != "1m":
            # The disk fills up while the database is copied.
            reach = failpoint.reach

            def fill(name: str) -> None:
                reach(name)
                if name == "backup.linked":
                    with (folder / "filler").open("wb") as filler:
                        while True:
                            try:
                                filler.write(b"\0" * (1 << 20))
                                filler.flush()
                            except OSError:
                                break

            monkeypatch.setattr(failpoint, "reach", fill)
        ended = await scene.perform()
        assert ended.state == "failed"
        assert text in (ended.error or ""), ended.error
        assert not (folder / "stage").exists()


async def test_what_is_not_about_one_backup_is_cancelled_too(scene: Scene):
    operation_id = await request(scene.app, "prune")
    async with scene.app.db.tx() as conn:
        cancelled = await service.cancel_open(conn, scene.app, cli_principal())
    assert (cancelled.id, (await wait(scene.app, operation_id, 1)).state) == (operation_id, "cancelled")
    async with scene.app.db.tx() as conn:
        await service.begin_own_operation(conn, cli_principal(), scene.app.clock(), {}, uuid4())
        with pytest.raises(Conflict, match="keys of the repository"):
            await service.cancel_open(conn, scene.app, cli_principal())
