"""The archive of the write-ahead log: what is stored, when a chain ends, and a process that is killed."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailkeep.backup import wal
from mailkeep.backup.database_copy import copy_database
from mailkeep.backup.restic import Repository, Snapshot
from mailkeep.core.clock import iso, utc_now
from mailkeep.core.ids import uuid7
from mailkeep.db.instance import run_folder
from mailkeep.features.operations.wal_archive import jobs, service, store
from mailkeep.features.operations.wal_archive.jobs import WalArchiver
from mailkeep.features.operations.wal_archive.model import PointInTime, WalArchive
from mailkeep.run.runtime.context import UNFINISHED_RESTORE
from tests.operations.backups.conftest import Scene
from tests.support.instance import PROGRAM, ROOT
from tests.support.restoring import list_domains, restore

pytestmark = pytest.mark.timeout(300)
PLACES = ("wal.received", "wal.staged", "wal.stored", "wal.removing", "wal.removed", "wal.recorded")
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


@pytest.fixture
async def archived(scene: Scene) -> AsyncIterator[Scene]:
    """A scene whose first backup has begun a chain."""
    scene.configure(wal_archive=True)
    await scene.back_up()
    yield scene
    scene.configure(wal_archive=False)
    await WalArchiver(scene.app).store_new()
    assert await find_slot(scene) is None, "switched off, nothing keeps WAL"


async def find_slot(scene: Scene) -> str | None:
    async with scene.app.db.autocommit() as conn:
        return await store.find_slot(conn)


async def read(scene: Scene) -> PointInTime:
    async with scene.app.db.autocommit() as conn:
        found = await service.read(conn, scene.app.settings.backup, scene.app.clock())
    assert found
    return found


async def find(scene: Scene) -> WalArchive:
    async with scene.app.db.autocommit() as conn:
        found = await store.find(conn)
    assert found
    return found


async def list_stored(scene: Scene) -> list[wal.WalSnapshot]:
    folder = scene.app.data_dir / "backup"
    repository = Repository.from_settings(scene.app.settings.backup, folder)
    return wal.read_snapshots(await repository.list_snapshots([wal.TAG]))


async def write(scene: Scene, segments: int = 1) -> None:
    """Write so much that this number of segments is filled."""
    async with scene.app.db.autocommit() as conn:
        for _ in range(segments * 16):
            await conn.execute("SELECT pg_logical_emit_message(false, 'test', repeat(md5(random()::text), 32768))")


async def test_what_was_written_is_stored_and_little_is_kept(archived: Scene, monkeypatch: pytest.MonkeyPatch):
    archiver = WalArchiver(archived.app)
    await archiver.store_new()
    first = await read(archived)
    assert first.begin
    assert first.end
    assert (first.begin <= first.end, first.problem) == (True, None)
    monkeypatch.setattr(jobs, "_KEPT_SEGMENTS", 2)
    await write(archived)
    await archiver.store_new()
    await write(archived, 2)
    await archiver.store_new()
    spool = wal.list_spool(service.spool_folder(archived.app))
    assert (spool.complete, spool.bytes) == ([], wal.SEGMENT_BYTES), "complete segments that are stored are removed"
    await archiver.store_new()
    stored = await list_stored(archived)
    assert [each.first for each in stored] == sorted({each.first for each in stored}), "each replaces the one before"
    assert (await find(archived)).next_segment == stored[-1].first
    # Backups and WAL do not mix: WAL is no backup, and a backup in the same chain does not begin another one.
    second = await archived.back_up()
    assert await archived.count("backups") == 2
    chain = (await find(archived)).chain
    repository = Repository.from_settings(archived.app.settings.backup, archived.app.data_dir / "backup")
    backups = await repository.list_snapshots(["mailkeep"])
    assert {wal.chain_of(each) for each in backups} == {chain} == {each.chain for each in stored}
    assert backups[-1].id == second.snapshot
    assert wal.select_needed(stored, chain, wal.segment_of(backups[0]), stored[-1].to) == stored


async def test_a_repository_that_is_away_keeps_wal_until_the_limit_and_then_ends_the_chain(
    archived: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    archiver = WalArchiver(archived.app)
    await archiver.store_new()
    before = await find(archived)
    repository = archived.app.data_dir / "backup" / "repository"
    repository.rename(repository.with_name("away"))
    monkeypatch.setattr(jobs, "SPOOL_BYTES", 3 * wal.SEGMENT_BYTES)
    monkeypatch.setattr(jobs, "_KEPT_SEGMENTS", 2)
    await write(archived, 3)
    await archiver.store_new()
    kept = await find(archived)
    assert (kept.stored_to, kept.ended) == (before.stored_to, None)
    assert "There is no repository" in (kept.error or "")
    assert kept.spool_bytes >= jobs.SPOOL_BYTES
    await write(archived, 2)
    await archiver.store_new()
    assert (await find(archived)).spool_bytes == kept.spool_bytes, "no more is received"
    archived.pass_time(service.LATE_AFTER + timedelta(minutes=1))
    assert "There is no repository" in ((await read(archived)).problem or "")
    # It is back in time: nothing is missing.
    repository.with_name("away").rename(repository)
    await archiver.store_new()
    await archiver.store_new()
    stored = await find(archived)
    assert (stored.error, stored.ended) == (None, None)
    assert (await read(archived)).problem is None
    # It is away for longer than PostgreSQL keeps what is not received.
    await write(archived, 6)
    await copy_database(archived.app.data_dir, tmp_path / "copy")  # makes a checkpoint
    assert await find_slot(archived) == "lost"
    await archiver.store_new()
    ended = await find(archived)
    assert "too much" in (ended.ended or "")
    assert (await find_slot(archived), ended.spool_bytes) == (None, 0)
    assert not service.spool_folder(archived.app).exists()
    shown = await read(archived)
    assert (shown.begin, shown.end) == (None, None)
    assert "The next backup begins a new archive" in (shown.problem or "")
    async with archived.app.db.autocommit() as conn:
        cursor = await conn.execute("SELECT data->>'alert' AS alert FROM events WHERE kind = 'system.alert'")
        assert [row["alert"] for row in await cursor.fetchall()].count("wal_archive_ended") == 1
    await archived.back_up()
    await archiver.store_new()
    assert (await find(archived)).chain != ended.chain
    assert (await read(archived)).end


async def test_wal_that_was_removed_here_or_a_missing_slot_ends_the_chain(archived: Scene):
    archiver = WalArchiver(archived.app)
    await write(archived, 2)
    await archiver.store_new()
    chain = (await find(archived)).chain
    await write(archived, 2)
    await wal.receive(archived.app.data_dir, service.spool_folder(archived.app), await mark(archived))
    spool = wal.list_spool(service.spool_folder(archived.app))
    (service.spool_folder(archived.app) / spool.complete[0]).unlink()
    await archiver.store_new()
    assert f"The segment {spool.complete[0]} of the WAL is missing" in ((await find(archived)).ended or "")
    await archived.back_up()
    assert (await find(archived)).chain != chain
    await wal.drop_slot(archived.app.data_dir)
    await archiver.store_new()
    assert "no replication slot" in ((await find(archived)).ended or "")
    await archived.back_up()
    archived.configure(repository=str(archived.app.data_dir / "other"))
    await archiver.store_new()
    assert "repository was changed" in ((await find(archived)).ended or "")
    archived.configure(repository="")
    shutil.rmtree(archived.app.data_dir / "other", ignore_errors=True)


async def test_a_killed_process_loses_nothing(archived: Scene):
    await WalArchiver(archived.app).store_new()
    chain = (await find(archived)).chain
    for place in PLACES:
        await write(archived, 2)
        await kill_at(archived.app.data_dir, place)
        await write(archived)
        await WalArchiver(archived.app).store_new()
        found = await find(archived)
        assert (found.chain, found.error, found.ended) == (chain, None, None), place
    # Every segment from the first on is in what a restore needs.
    stored = await list_stored(archived)
    needed = wal.select_needed(stored, chain, stored[0].first, stored[-1].to)
    assert await list_segments(archived, needed) == await expected_segments(archived, stored[0].first)


async def kill_at(data_dir: Path, place: str) -> None:
    """Store WAL in a process that is killed when it reaches the place."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.operations.backups.trapped", str(data_dir), place, "0", "wal"
    )
    try:
        assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL, place
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_database_is_restored_to_a_random_time(archived: Scene):
    """Exactly what was acknowledged until then is there, also if a restore was killed during the recovery."""
    archiver, key = WalArchiver(archived.app), archived.app.data_dir / "backup" / "password"
    repository, target = key.with_name("repository"), archived.app.data_dir.parent / "restored"
    first = archived.app.clock()
    ledger: list[tuple[datetime, datetime, str]] = []  # asked, acknowledged, the name
    for number in range(3):
        await add_domains(archived, ledger, 40)
        await archiver.store_new()
        await write(archived)
        if number == 1:
            await archived.back_up()  # in the middle of the chain
    last = (await find(archived)).stored_to
    assert last
    await add_domains(archived, ledger, 1)  # in no archive

    for option, text in (
        (["--at", iso(last + timedelta(seconds=1))], "Possible times"),
        (["--at", iso(first - timedelta(hours=1))], "Possible times"),
        (["--at", "2026-11-25T14:30:00"], "a time with its zone"),
        (["--at", "yesterday"], "a time with its zone"),
    ):
        code, shown, _ = await asyncio.to_thread(restore, repository, target, key, *option)
        assert (code, text in shown["error"]["message"]) == (1, True), shown
    assert not target.exists()

    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    source = random.Random(seed)
    for times in (ledger[1:40], ledger[80:119]):  # before and after the second backup
        to = source.choice(times)[0] + timedelta(seconds=source.random() / 50)
        if times[0] == ledger[1]:
            await kill_during_recovery(repository, target, key, to)
        code, done, errors = await asyncio.to_thread(restore, repository, target, key, "--at", to.isoformat())
        assert code == 0, f"{done} {errors}"
        names = await list_domains(target)
        assert {name for _, done_at, name in ledger if done_at < to} - names == set(), f"{to} {seed}"
        assert names - {name for asked_at, _, name in ledger if asked_at <= to} == set(), f"{to} {seed}"
        assert 0 < len(names) < len(ledger)
        shutil.rmtree(target)


