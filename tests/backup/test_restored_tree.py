"""What a hostile repository makes restic restore writes nothing outside the target, and is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mailkeep.backup import restic, restored_tree
from mailkeep.backup.restic import INSTALL_COMMAND, Repository, Snapshot, find_program
from mailkeep.backup.restored_tree import HostileSnapshot, check_tree, remove_tree, restore_tree
from mailkeep.core.errors import Failure
from mailkeep.core.landlock import MIN_VERSION, find_version
from tests.support.hostile_repository import HostileRepository, replace_key

if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)
if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)

STAGE = "/srv/mailkeep/backup/stage"
MAILBOX = "0198c0de-0000-7000-8000-000000000001"
SYMLINK, DEVICE, CHARACTER, FIFO, SOCKET, SETUID = 1 << 27, 1 << 26, 1 << 21, 1 << 25, 1 << 24, 1 << 23  # of Go

Nodes = list[dict[str, Any]]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileRepository:
    return HostileRepository(tmp_path_factory.mktemp("hostile") / "folder")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text("unchanged")
    return folder


def through_link(repository: HostileRepository, outside: Path) -> Nodes:
    link = repository.node("content", "symlink", mode=0o777 | SYMLINK, linktarget=str(outside))
    return [link, repository.folder("content", [repository.file("file", b"changed"), repository.file("new")])]


def through_file_link(repository: HostileRepository, outside: Path) -> Nodes:
    link = repository.node("manifest.json", "symlink", mode=0o777 | SYMLINK, linktarget=str(outside / "file"))
    return [link, repository.file("manifest.json", b"changed")]


def through_hard_link(repository: HostileRepository, outside: Path) -> Nodes:
    link = repository.node("a", "symlink", mode=0o777 | SYMLINK, linktarget=str(outside / "file"), inode=7, links=2)
    again = repository.file("b", b"changed", inode=7, links=2)
    return [repository.folder("content", [link, again])]


def upwards(repository: HostileRepository, outside: Path) -> Nodes:
    path = os.path.relpath(outside / "new", f"{outside.parent}/target{STAGE}")
    return [repository.file(path), repository.file("../escaped"), repository.file("..")]


def absolute(repository: HostileRepository, outside: Path) -> Nodes:
    return [repository.file(str(outside / "new"))]


def lone_link(repository: HostileRepository, outside: Path) -> Nodes:
    link = repository.node("file", "symlink", mode=0o777 | SYMLINK, linktarget=str(outside / "file"))
    return [repository.folder("content", [link])]


def memory_device(repository: HostileRepository, _outside: Path) -> Nodes:
    device = repository.node("device", "chardev", mode=0o666 | DEVICE | CHARACTER, device=os.makedev(1, 1))
    return [repository.folder("content", [device])]


def disk_device(repository: HostileRepository, _outside: Path) -> Nodes:
    return [
        repository.folder("content", [repository.node("disk", "dev", mode=0o666 | DEVICE, device=os.makedev(8, 0))])
    ]


def fifo(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("content", [repository.node("fifo", "fifo", mode=0o600 | FIFO)])]


def privileged_file(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("content", [repository.file("program", mode=0o755 | SETUID)])]


def unknown_entry(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("etc", [repository.file("passwd")])]


def mail_elsewhere(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("mail", [repository.folder("other", [])])]


def manifest_folder(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("manifest.json", [])]


def tablespaces(repository: HostileRepository, _outside: Path) -> Nodes:
    return [repository.folder("database", [repository.file("tablespace_map", b"16400 /etc\n")])]


def nested(repository: HostileRepository, _outside: Path) -> Nodes:
    nodes: Nodes = []
    for _ in range(200):
        nodes = [repository.folder("d", nodes)]
    return [repository.folder("content", nodes)]


ATTACKS = [
    through_link, through_file_link, through_hard_link, upwards, absolute, lone_link, memory_device, disk_device, fifo,
    privileged_file, unknown_entry, mail_elsewhere, manifest_folder, tablespaces, nested,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
async def test_hostile_snapshots_are_refused(
    attack: Callable[[HostileRepository, Path], Nodes], hostile: HostileRepository, outside: Path, tmp_path: Path
):
    snapshot = hostile.snapshot(STAGE, attack(hostile, outside))
    target = tmp_path / "target"
    with pytest.raises(Failure):
        await restore_tree(hostile.repository, snapshot, target)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"file": "unchanged"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "target"]
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in target.rglob("*")}
    assert kinds <= {stat.S_IFDIR, stat.S_IFREG}  # nothing else was created, not even for a moment
    remove_tree(target)
    assert not target.exists()


@pytest.mark.parametrize("path", ["/", "relative", "/srv/../etc", "/srv//x", ""])
async def test_the_path_of_a_snapshot_is_not_trusted(path: str, hostile: HostileRepository, tmp_path: Path):
    snapshot = hostile.snapshot_of_root(path, [hostile.file("manifest.json")])
    with pytest.raises(HostileSnapshot):
        await restore_tree(hostile.repository, snapshot, tmp_path / "target")


async def test_a_snapshot_with_more_than_its_folder_is_refused(hostile: HostileRepository, tmp_path: Path):
    nodes = [hostile.folder("etc", [hostile.file("passwd")]), hostile.folder("srv", [hostile.folder("stage", [])])]
    with pytest.raises(HostileSnapshot):
        await restore_tree(hostile.repository, hostile.snapshot_of_root("/srv/stage", nodes), tmp_path / "target")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create devices")
async def test_without_confinement_restic_creates_the_device(hostile: HostileRepository, outside: Path, tmp_path: Path):
    """The attack is a real one: what prevents it is the confinement."""
    snapshot = hostile.snapshot(STAGE, memory_device(hostile, outside))
    await hostile.repository.restore(snapshot.id, tmp_path / "target")
    assert stat.S_ISCHR((tmp_path / "target" / STAGE[1:] / "content/device").lstat().st_mode)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Snapshot, Path]:
    """A snapshot that restic made, of a folder whose path has restic's special characters."""
    folder = tmp_path_factory.mktemp("stored")
    stage = folder / "data [1]*" / "stage"
    mailbox = stage / "mail" / MAILBOX / "Maildir" / "cur"
    mailbox.mkdir(parents=True)
    (stage / "manifest.json").write_text("{}")
    (stage / "content").mkdir()
    (stage / "content" / "a").write_bytes(b"a" * 10)
    message = mailbox / "1.x,S=4:2,S"
    message.write_text("mail")
    os.utime(message, (1_700_000_000, 1_700_000_000))
    os.link(message, mailbox / "2.x,S=4:2,")
    password = folder / "password"
    password.write_text("secret")
    repository = Repository(str(folder / "repository"), password, folder / "cache")

    async def store() -> Snapshot:
        await repository.create()
        replace_key(repository)
        await repository.backup(stage, ["mailkeep"], "host")
        return (await repository.list_snapshots())[0]

    return repository, asyncio.run(store()), stage


