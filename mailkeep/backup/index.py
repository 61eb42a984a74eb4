"""The index of a snapshot: an SQLite file with its domains, mailboxes and messages.

Each snapshot's index starts as a copy of the previous one's, so that only new messages are read. The messages' SHA-256
is that of the file when it was first seen; verification compares the restored files with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mailkeep.backup.layout import INDEX, MAIL
from mailkeep.backup.mail_snapshot import MAILDIR, Stop, base_name

_VERSION = 1
_HEAD_BYTES = 64 << 10
_CHUNK = 1 << 20
_BATCH = 500
_MESSAGE_ID = re.compile(rb"^message-id:[ \t]*((?:[^\r\n]|\r?\n[ \t])*)", re.IGNORECASE | re.MULTILINE)
_LONGEST_ID = 998

# `folder`: its directory in the Maildir, empty for INBOX. `name`: that of the file without flags; `file`: its
# path in the folder. `mtime`: in nanoseconds, when the message arrived.
_SCHEMA = """
CREATE TABLE domains (id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE mailboxes (
    id TEXT PRIMARY KEY, domain_id TEXT NOT NULL, address TEXT NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE messages (
    mailbox TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, sha256 BLOB NOT NULL, message_id TEXT NOT NULL,
    PRIMARY KEY (mailbox, folder, name)
) WITHOUT ROWID;
CREATE INDEX messages_by_id ON messages (message_id) WHERE message_id <> '';
"""


@dataclass(frozen=True, slots=True)
class IndexedMailbox:
    """A mailbox of a snapshot. `address` is empty if the mailbox was not in the database when the backup began."""

    id: UUID
    domain_id: UUID
    address: str


@dataclass(frozen=True, slots=True)
class IndexTotals:
    """How many messages the mailboxes of an index have, and their size."""

    messages: int
    size: int


@contextlib.contextmanager
def open_index(path: Path) -> Generator[sqlite3.Connection]:
    """An index for reading. sqlite3.DatabaseError if it is not one."""
    conn = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        yield conn
    finally:
        conn.close()


def begin_index(stage: Path, previous: Path) -> None:
    """Start the index of a snapshot from the previous one's, or an empty one. Blocks."""
    path = stage / INDEX
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(previous, path)
        if _is_usable(path):
            return
        path.unlink()
    with _writing(path) as conn:
        conn.executescript(_SCHEMA)
        conn.execute(f"PRAGMA user_version = {_VERSION}")


def save_directory(stage: Path, domains: Sequence[tuple[UUID, str]], mailboxes: Sequence[IndexedMailbox]) -> None:
    """Replace the domains and mailboxes of the index. Blocks."""
    with _writing(stage / INDEX) as conn:
        conn.execute("DELETE FROM domains")
        conn.executemany("INSERT INTO domains VALUES (?, ?)", [(str(each), name) for each, name in domains])
        conn.execute("DELETE FROM mailboxes")
        conn.executemany(
            "INSERT INTO mailboxes (id, domain_id, address) VALUES (?, ?, ?)",
            [(str(each.id), str(each.domain_id), each.address) for each in mailboxes],
        )


def index_mail(stage: Path, stop: Stop) -> IndexTotals:
    """Bring the messages of the index up to date with the mail in the snapshot. Blocks."""
    with _writing(stage / INDEX) as conn:
        present = sorted(entry.name for entry in (stage / MAIL).iterdir())
        known = {row[0] for row in conn.execute("SELECT DISTINCT mailbox FROM messages")}
        conn.executemany("DELETE FROM messages WHERE mailbox = ?", [(each,) for each in known - set(present)])
        for mailbox in present:
            _index_mailbox(conn, stage / MAIL / mailbox / MAILDIR, mailbox, stop)
        conn.execute(
            """
            UPDATE mailboxes SET (messages, bytes) =
                (SELECT count(*), coalesce(sum(m.size), 0) FROM messages m WHERE m.mailbox = mailboxes.id)
            """
        )
        row = conn.execute("SELECT count(*), coalesce(sum(size), 0) FROM messages").fetchone()
    return IndexTotals(row[0], row[1])


def _index_mailbox(conn: sqlite3.Connection, maildir: Path, mailbox: str, stop: Stop) -> None:
    rows = conn.execute("SELECT folder, name, file, size, mtime FROM messages WHERE mailbox = ?", (mailbox,))
    known = {(folder, name): (file, size, mtime) for folder, name, file, size, mtime in rows}
    changed: list[tuple[object, ...]] = []
    for folder, part in _list_parts(maildir):
        with os.scandir(maildir / folder / part) as entries:
            for entry in entries:
                stop.check()
                name, file = base_name(entry.name), f"{part}/{entry.name}"
                status = entry.stat(follow_symlinks=False)
                is_known = known.pop((folder, name), None)
                if is_known == (file, status.st_size, status.st_mtime_ns):
                    continue
                if is_known and is_known[1:] == (status.st_size, status.st_mtime_ns):
                    conn.execute(
                        "UPDATE messages SET file = ? WHERE (mailbox, folder, name) = (?, ?, ?)",
                        (file, mailbox, folder, name),
                    )
                    continue
                digest, message_id = _read_message(Path(entry.path))
                changed.append((mailbox, folder, name, file, status.st_size, status.st_mtime_ns, digest, message_id))
                if len(changed) >= _BATCH:
                    _insert(conn, changed)
                    changed.clear()
    _insert(conn, changed)
    conn.executemany(
        "DELETE FROM messages WHERE (mailbox, folder, name) = (?, ?, ?)",
        [(mailbox, folder, name) for folder, name in known],
    )


def _list_parts(maildir: Path) -> list[tuple[str, str]]:
    if not maildir.is_dir():
        return []
    names = ["", *sorted(entry.name for entry in maildir.iterdir() if entry.is_dir() and entry.name.startswith("."))]
    return [(name, part) for name in names for part in ("new", "cur") if (maildir / name / part).is_dir()]


def _insert(conn: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> None:
    conn.executemany("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _read_message(path: Path) -> tuple[bytes, str]:
    """The SHA-256 of a message, and its Message-ID."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        chunk = file.read(_CHUNK)
        message_id = find_message_id(chunk[:_HEAD_BYTES])
        while chunk:
            digest.update(chunk)
            chunk = file.read(_CHUNK)
    return digest.digest(), message_id


def find_message_id(head: bytes) -> str:
    """The Message-ID (RFC 5322 §3.6.4) in the beginning of a message, with its angle brackets; empty if it has none."""
    header = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    found = _MESSAGE_ID.search(header)
    text = b"".join(found[1].split()).decode("utf-8", "replace") if found else ""
    return text.replace("\0", "") if len(text) <= _LONGEST_ID else ""


def _is_usable(path: Path) -> bool:
    try:
        with open_index(path) as conn:
            return conn.execute("PRAGMA user_version").fetchone()[0] == _VERSION and [
                row[0] for row in conn.execute("PRAGMA quick_check(1)")
            ] == ["ok"]
    except sqlite3.DatabaseError:
        return False


@contextlib.contextmanager
def _writing(path: Path) -> Generator[sqlite3.Connection]:
    """One transaction. The file is a draft: it needs no journal."""
    conn = sqlite3.connect(path, isolation_level=None)
    try:
        conn.execute("PRAGMA journal_mode = OFF")
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("BEGIN")
        yield conn
        if conn.in_transaction:
            conn.execute("COMMIT")
    finally:
        conn.close()