async def add_domains(scene: Scene, ledger: list[tuple[datetime, datetime, str]], count: int) -> None:
    """Add domains one after the other, and note when each was asked for and acknowledged."""
    for _ in range(count):
        asked_at, name = utc_now(), f"d{len(ledger)}.test"
        async with scene.app.db.autocommit() as conn:
            await conn.execute(
                "INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description,"
                " default_quota_bytes, dns_status, created_at, updated_at)"
                " VALUES (%(id)s, %(name)s, true, true, true, '', 0, 'unchecked', %(at)s, %(at)s)",
                {"id": uuid7(asked_at), "name": name, "at": asked_at},
            )
        ledger.append((asked_at, utc_now(), name))
        await asyncio.sleep(0.02)


async def kill_during_recovery(repository: Path, target: Path, key: Path, to: datetime) -> None:
    """Restore in a process that is killed as soon as the server that recovers has opened its log."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "restore", str(repository), "--data-dir", str(target), "--key-file", str(key), "--at", to.isoformat(),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, cwd=ROOT,
    )  # fmt: skip
    async with asyncio.timeout(60):
        while not any((target / "pg").glob("recovery.signal")) or not (run_folder(target) / "scratch" / "log").exists():
            assert process.returncode is None
            await asyncio.sleep(0.001)
        process.kill()
        assert await process.wait() == -signal.SIGKILL
    assert (target / UNFINISHED_RESTORE).exists()


async def mark(scene: Scene) -> str:
    async with scene.app.db.autocommit() as conn:
        return await store.mark(conn)


async def list_segments(scene: Scene, snapshots: list[wal.WalSnapshot]) -> list[str]:
    found: set[str] = set()
    folder = scene.app.data_dir / "backup"
    for each in snapshots:
        target = folder / "looked-at"
        await Repository.from_settings(scene.app.settings.backup, folder).restore(each.snapshot.id, target)
        found |= {path.name.removesuffix(".partial") for path in target.rglob("0*") if path.is_file()}
        shutil.rmtree(target)
    return sorted(found)


async def expected_segments(scene: Scene, first: str) -> list[str]:
    async with scene.app.db.autocommit() as conn:
        cursor = await conn.execute("SELECT pg_walfile_name(pg_current_wal_lsn()) AS name")
        row = await cursor.fetchone()
    assert row
    found = [first]
    while found[-1] < row["name"]:
        found.append(wal.next_segment(found[-1]))
    return found


def snapshot(at: datetime, *tags: str) -> Snapshot:
    return Snapshot(uuid4().hex * 2, at, "host", list(tags), ["/x"])


def test_wal_is_kept_as_long_as_a_restore_needs_it():
    chain, other = uuid4(), uuid4()
    segments = ["000000010000000000000001"]
    for _ in range(40):
        segments.append(wal.next_segment(segments[-1]))

    def at(day: float) -> datetime:
        return NOW - timedelta(days=40 - day)

    def log(owner: UUID, day: int, hour: int) -> Any:
        return snapshot(at(day + hour / 24), *wal.to_tags(owner, segments[day], at(day + hour / 24)))

    stored = wal.read_snapshots(
        [*(log(chain, day, hour) for day in range(40) for hour in (1, 2)), log(other, 3, 1), snapshot(NOW, "wal")]
    )
    assert len(stored) == 81, "one without its tags is not ours"
    backups = [snapshot(at(day + 0.1), *wal.to_backup_tags(chain, segments[day])) for day in range(0, 40, 5)]
    removed = wal.select_removed(stored, backups, timedelta(days=7), NOW)
    kept = [each for each in stored if each.snapshot.id not in removed]
    # The newest backup before the last 7 days is that of day 30.1; WAL is kept from a day before it.
    assert [each.first for each in kept] == segments[30:40]
    assert all(each.to.hour == (NOW + timedelta(hours=2)).hour for each in kept), "the last of each"
    needed = wal.select_needed(kept, chain, segments[30], at(33.01))
    assert [each.first for each in needed] == segments[30:34]
    assert iso(needed[-1].to) > iso(at(33.01))


def test_names_of_segments():
    assert wal.segment_name(1, "0/2000028") == "000000010000000000000002"
    assert wal.segment_name(26, "1F/FF000000") == "0000001A0000001F000000FF"
    assert wal.next_segment("0000001A0000001F000000FF") == "0000001A0000002000000000"


async def test_a_backup_is_made_even_if_wal_cannot_be_archived(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wal, "_PROGRAM", "pg_missing")
    scene.configure(wal_archive=True)
    await scene.back_up()
    assert "pg_missing" in ((await read(scene)).problem or "")
    scene.configure(wal_archive=False)
    await WalArchiver(scene.app).store_new()


def test_hostile_wal_is_refused(tmp_path: Path):
    for number, make in enumerate(
        (
            lambda folder: (folder / "000000010000000000000001").symlink_to("/etc/passwd"),
            lambda folder: (folder / "backup_label").touch(),
            lambda folder: (folder / "000000010000000000000001").mkdir(),
            lambda folder: (folder / "00000002.history.partial").touch(),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder)
        with pytest.raises(wal.HostileSnapshot):
            wal.check_restored(folder)
    good = tmp_path / "good"
    good.mkdir()
    for name in ("000000010000000000000001", "000000010000000000000002.partial", "00000002.history"):
        (good / name).touch()
    wal.check_restored(good)


def test_a_gap_in_restored_wal_is_named(tmp_path: Path):
    target, source = tmp_path / "pg_wal", tmp_path / "0"
    target.mkdir()
    source.mkdir()
    (target / "000000010000000000000002").write_text("of the copy")
    (source / "000000010000000000000002").write_text("complete")
    (source / "000000010000000000000004.partial").touch()
    with pytest.raises(wal.Failure, match="the segment 000000010000000000000003 is missing"):
        wal.merge_restored([source], target, "000000010000000000000002")
    assert (target / "000000010000000000000002").read_text() == "complete"
