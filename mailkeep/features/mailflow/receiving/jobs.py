"""Background jobs: submit external copies, delete expired content."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.db.partitions import confirm_prune_time
from mailkeep.features.directory.mailboxes.model import mail_root
from mailkeep.features.mailflow.receiving import rules, store
from mailkeep.features.mailflow.receiving.model import QueuedForward
from mailkeep.features.mailflow.receiving.service import forward_path
from mailkeep.mail.mailbox import maildir
from mailkeep.mail.mailbox.homes import MAILDIR
from mailkeep.mail.message import content_file
from mailkeep.mail.smtp.client import ConnectionLost, OutgoingEnvelope, SmtpRefusal

log = structlog.get_logger("mailkeep.receiving")

_PAYLOAD_RETENTION = timedelta(days=3)
# Older temporary files belong to no running delivery (https://cr.yp.to/proto/maildir.html).
_STALE_AFTER = timedelta(hours=36)


async def forward_due(app: App, limit: int = 50) -> int:
    """Submit the forwards that are due to the MTA; returns their number."""
    async with app.db.autocommit() as conn:
        forwards = await store.due_forwards(conn, app.clock(), limit)
    for forward in forwards:
        await _forward(app, forward)
    return len(forwards)


async def _forward(app: App, forward: QueuedForward) -> None:
    path = forward_path(app.data_dir, forward.queue_id)
    failure = await _submit_forward(app, forward, path)
    delay = rules.retry_delay(forward.attempts + 1)
    async with app.db.tx() as conn:
        if failure and not failure.permanent and delay is not None:
            await store.reschedule_forward(conn, forward, app.clock() + delay)
            return
        is_last = await store.end_forward(conn, forward)
    if is_last:
        await asyncio.to_thread(content_file.remove, path)
    if failure:
        log.warning(
            "a message was not forwarded",
            queue_id=forward.queue_id,
            recipient=forward.recipient,
            attempts=forward.attempts + 1,
            why=str(failure),
        )


async def _submit_forward(app: App, forward: QueuedForward, path: Path) -> Failure | None:
    """Submit a forward to the MTA; returns the failure, or None if the MTA has accepted it."""
    if app.mta is None:
        return Failure("no mail transfer agent is configured (setting mta.mode)")
    if not path.exists():
        return Failure(f"the file with its content is missing: {path}", permanent=True)
    is_8bit = await asyncio.to_thread(_is_8bit, path)
    smtputf8 = not (forward.recipient + forward.mail_from).isascii()
    submission = OutgoingEnvelope(forward.mail_from, [forward.recipient], None, is_8bit, smtputf8)
    try:
        await app.mta.submit(submission, content_file.read(path), stuffed=False)
    except (SmtpRefusal, ConnectionLost) as failure:
        return failure
    return None


def _is_8bit(path: Path) -> bool:
    return any(not chunk.isascii() for chunk in content_file.read(path))


async def prune(app: App) -> None:
    """Delete the content of events after 3 days, and files of interrupted deliveries."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        confirmed = await confirm_prune_time(conn, "events", at)
        if confirmed:
            await store.delete_payloads(conn, confirmed - _PAYLOAD_RETENTION)
        stored = await asyncio.to_thread(_list_stored_forwards, app.data_dir, (at - _STALE_AFTER).timestamp())
        queued = await store.find_queued_forwards(conn, stored)
    for queue_id in stored - queued:
        await asyncio.to_thread(content_file.remove, forward_path(app.data_dir, queue_id))
    await asyncio.to_thread(_remove_stale, app.data_dir, (at - _STALE_AFTER).timestamp())


def _list_stored_forwards(data_dir: Path, before: float) -> set[str]:
    """The queue IDs of forwards whose content was stored before `before` (seconds since the epoch)."""
    return {path.stem for path in (data_dir / "forwards").glob("*.eml") if path.stat().st_mtime < before}


def _remove_stale(data_dir: Path, before: float) -> None:
    for folder in mail_root(data_dir).glob(f"*/{MAILDIR}"):
        maildir.remove_stale(folder, before)
        maildir.remove_stale(folder / ".Junk", before)
