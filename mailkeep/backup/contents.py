"""What a backup contains, from the index in its snapshot: domains, mailboxes, folders, and messages by Message-ID.

An index is read from the repository once, in the background, and kept in a folder with those of a few other backups. It
is opened read-only, without trust in its schema, and each query may take ten seconds.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Literal
from uuid import UUID

from mailkeep.backup.layout import INDEX
from mailkeep.backup.restic import Repository
from mailkeep.core.errors import Failure

FOLDER = "contents"
"""The folder, in that of backups, with the indexes that were read."""
_KEPT = 4
_ENCODED = re.compile("&([^-]*)-")
_QUERY_SECONDS = 10.0
_INSTRUCTIONS = 100_000  # of SQLite's virtual machine between two looks at the time

EntryType = Literal["domain", "mailbox", "folder", "message"]


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A part of a backup. `name`: the domain, or the address of the mailbox. What a type does not have is None."""

    type: EntryType
    name: str
    size_bytes: int
    domain_id: UUID | None = None
    mailbox_id: UUID | None = None
    folder: str | None = None
    mailboxes: int | None = None
    messages: int | None = None
    date: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContentsQuery:
    """Which part: all domains, the mailboxes of a domain, the folders of a mailbox, or messages by their Message-ID."""

    domain_id: str | None = None
    mailbox_id: str | None = None
    message_id: str | None = None

    @property
    def type(self) -> EntryType:
        """The type of the entries."""
        if self.message_id is not None:
            return "message"
        return "folder" if self.mailbox_id is not None else "mailbox" if self.domain_id is not None else "domain"


@dataclass(frozen=True, slots=True)
class ContentsSlice:
    """How many entries, in which order, after which key."""

    limit: int
    descending: bool = False
    after: tuple[str, str] | None = None


Entries = tuple[list[ContentsEntry], tuple[str, str] | None]
"""Entries, and the key to continue after, None at the end."""

# Each has the columns of an entry, and k1, k2, by which it is sorted.
_DOMAINS = """
    SELECT d.name AS name, coalesce(sum(m.bytes), 0) AS size_bytes, d.id AS domain_id, NULL AS mailbox_id,
        NULL AS folder, count(m.id) AS mailboxes, coalesce(sum(m.messages), 0) AS messages, NULL AS stored_at,
        d.name AS k1, d.id AS k2
    FROM domains d LEFT JOIN mailboxes m ON m.domain_id = d.id GROUP BY d.id, d.name
"""
_MAILBOXES = """
    SELECT m.address AS name, m.bytes AS size_bytes, m.domain_id AS domain_id, m.id AS mailbox_id, NULL AS folder,
        NULL AS mailboxes, m.messages AS messages, NULL AS stored_at, m.address AS k1, m.id AS k2
    FROM mailboxes m WHERE m.domain_id = :domain_id
"""
_FOLDERS = """
    SELECT m.address AS name, sum(e.size) AS size_bytes, m.domain_id AS domain_id, m.id AS mailbox_id,
        e.folder AS folder, NULL AS mailboxes, count(*) AS messages, NULL AS stored_at, e.folder AS k1, m.id AS k2
    FROM messages e JOIN mailboxes m ON m.id = e.mailbox WHERE e.mailbox = :mailbox_id
    GROUP BY e.folder, m.id, m.address, m.domain_id
"""
_MESSAGES = """
    SELECT m.address AS name, e.size AS size_bytes, m.domain_id AS domain_id, m.id AS mailbox_id, e.folder AS folder,
        NULL AS mailboxes, NULL AS messages, e.mtime AS stored_at, m.address AS k1, e.folder || '/' || e.name AS k2
    FROM messages e JOIN mailboxes m ON m.id = e.mailbox
    WHERE e.message_id = :message_id AND e.message_id <> '' AND (:domain_id IS NULL OR m.domain_id = :domain_id)
        AND (:mailbox_id IS NULL OR m.id = :mailbox_id)
"""
_SELECTS: Mapping[EntryType, str] = {
    "domain": _DOMAINS,
    "mailbox": _MAILBOXES,
    "folder": _FOLDERS,
    "message": _MESSAGES,
}

_reading: dict[Path, asyncio.Task[None]] = {}  # indexes that are being read from a repository, by their file