async def test_a_snapshot_returns_as_it_was(stored: tuple[Repository, Snapshot, Path], tmp_path: Path):
    repository, snapshot, stage = stored
    seen: list[int] = []

    async def report(used: int) -> None:
        seen.append(used)

    folder = await restore_tree(repository, snapshot, tmp_path / "target", report=report)
    message = Path("mail", MAILBOX, "Maildir/cur/1.x,S=4:2,S")
    assert (folder / message).stat().st_mtime == 1_700_000_000
    assert (folder / message).stat().st_ino == (folder / message).with_name("2.x,S=4:2,").stat().st_ino
    names = {path.relative_to(stage) for path in stage.rglob("*")}
    assert {path.relative_to(folder) for path in folder.rglob("*")} == names
    assert seen
    os.link(folder / message, tmp_path / "elsewhere")
    with pytest.raises(HostileSnapshot, match="hard link"):
        check_tree(folder)


async def test_parts_of_a_snapshot(stored: tuple[Repository, Snapshot, Path], tmp_path: Path):
    repository, snapshot, _ = stored
    folder = await restore_tree(repository, snapshot, tmp_path / "target", [f"mail/{MAILBOX}"])
    assert sorted(path.name for path in folder.iterdir()) == ["mail", "manifest.json"]
    assert len(list((folder / "mail" / MAILBOX / "Maildir/cur").iterdir())) == 2


