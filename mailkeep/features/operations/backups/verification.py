"""Verifies a backup: restores it to a temporary folder and compares everything with what the backup says of itself.

restic compares each block with its SHA-256 as it restores; then come the database's own checksums, each mail with the
index, the number of rows, the audit log's chain, and the files that rows name. All of it runs on a copy.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mailkeep.app import App
from mailkeep.backup.index import open_index
from mailkeep.backup.layout import DATABASE, INDEX, INSTANCE, MAIL, Manifest, read_manifest
from mailkeep.backup.mail_snapshot import MAILDIR, base_name
from mailkeep.backup.restic import Snapshot
from mailkeep.backup.restored_tree import HostileSnapshot, check_tree, remove_tree, restore_tree
from mailkeep.backup.scratch_server import CopyUnusable, remove_copies, serve_copy
from mailkeep.backup.stage import Report
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.db.instance import instance_id
from mailkeep.features.directory.mailboxes.model import mail_root
from mailkeep.features.mailflow.receiving.service import forward_path
from mailkeep.features.mailflow.sandbox.model import content_path
from mailkeep.features.operations.backups import engine, source_store, store
from mailkeep.features.operations.backups.model import Backup, BackupOperation, Verification
from mailkeep.features.record.audit import service as audit
from mailkeep.mail.mailbox.restored_mail import RESTORING_SUFFIX

SCRATCH = "scratch"
"""The folder of a restored backup, in the folder of backups."""

_SHOWN = 5
_CHUNK = 1 << 20
# What restic 0.14 writes about a repository whose content has changed.
_DAMAGE = (
    "ciphertext verification failed", "invalid data returned", "hash does not match", "hash mismatch", "unexpected eof",
    "not found in repository", "not found in index", "wrong data returned", "does not match id", "id mismatch",
    "invalid character", "no matching id found", "invalid header", "could not load", "failed to load",
    "no such file", "does not exist",
)  # fmt: skip


class Damaged(Failure):
    """The repository does not return what was stored."""


@dataclass(slots=True)
class _Faults:
    """What is not as it should be: the first few as texts, and how many."""

    count: int = 0
    shown: list[str] = field(default_factory=list[str])

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(text)

    def text(self) -> str:
        more = self.count - len(self.shown)
        return "; ".join(self.shown) + (f"; and {more} more" if more else "") + "."


@dataclass(slots=True)
class _Numbers:
    """What was compared."""

    files: int = 0
    bytes: int = 0
    messages: int = 0
    tables: int = 0
    rows: int = 0
    audit_entries: int = 0


async def verify(app: App, operation: BackupOperation, report: Report) -> Mapping[str, Any]:
    """Verify the backup of the operation, without one the newest, and record the result with it. What is wrong with it
    is the result, not an error: Failure only if it could not be verified, as with a repository that can't be reached.
    """
    backup = await find_backup(app, operation)
    numbers, faults = _Numbers(), _Faults()
    try:
        await _verify(app, backup, report, numbers, faults)
    except (CopyUnusable, Damaged) as error:
        faults.add(str(error).rstrip("."))
    detail = faults.text() if faults.count else _describe(numbers)
    result = Verification(app.clock(), not faults.count, detail)
    failpoint.reach("verification.done")
    async with app.db.tx() as conn:
        await store.save_verification(conn, backup.id, result)
    counted = {name: getattr(numbers, name) for name in _Numbers.__slots__}
    return {"backup_id": str(backup.id), "ok": result.is_ok, "detail": detail, **counted}


async def find_backup(app: App, operation: BackupOperation) -> Backup:
    """The stored backup of an operation, or else the newest. Failure if there is none."""
    async with app.db.autocommit() as conn:
        known = operation.backup_id
        backup = await (store.find_backup(conn, known) if known else store.find_newest(conn))
    if backup is None or not backup.snapshot:
        raise Failure("There is no such backup.", permanent=True)
    return backup


@contextlib.asynccontextmanager
async def scratch(app: App) -> AsyncGenerator[Path]:
    """An empty place for restored backups, removed afterwards."""
    folder = engine.backup_folder(app) / SCRATCH
    await asyncio.to_thread(remove_scratch, app)
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        await asyncio.to_thread(remove_scratch, app)


def remove_scratch(app: App) -> None:
    """Remove what a verification or a restore left, also one that was killed. Blocks."""
    remove_tree(engine.backup_folder(app) / SCRATCH)
    for home in mail_root(app.data_dir).glob(f"*{RESTORING_SUFFIX}"):
        remove_tree(home)
    remove_copies(app.data_dir)


async def find_snapshot(app: App, backup: Backup) -> Snapshot:
    """The snapshot of a backup. Damaged if the repository has none."""
    snapshots = await engine.open_repository(app).list_snapshots()
    found = next((each for each in snapshots if each.id == backup.snapshot), None)
    if found is None:
        raise Damaged("The repository no longer has the snapshot.")
    return found


async def restore(
    app: App,
    backup: Backup,
    target: Path,
    report: Callable[[int], Awaitable[None]],
    *include: str,
    use_cache: bool = True,
) -> tuple[Path, Manifest]:
    """Restore a backup of this instance, or parts of it, and return its folder and manifest. Without `use_cache`
    everything is read from the repository. Damaged, Failure.
    """
    repository, snapshot = engine.open_repository(app), await find_snapshot(app, backup)
    if not use_cache:
        repository = replace(repository, cache=target.with_name("cache"))
    try:
        folder = await restore_tree(repository, snapshot, target, include, report)
    except Failure as error:
        if isinstance(error, HostileSnapshot) or _is_damage(error):
            raise Damaged(str(error)) from error
        raise
    try:
        manifest = await asyncio.to_thread(read_manifest, folder)
    except Failure as error:
        raise Damaged(str(error)) from error
    if (manifest.backup_id, manifest.instance_id) != (backup.id, instance_id(app.data_dir)):
        raise Damaged("The snapshot is of another backup or another server.")
    return folder, manifest


def _is_damage(error: Failure) -> bool:
    """Whether the repository's content is wrong, rather than out of reach."""
    return type(error) is Failure and any(sign in str(error).lower() for sign in _DAMAGE)


