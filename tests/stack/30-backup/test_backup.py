"""A backup of a full instance while mail comes and goes: what a snapshot has of each part."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mailkeep.backup import layout
from mailkeep.backup.database_copy import find_cluster, find_programs
from mailkeep.backup.index import open_index
from tests.stack.harness import Stack, eventually
from tests.support.backups import back_up_now, restore, run_restic
from tests.support.scratch import new_directory

ALICE = "alice@kept.test"


@pytest.fixture
def target() -> Iterator[Path]:
    folder = new_directory("mailkeep-restored-", 0o700)
    yield folder
    shutil.rmtree(folder)


def test_a_snapshot_has_mail_queue_database_and_secrets(stack: Stack, target: Path) -> None:
    mailbox = stack.make_mailbox(stack.make_domain("kept.test"), "alice")["id"]
    for number in range(3):
        stack.deliver(ALICE, f"Kept {number}", body=f"Text {number}")
    eventually(lambda: len(stack.mail_of(ALICE)) == 3, what="the mail")
    with stack.imap(ALICE) as client:
        client.create("Work")
        client.subscribe("Work")
        client.select("INBOX")
        client.store("1", "+FLAGS", r"(\Seen \Flagged urgent)")
        client.copy("2", "Work")
    stack_conf = stack.data_dir / "postfix" / "conf"
    sender = ["sendmail", "-C", str(stack_conf), "-f", ALICE, "someone@[127.0.0.99]"]
    subprocess.run(sender, input="Subject: waits\n\nIn the queue.\n", text=True, check=True, timeout=60)
    # Held, so that it is in the queue during the whole backup.
    eventually(lambda: "127.0.0.99" in _list_queue(stack_conf), what="the queued message")
    subprocess.run(["postsuper", "-c", str(stack_conf), "-h", "ALL"], check=True, capture_output=True, timeout=60)
    stop = threading.Event()

    def keep_moving() -> None:
        with stack.imap(ALICE) as client:
            while not stop.is_set():
                for source, destination in (("INBOX", "Work"), ("Work", "INBOX")):
                    client.select(source)
                    client.uid("MOVE", "1:*", destination)
                    stop.wait(1)

    moving = threading.Thread(target=keep_moving)
    moving.start()
    try:
        backup = back_up_now(stack.data_dir)
        again = back_up_now(stack.data_dir)
    finally:
        stop.set()
        moving.join(60)
        subprocess.run(["postsuper", "-c", str(stack_conf), "-d", "ALL", "hold"], check=True, timeout=60)
    assert backup.counts
    assert backup.counts.mailboxes >= 1
    assert again.added_bytes is not None
    assert backup.size_bytes is not None
    assert again.added_bytes < backup.size_bytes / 4

    restored = restore(stack.data_dir, again.snapshot, target)
    assert {entry.name for entry in restored.iterdir()} == set(layout.ENTRIES)
    manifest = layout.read_manifest(restored)
    assert (manifest.backup_id, manifest.profile) == (again.id, "full")
    assert manifest.rows["messages"] >= 3

    # Each of the four messages (one is a copy) once, although they were moved all the time; with flags and UIDs.
    maildir = restored / "mail" / mailbox / "Maildir"
    files = [path for folder in (maildir, maildir / ".Work") for path in (*folder.glob("new/*"), *folder.glob("cur/*"))]
    subjects = sorted(path.read_text().partition("Subject: ")[2].partition("\n")[0].strip() for path in files)
    assert len(subjects) == 4, [(path.parts[-3:], path.stat().st_ino) for path in files]
    assert set(subjects) == {"Kept 0", "Kept 1", "Kept 2"}
    assert any("F" in path.name.rpartition(":2,")[2] for path in files)
    assert (maildir / "dovecot-uidlist").read_bytes().endswith(b"\n")
    assert "urgent" in (maildir / "dovecot-keywords").read_text()
    assert "Work" in (maildir / "subscriptions").read_text()
    with open_index(restored / layout.INDEX) as index:
        rows = index.execute(
            "SELECT folder, file, size, sha256, message_id FROM messages WHERE mailbox = ?", (mailbox,)
        ).fetchall()
        assert index.execute("SELECT messages FROM mailboxes WHERE address = ?", (ALICE,)).fetchone() == (4,)
    assert len({row[4] for row in rows if row[4].startswith("<")}) == 3
    for folder, file, size, digest, _ in rows:
        content = (maildir / folder / file).read_bytes()
        assert (len(content), hashlib.sha256(content).digest()) == (size, digest)

    # The queue, contents, secrets and configuration; nothing but folders and regular files.
    held = [path for path in (restored / "queue" / "hold").rglob("*") if path.is_file()]
    assert any(b"In the queue." in path.read_bytes() for path in held)
    assert not (restored / "queue" / "pid").exists()
    for name in ("secret", "instance-id", "stored-settings"):
        assert (restored / "instance" / name).read_bytes() == (stack.data_dir / name).read_bytes()
    assert list((restored / "instance" / "generations").glob("*/postfix/main.cf"))
    assert list((restored / "content").rglob("*.eml"))
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in restored.rglob("*") if "database" not in path.parts}
    assert kinds == {stat.S_IFDIR, stat.S_IFREG}
    programs, major = find_programs(find_cluster(stack.data_dir))
    assert manifest.postgresql_major == major
    subprocess.run([programs / "pg_verifybackup", "--quiet", restored / "database"], check=True, timeout=60)
    assert not (stack.data_dir / "backup" / "stage").exists()
    assert "snapshots" in run_restic(stack.data_dir, "snapshots")
    with closing(sqlite3.connect(stack.data_dir / "backup" / "index.sqlite")) as kept:
        assert kept.execute("SELECT count(*) FROM messages").fetchone()[0] >= 4


def _list_queue(conf: Path) -> str:
    command = ["postqueue", "-c", str(conf), "-p"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
