"""Snapshots of mailboxes: links, copies of what changes in place, and messages that move meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from mailkeep.backup import index, source_tree
from mailkeep.backup.layout import MAIL
from mailkeep.backup.mail_snapshot import SnapshotCancelled, Stop, link_tree, snapshot_mail
from mailkeep.backup.queue_copy import copy_queue
from mailkeep.backup.source_tree import SourceFolder

HEAD = b"From: a@b.test\r\nMessage-ID:\r\n <%d@b.test>\r\n\r\nText\r\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "mail" / str(uuid4())
    for folder in ("", ".Work"):
        for part in ("new", "cur", "tmp"):
            (home / "Maildir" / folder / part).mkdir(parents=True)
    return home


def put(home: Path, file: str, content: bytes = HEAD % 1) -> Path:
    path = home / "Maildir" / file
    path.write_bytes(content)
    return path


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_messages_are_linked_and_what_changes_is_copied(home: Path, tmp_path: Path):
    message = put(home, "cur/1.a,S=9:2,FS")
    put(home, ".Work/new/2.a")
    put(home, "dovecot-uidlist", b"3 V1 N3\n1 :1.a\n2 :ha")
    put(home, "dovecot.index.cache")
    put(home, "dovecot-uidlist.lock")
    put(home, "tmp/3.a")
    (home / "sieve").mkdir()
    (home / "sieve" / "main.sieve").write_text("keep;")
    (home / "link").symlink_to("/etc/passwd")
    os.mkfifo(home / "Maildir" / "cur" / "fifo")
    target = tmp_path / "stage"
    snapshot_mail(home.parent, target, Stop())
    copy = target / home.name
    assert names(copy) == {
        "Maildir/cur/1.a,S=9:2,FS",
        "Maildir/.Work/new/2.a",
        "Maildir/dovecot-uidlist",
        "sieve/main.sieve",
    }
    assert (copy / "Maildir/cur/1.a,S=9:2,FS").stat().st_ino == message.stat().st_ino
    assert (copy / "Maildir/dovecot-uidlist").read_bytes() == b"3 V1 N3\n1 :1.a\n"
    assert (copy / "Maildir/dovecot-uidlist").stat().st_ino != (home / "Maildir/dovecot-uidlist").stat().st_ino


def test_a_message_that_moves_is_there_once_and_a_copied_one_twice(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    moved, copied = put(home, "cur/100.moved:2,"), put(home, "cur/100.copied:2,")
    os.link(copied, home / "Maildir/.Work/cur/101.copy:2,")
    target = tmp_path / "copy"
    list_files = source_tree.list_files

    def list_and_move(folder: SourceFolder):
        entries = list_files(folder)
        if folder.path == home / "Maildir" / "cur" and moved.exists():
            moved.rename(home / "Maildir/.Work/cur/102.moved:2,S")
        return entries

    monkeypatch.setattr(source_tree, "list_files", list_and_move)
    snapshot_mail(home.parent, target, Stop(), is_last=False)
    assert not moved.exists()
    snapshot_mail(home.parent, target, Stop())
    assert names(target / home.name) == {
        "Maildir/cur/100.copied:2,",
        "Maildir/.Work/cur/101.copy:2,",
        "Maildir/.Work/cur/102.moved:2,S",
    }


def test_what_is_deleted_between_the_passes_stays(home: Path, tmp_path: Path):
    message, content = put(home, "new/1.a"), tmp_path / "content" / "2026-11-01" / "1.eml"
    content.parent.mkdir(parents=True)
    content.write_bytes(b"x")
    (content.parent / "2.part").write_bytes(b"half")
    for _ in range(2):
        snapshot_mail(home.parent, tmp_path / "stage", Stop())
        link_tree(tmp_path / "content", tmp_path / "copy", Stop())
        message.unlink(missing_ok=True)
        content.unlink(missing_ok=True)
    assert names(tmp_path / "stage" / home.name) == {"Maildir/new/1.a"}
    assert names(tmp_path / "copy") == {"2026-11-01/1.eml"}


def test_another_file_system_gets_copies(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    message = put(home, "cur/1.a:2,S")
    monkeypatch.setattr(os, "link", refuse)
    snapshot_mail(home.parent, tmp_path / "stage", Stop())
    copy = tmp_path / "stage" / home.name / "Maildir/cur/1.a:2,S"
    assert copy.read_bytes() == message.read_bytes()
    assert copy.stat().st_mtime_ns == message.stat().st_mtime_ns
    assert copy.stat().st_ino != message.stat().st_ino


def test_a_snapshot_ends_when_it_is_stopped(home: Path, tmp_path: Path):
    put(home, "cur/1.a:2,S")
    stop = Stop()
    stop.set()
    with pytest.raises(SnapshotCancelled):
        snapshot_mail(home.parent, tmp_path / "stage", stop)


def test_the_queue_has_complete_messages_once(tmp_path: Path):
    queue = tmp_path / "queue"
    for folder in ("incoming", "active", "deferred/A", "defer/A", "pid"):
        (queue / folder).mkdir(parents=True)
    for name, mode in (("incoming/HALF", 0o600), ("active/A1", 0o700), ("deferred/A/A1", 0o700), ("defer/A/A1", 0o600)):
        (queue / name).write_text(name)
        (queue / name).chmod(mode)
    (queue / "pid" / "master.pid").write_text("1")
    copy_queue(queue, tmp_path / "copy", Stop())
    assert names(tmp_path / "copy") == {"active/A1", "defer/A/A1"}


def test_the_index_reads_only_what_is_new(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stage, read = tmp_path / "stage", list[str]()
    stage.mkdir()
    original = index._read_message

    def note(path: Path) -> tuple[bytes, str]:
        read.append(path.name)
        return original(path)

    monkeypatch.setattr(index, "_read_message", note)
    first = put(home, "new/1.a", HEAD % 1)
    gone = put(home, ".Work/cur/2.a:2,S", HEAD % 2)

    def take() -> list[tuple[str, str, str]]:
        snapshot_mail(home.parent, stage / MAIL, Stop())
        index.begin_index(stage, tmp_path / "previous")
        index.index_mail(stage, Stop())
        (stage / "index.sqlite").rename(tmp_path / "previous")
        with index.open_index(tmp_path / "previous") as conn:
            rows = conn.execute("SELECT folder, file, message_id FROM messages ORDER BY name").fetchall()
        for path in sorted(stage.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        return rows

    assert take() == [("", "new/1.a", "<1@b.test>"), (".Work", "cur/2.a:2,S", "<2@b.test>")]
    first.rename(home / "Maildir/cur/1.a:2,FS")
    gone.unlink()
    put(home, "new/3.a", b"Subject: none\n\nmessage-id: <body@b.test>\n")
    assert take() == [("", "cur/1.a:2,FS", "<1@b.test>"), ("", "new/3.a", "")]
    assert sorted(read) == ["1.a", "2.a:2,S", "3.a"]
    (tmp_path / "previous").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    assert len(take()) == 2, "an index that can't be used is made again"


@pytest.mark.parametrize(
    "head, expected",
    [
        (b"Message-Id: <a@b>\r\nTo: c\r\n\r\n", "<a@b>"),
        (b"To: x\nMESSAGE-ID:\n\t<folded@b>\n\nbody", "<folded@b>"),
        (b"To: x\r\n\r\nMessage-ID: <body@b>", ""),
        (b"X-Message-ID: <other@b>\r\n\r\n", ""),
        (b"Message-ID: <" + b"a" * 2000 + b">\r\n\r\n", ""),
        (b"", ""),
    ],
)
def test_message_ids(head: bytes, expected: str):
    assert index.find_message_id(head) == expected