async def test_a_restore_ends_before_the_disk_is_full(
    stored: tuple[Repository, Snapshot, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    repository, snapshot, _ = stored
    monkeypatch.setattr(restored_tree, "FREE_BYTES", 1 << 62)
    slow = slow_repository(repository, tmp_path)
    with pytest.raises(Failure, match="free"):
        await restore_tree(slow, snapshot, tmp_path / "target")
    await expect_no_restic(tmp_path)


async def test_a_file_is_read_from_the_repository_only_while_the_disk_has_room(
    stored: tuple[Repository, Snapshot, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    repository, snapshot, _ = stored
    path, target = f"{snapshot.paths[0]}/manifest.json", tmp_path / "manifest"
    await repository.dump(snapshot.id, path, target)
    assert target.stat().st_size
    monkeypatch.setattr(restic, "_FREE_BYTES", 1 << 62)
    with pytest.raises(Failure, match="free"):
        await slow_repository(repository, tmp_path).dump(snapshot.id, path, target)
    assert not target.exists()
    await expect_no_restic(tmp_path)


async def test_restic_ends_with_the_restore_and_with_the_process(
    stored: tuple[Repository, Snapshot, Path], tmp_path: Path
):
    repository, snapshot, _ = stored
    slow = slow_repository(repository, tmp_path)
    restore = asyncio.create_task(restore_tree(slow, snapshot, tmp_path / "target"))
    await expect_restic(tmp_path)
    restore.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restore
    await expect_no_restic(tmp_path)

    program = (
        "import asyncio, sys; from datetime import datetime; from pathlib import Path;"
        "from mailkeep.backup.restic import Repository, Snapshot;"
        "from mailkeep.backup.restored_tree import restore_tree;"
        "a = sys.argv; r = Repository(a[1], Path(a[2]), Path(a[3]));"
        "asyncio.run(restore_tree(r, Snapshot(a[4], datetime.now(), paths=[a[5]]), Path(a[6])))"
    )
    places = [slow.location, str(slow.password_file), str(slow.cache), snapshot.id, snapshot.paths[0]]
    process = subprocess.Popen([sys.executable, "-c", program, *places, str(tmp_path / "second")])
    await expect_restic(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    await expect_no_restic(tmp_path)


def slow_repository(repository: Repository, folder: Path) -> Repository:
    """The same repository, in which restic waits for ever when it reads a key."""
    slow = folder / "slow"
    shutil.copytree(repository.location, slow)
    for key in (slow / "keys").iterdir():
        key.unlink()
        os.mkfifo(key)
    return Repository(str(slow), repository.password_file, folder / "other-cache")


async def expect_restic(folder: Path) -> None:
    await _wait_until(lambda: bool(_find_restic(folder)))


async def expect_no_restic(folder: Path) -> None:
    await _wait_until(lambda: not _find_restic(folder))


async def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def _find_restic(folder: Path) -> list[int]:
    found: list[int] = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"restic") and any(str(folder).encode() in word for word in words):
            found.append(int(process.name))
    return found


def test_a_folder_is_removed_without_a_change_behind_links(outside: Path, tmp_path: Path):
    (outside / "file").chmod(0o400)
    link, folder = tmp_path / "link", tmp_path / "folder"
    link.symlink_to(outside)
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    folder.chmod(0)
    for path in (link, folder):
        remove_tree(path)
        assert not os.path.lexists(path)
    assert stat.S_IMODE((outside / "file").stat().st_mode) == 0o400