async def _verify(app: App, backup: Backup, report: Report, numbers: _Numbers, faults: _Faults) -> None:
    async with scratch(app) as place:

        async def report_restored(done: int) -> None:
            total = backup.size_bytes or 0
            await report("restoring", min(done, total), total)

        await report("restoring", 0, backup.size_bytes or 0)
        folder, manifest = await restore(app, backup, place / "all", report_restored, use_cache=False)
        failpoint.reach("verification.restored")
        size = await asyncio.to_thread(check_tree, folder)
        numbers.files, numbers.bytes = size.files, size.bytes
        await _compare_mail(folder, manifest, report, numbers, faults)
        failpoint.reach("verification.mail_compared")
        await report("database", 0, 0)
        async with serve_copy(folder / DATABASE, app.data_dir) as db:
            failpoint.reach("verification.served")
            copy = replace(app, db=db, data_dir=folder)
            await _count_rows(copy, manifest, numbers, faults)
            await _verify_chain(copy, numbers, faults)
            await _find_files(copy, folder, faults)


async def _compare_mail(folder: Path, manifest: Manifest, report: Report, numbers: _Numbers, faults: _Faults) -> None:
    """Compare each mail with the index, in both directions."""
    try:
        with open_index(folder / INDEX) as index:
            total = index.execute("SELECT count(*) FROM messages").fetchone()[0]
            if total != manifest.counts.messages:
                faults.add(f"the index has {total} messages, the manifest says {manifest.counts.messages}")
            mailboxes = [row[0] for row in index.execute("SELECT DISTINCT mailbox FROM messages ORDER BY mailbox")]
    except (sqlite3.Error, TypeError) as error:
        raise Damaged(f"The index can't be read: {error}.") from error
    present = {path.name for path in (folder / MAIL).iterdir()} if (folder / MAIL).is_dir() else set[str]()
    for mailbox in sorted(present | set(mailboxes)):
        await report("mail", numbers.messages, total)
        await asyncio.to_thread(_compare_mailbox, folder, mailbox, numbers, faults)


