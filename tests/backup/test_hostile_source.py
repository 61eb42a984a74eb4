"""Owners of mailboxes, and the accounts of daemons, who exchange files and folders while root copies them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from mailkeep.backup import index
from mailkeep.backup.layout import MAIL
from mailkeep.backup.mail_snapshot import Stop, copy_tree, link_tree, snapshot_mail
from mailkeep.backup.queue_copy import copy_queue

SECRET = b"Message-ID: <secret@outside.test>\r\n\r\nnot in a backup\r\n"
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_EXCHANGE, _AT_FDCWD = 2, -100


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is laid out like each folder that is copied, with files that must not come into a backup."""
    folder = tmp_path / "outside"
    for part in ("cur", "new", "sieve", "A"):
        (folder / part).mkdir(parents=True)
    for name in ("1.a", "cur/1.a", "new/2.a", "sieve/1.a", "A/1.a", "dovecot-uidlist", "subscriptions"):
        (folder / name).write_bytes(SECRET)
        (folder / name).chmod(0o700)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "mail" / str(uuid4())
    for folder in ("Maildir/new", "Maildir/cur", "Maildir/.Work/cur", "Maildir/.Work/new", "sieve"):
        (home / folder).mkdir(parents=True)
        name = "2.a" if folder.endswith("new") else "1.a"
        (home / folder / name).write_bytes(b"Subject: ours\r\n\r\n")
    (home / "Maildir" / "dovecot-uidlist").write_bytes(b"3 V1 N3\n")
    return home


def exchange(first: Path, second: Path) -> None:
    """Exchange two names in one step (renameat2), as an attacker would."""
    if _LIBRARY.renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), str(first))


@contextlib.contextmanager
def exchanging(*paths: tuple[Path, Path]) -> Iterator[Iterator[int]]:
    """Exchange each path for a link to another one, and back, until the end of the block; gives the numbers of rounds
    to make meanwhile, as many as meet enough exchanges.
    """
    pairs: list[tuple[Path, Path]] = []
    for path, wanted in paths:
        link = path.with_name(f"exchanged-{len(pairs)}")
        link.symlink_to(wanted)
        pairs.append((path, link))
    stop, count = threading.Event(), 0

    def run() -> None:
        nonlocal count
        while not stop.is_set():
            for path, link in pairs:
                exchange(path, link)
            count += 1
            time.sleep(0)

    def rounds() -> Iterator[int]:
        number = 0
        while number < 50 or count < 200:
            yield number
            number += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield rounds()
    finally:
        stop.set()
        thread.join()


def find_foreign(folder: Path) -> list[str]:
    """What a stage has from outside, or that is neither a file nor a folder."""
    found: list[str] = []
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or (stat.S_ISREG(mode) and path.read_bytes() == SECRET):
            found.append(str(path.relative_to(folder)))
    return found


def state(folder: Path) -> dict[str, tuple[int, float, int]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_nlink, path.stat().st_mtime, path.stat().st_mode)
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("place", ["", "Maildir", "Maildir/cur", "Maildir/cur/1.a", "Maildir/.Work", "sieve"])
def test_an_exchanged_mailbox_brings_nothing_from_outside(home: Path, outside: Path, tmp_path: Path, place: str):
    """The mailbox, a folder, its parent or a file is a link half of the time."""
    target = outside / "cur/1.a" if place.endswith("1.a") else outside
    for folder in ("Maildir", ".Work"):  # what is copied is there as well, wherever the link is
        (outside / folder).symlink_to(outside)
    before = state(outside)
    with exchanging((home / place, target)) as rounds:
        for _ in rounds:
            stage = tmp_path / "stage"
            snapshot_mail(home.parent, stage, Stop(), is_last=False)
            snapshot_mail(home.parent, stage, Stop(), is_last=False)
            assert find_foreign(stage) == []
            shutil.rmtree(stage)
    assert state(outside) == before, "nothing is written outside, nor linked"
    if not (home / place).is_dir() or (home / place).is_symlink():
        exchange(home / place, (home / place).with_name("exchanged-0"))
    snapshot_mail(home.parent, tmp_path / "stage", Stop())
    assert (tmp_path / "stage" / home.name / "Maildir/.Work/cur/1.a").exists()


