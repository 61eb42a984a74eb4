"""Background jobs: emptying the trash, and removing the mail of deleted mailboxes.

Any number of processes may run them at once. If one is interrupted, the next run does the rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.ids import parse_uuid
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailboxes import store, wire
from mailkeep.features.directory.mailboxes.model import TRASH_RETENTION, mail_folder, mail_root
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget

log = structlog.get_logger("mailkeep.mailboxes")

REMOVED_SUFFIX = ".removed"
"""What the folder of a deleted mailbox is called while it is removed."""

_BATCH = 100
_RETENTION = Principal(None, "retention", Role.SUPER_ADMIN, ActorType.SYSTEM)


async def purge_trash(app: App) -> int:
    """Delete mailboxes that have been in the trash for 30 days and remove their mail; returns how many. Runs hourly.

    Does nothing until `confirm_prune_time` confirms the time, so that a wrong clock deletes nothing.
    """
    async with app.db.tx() as conn:
        confirmed_time = await confirm_prune_time(conn, "audit_entries", app.clock())
    total, batch = 0, _BATCH if confirmed_time else 0
    while confirmed_time and batch == _BATCH:
        at = app.clock()
        async with app.db.tx() as conn:
            purged = await store.delete_trash(conn, confirmed_time - TRASH_RETENTION, _BATCH)
            for mailbox in purged:
                target = AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
                await audit.record(
                    conn, _RETENTION, at, AuditAction("mailbox.purge", target, before=wire.audit_fields(mailbox))
                )
        batch = len(purged)
        total += batch
    await remove_mail(app)
    return total


async def remove_mail(app: App) -> int:
    """Remove the folders of deleted mailboxes; returns how many. Failures are retried by the next run.

    In the full profile another account owns the mail; only the process `node`, which runs as root, can do it.
    """
    removed, last = 0, None
    if not _may_remove_mail(app):
        return removed
    while True:
        async with app.db.autocommit() as conn:
            mailbox_ids = await store.list_removals(conn, _BATCH, last)
        for mailbox_id in mailbox_ids:
            removed += await remove_mail_of(app, mailbox_id)
        if len(mailbox_ids) < _BATCH:
            await asyncio.to_thread(_remove_leftovers, mail_root(app.data_dir))
            return removed
        last = mailbox_ids[-1]


async def remove_mail_of(app: App, mailbox_id: UUID) -> bool:
    """Remove the folder of a deleted mailbox. False if that fails (logged), or if this process may not do it.

    The folder is renamed while the row is locked: a mailbox that is restored from a backup takes the row away, and
    keeps its folder.
    """
    if not _may_remove_mail(app):
        return False
    folder = mail_folder(app.data_dir, mailbox_id)
    removed = folder.with_name(folder.name + REMOVED_SUFFIX)
    try:
        await asyncio.to_thread(_remove, removed)
        async with app.db.tx() as conn:
            if not await store.lock_removal(conn, mailbox_id):
                return False
            with contextlib.suppress(FileNotFoundError):
                folder.rename(removed)
        await asyncio.to_thread(_remove, removed)
    except OSError as error:
        log.warning(
            "the mail of a deleted mailbox could not be removed, will be retried",
            mailbox_id=str(mailbox_id),
            error=str(error),
        )
        return False
    async with app.db.autocommit() as conn:
        await store.finish_removal(conn, mailbox_id)
    return True


async def remove_mail_without_mailbox(conn: Conn, app: App) -> None:
    """Record that the mail of mailboxes that do not exist must be removed: they were deleted between a backup and the
    time to which the database was restored. Call it before anything else uses the instance.
    """
    root = mail_root(app.data_dir)
    names = await asyncio.to_thread(os.listdir, root) if root.is_dir() else []
    await store.insert_removals(conn, [found for name in names if (found := parse_uuid(name))])


def _may_remove_mail(app: App) -> bool:
    """Whether this process may remove mail; True if the folder does not exist."""
    root = mail_root(app.data_dir)
    return not root.exists() or os.access(root, os.W_OK | os.X_OK)


def _remove_leftovers(root: Path) -> None:
    """Remove what was renamed and then not removed, because the mailbox was restored from a backup meanwhile."""
    for folder in root.glob(f"*{REMOVED_SUFFIX}"):
        try:
            _remove(folder)
        except OSError as error:
            log.warning("deleted mail could not be removed, will be retried", folder=folder.name, error=str(error))


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        # Also raised if a mail client moves a message meanwhile. The mail is removed only if the folder does not exist.
        if folder.exists():
            raise