def _compare_mailbox(folder: Path, mailbox: str, numbers: _Numbers, faults: _Faults) -> None:
    """Compare the files of a mailbox with its rows in the index."""
    files = dict(_list_messages(folder / MAIL / mailbox / MAILDIR))
    try:
        with open_index(folder / INDEX) as index:
            rows = index.execute("SELECT folder, name, size, sha256 FROM messages WHERE mailbox = ?", (mailbox,))
            for mail_folder, name, size, digest in rows:
                numbers.messages += 1
                path = files.pop((mail_folder, name), None)
                if path is None:
                    faults.add(f"the message {name} of mailbox {mailbox} is missing")
                elif path.stat().st_size != size or _digest(path) != digest:
                    faults.add(f"the message {name} of mailbox {mailbox} has changed")
    except (sqlite3.Error, OSError) as error:
        raise Damaged(f"The mail of mailbox {mailbox} can't be read: {error}.") from error
    for _, name in files:
        faults.add(f"the message {name} of mailbox {mailbox} is not in the index")


def _list_messages(maildir: Path) -> list[tuple[tuple[str, str], Path]]:
    """The messages of a Maildir: by folder (empty: INBOX) and name without flags."""
    found: list[tuple[tuple[str, str], Path]] = []
    if not maildir.is_dir():
        return found
    folders = ["", *(path.name for path in maildir.iterdir() if path.is_dir() and path.name.startswith("."))]
    for folder in folders:
        for part in ("new", "cur"):
            if (maildir / folder / part).is_dir():
                with os.scandir(maildir / folder / part) as entries:
                    found += [((folder, base_name(entry.name)), Path(entry.path)) for entry in entries]
    return found


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.digest()


async def _count_rows(copy: App, manifest: Manifest, numbers: _Numbers, faults: _Faults) -> None:
    async with copy.db.tx() as conn:
        counted = await source_store.count_rows(conn)
    for table, expected in manifest.rows.items():
        found = counted.get(table, 0)
        numbers.tables += 1
        numbers.rows += found
        if found < expected:
            faults.add(f"the table {table} has {found} rows instead of at least {expected}")


async def _verify_chain(copy: App, numbers: _Numbers, faults: _Faults) -> None:
    """Verify the audit log as `mailkeep audit verify` does; the copy's folder has no record of a later seal."""
    verification = await audit.verify(copy)
    numbers.audit_entries = verification.checked
    for fault in verification.faults:
        faults.add(f"audit log: {fault.problem}, {f'seal {fault.seal}' if fault.seal is not None else fault.id}")
    for _ in range(verification.fault_count - len(verification.faults)):
        faults.add("audit log")


async def _find_files(copy: App, folder: Path, faults: _Faults) -> None:
    """Find the files that rows name: contents of forwards and of the sandbox's queue."""
    async with copy.db.tx() as conn:
        forwards, messages = await source_store.list_forwards(conn), await source_store.list_sandbox_messages(conn)
    paths = [forward_path(folder / INSTANCE, queue_id) for queue_id in forwards]
    paths += [content_path(folder / INSTANCE, message_id) for message_id in messages]
    for missing in await asyncio.to_thread(lambda: [path.name for path in paths if not path.is_file()]):
        faults.add(f"the file {missing} of mail on its way is missing")


def _describe(numbers: _Numbers) -> str:
    return (
        f"{numbers.files:,} files ({numbers.bytes:,} bytes) were restored; {numbers.messages:,} messages are as they "
        f"were; {numbers.rows:,} rows of {numbers.tables} tables were counted and {numbers.audit_entries:,} entries of "
        "the audit log verified."
    )