def test_exchanged_folders_of_the_queue_contents_and_instance_bring_nothing(outside: Path, tmp_path: Path):
    top = tmp_path / "top"
    for name in ("deferred/A", "active", "content/A", "instance/A"):
        (top / name).mkdir(parents=True)
        (top / name / "1.a").write_bytes(b"ours")
        (top / name / "1.a").chmod(0o700)
    before = state(outside)
    folders = [(top / name, outside) for name in ("deferred/A", "active", "content/A", "instance/A")]
    with exchanging(*folders) as rounds:
        for _ in rounds:
            stage = tmp_path / "stage"
            stage.mkdir()
            copy_queue(top, stage / "queue", Stop())
            link_tree(top / "content", stage / "content", Stop())
            copy_tree(top / "instance", stage / "instance", Stop())
            assert find_foreign(stage) == []
            shutil.rmtree(stage)
    assert state(outside) == before


def test_what_is_no_file_is_left_out_at_once(home: Path, tmp_path: Path):
    for folder in (home / "Maildir/cur", home / "Maildir", home / "sieve", home):
        os.mkfifo(folder / "fifo")
    os.mkfifo(home / "Maildir/subscriptions")
    if os.geteuid() == 0:
        os.mknod(home / "sieve/device", stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero has no end
        os.mknod(home / "Maildir/cur/device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    (home / "sieve.active").symlink_to(b"\xff")
    (home / "Maildir/cur").joinpath(os.fsdecode(b"2.\xff")).write_bytes(b"its name is not UTF-8")
    (home.parent / home.name.upper()).mkdir()
    deep = home / "sieve"
    for _ in range(40):
        deep /= "d" * 200
        try:
            deep.mkdir()
        except OSError:  # the path is too long
            break
    stage = tmp_path / "stage"
    stage.mkdir()
    index.begin_index(stage, tmp_path / "none")
    snapshot_mail(home.parent, stage / MAIL, Stop())
    assert find_foreign(stage) == []
    assert [path.name for path in (stage / MAIL).iterdir()] == [home.name]
    assert index.index_mail(stage, Stop()).messages == 4


def test_a_folder_in_place_of_a_file_of_the_first_pass_is_left_out(home: Path, tmp_path: Path):
    script, stage = home / "sieve" / "1.a", tmp_path / "stage"
    snapshot_mail(home.parent, stage, Stop(), is_last=False)
    script.unlink()
    script.mkdir()
    (script / "2.a").write_bytes(b"x")
    (home / "sieve.active").mkdir()
    (home / "sieve.active" / "3.a").write_bytes(b"x")
    snapshot_mail(home.parent, stage, Stop(), is_last=False)
    shutil.rmtree(home / "sieve.active")
    (home / "sieve.active").symlink_to("sieve/main.sieve")
    snapshot_mail(home.parent, stage, Stop())
    assert (stage / home.name / "sieve" / "1.a").is_file()


def test_a_file_that_is_all_hole_is_left_out(home: Path, tmp_path: Path):
    names = ("Maildir/cur/2.a", "Maildir/subscriptions", "sieve/2.a")
    for name in names:
        with (home / name).open("wb") as file:
            file.truncate(1 << 40)
    queue = tmp_path / "queue"
    (queue / "deferred").mkdir(parents=True)
    with (queue / "deferred" / "A1").open("wb") as file:
        file.truncate(1 << 40)
    (queue / "deferred" / "A1").chmod(0o700)
    snapshot_mail(home.parent, tmp_path / "stage", Stop())
    copy_queue(queue, tmp_path / "queue-copy", Stop())
    assert not [name for name in names if (tmp_path / "stage" / home.name / name).exists()]
    assert (tmp_path / "stage" / home.name / "Maildir/cur/1.a").exists()
    assert not (tmp_path / "queue-copy" / "deferred" / "A1").exists()


@pytest.mark.root
def test_a_hard_link_to_another_accounts_file_is_left_out(home: Path, outside: Path, tmp_path: Path):
    """Where fs.protected_hardlinks is off, an account can give any file a second name."""
    if os.geteuid() != 0:
        pytest.skip("only root has files of several accounts")
    for path in (home, *home.rglob("*")):
        os.chown(path, 65534, 65534)
    for name in ("Maildir/cur/2.a", "Maildir/subscriptions", "sieve/2.a"):
        os.link(outside / "cur" / "1.a", home / name)
    by_root, special = home / "Maildir/cur/3.a", home / "Maildir/cur/4.a"
    by_root.write_bytes(b"written by root")
    special.write_bytes(b"with a set-user-ID bit, which a restore refuses")
    os.chown(special, 65534, 65534)
    special.chmod(0o6700)
    snapshot_mail(home.parent, tmp_path / "stage", Stop())
    assert find_foreign(tmp_path / "stage") == []
    copy = tmp_path / "stage" / home.name / "Maildir/cur"
    assert (copy / "3.a").read_bytes() == by_root.read_bytes()
    assert stat.S_IMODE((copy / "4.a").stat().st_mode) == 0o700