async def list_entries(
    repository: Repository, folder: Path, snapshot: str, query: ContentsQuery, page: ContentsSlice
) -> Entries | None:
    """Entries of the snapshot with this ID; None while its index is being read. `folder`: of backups. Failure."""
    path = folder / FOLDER / f"{snapshot}.sqlite"
    if not path.exists():
        task = _reading.get(path)
        if task is None:
            task = _reading[path] = asyncio.create_task(_read_index(repository, snapshot, path))
        if not task.done():
            await asyncio.wait([task], timeout=0.5)
        if not task.done():
            return None
        _reading.pop(path, None)
        task.result()
    return await asyncio.to_thread(_select, path, query, page)


async def _read_index(repository: Repository, snapshot: str, path: Path) -> None:
    """Copy the index of a snapshot to this path; those that were not used recently are removed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = [each for each in await repository.list_snapshots() if each.id.startswith(snapshot)]
    if not found:
        raise Failure("The repository does not have this backup any more.", permanent=True)
    part = path.with_suffix(".part")
    try:
        await repository.dump(found[0].id, f"{found[0].paths[0]}/{INDEX}", part)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    others = sorted(path.parent.glob("*.sqlite"), key=lambda each: each.stat().st_mtime, reverse=True)
    for each in others[_KEPT:]:
        each.unlink(missing_ok=True)


def _select(path: Path, query: ContentsQuery, page: ContentsSlice) -> Entries:
    with contextlib.suppress(OSError):
        os.utime(path)
    parameters: dict[str, Any] = {
        "domain_id": query.domain_id,
        "mailbox_id": query.mailbox_id,
        "message_id": query.message_id,
        "rows": page.limit + 1,
    }
    statement = f"SELECT * FROM ({_SELECTS[query.type]})"  # noqa: S608 - constants
    if page.after is not None:
        parameters |= {"k1": page.after[0], "k2": page.after[1]}
        statement += f" WHERE (k1, k2) {'<' if page.descending else '>'} (:k1, :k2)"
    direction = "DESC" if page.descending else "ASC"
    statement += f" ORDER BY k1 {direction}, k2 {direction} LIMIT :rows"
    try:
        with _open(path) as connection:
            rows = connection.execute(statement, parameters).fetchall()
        entries = [_to_entry(query.type, row) for row in rows[: page.limit]]
    except (sqlite3.Error, ValueError, TypeError, OverflowError, OSError) as error:  # the index is not trusted
        path.unlink(missing_ok=True)  # a damaged copy is read again
        raise Failure(f"The index of the backup can't be read: {error}.", permanent=True) from None
    return entries, (rows[page.limit - 1]["k1"], rows[page.limit - 1]["k2"]) if len(rows) > page.limit else None


@contextlib.contextmanager
def _open(path: Path) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{path.as_posix()}?mode=ro&immutable=1", uri=True)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_progress_handler(_time_limit(), _INSTRUCTIONS)
        yield connection
    finally:
        connection.close()


def _time_limit() -> Callable[[], int]:
    until = monotonic() + _QUERY_SECONDS
    return lambda: int(monotonic() > until)


def _to_entry(kind: EntryType, row: sqlite3.Row) -> ContentsEntry:
    return ContentsEntry(
        type=kind,
        name=str(row["name"]),
        size_bytes=int(row["size_bytes"] or 0),
        domain_id=UUID(row["domain_id"]) if row["domain_id"] else None,
        mailbox_id=UUID(row["mailbox_id"]) if row["mailbox_id"] else None,
        folder=None if row["folder"] is None else _show_folder(row["folder"]),
        mailboxes=row["mailboxes"],
        messages=row["messages"],
        date=None if row["stored_at"] is None else datetime.fromtimestamp(int(row["stored_at"]) / 1e9, UTC),
    )


def _show_folder(directory: str) -> str:
    """The name of a folder from its directory (Maildir++, names in IMAP's modified UTF-7, RFC 3501 §5.1.3)."""
    if not directory:
        return "INBOX"
    return "/".join(_ENCODED.sub(_decode, part) for part in directory.removeprefix(".").split("."))


def _decode(found: re.Match[str]) -> str:
    encoded = found[1].replace(",", "/")
    if not encoded:
        return "&"
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-16-be")
    except ValueError:
        return found[0]
