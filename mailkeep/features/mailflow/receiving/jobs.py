"""Background jobs: submit external copies, delete expired content."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import structlog

from mailkeep.app import App
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
_ABANDONED = timedelta(
    hours=36
)  # older temporary files belong to no running delivery (https://cr.yp.to/proto/maildir.html)


async def forward_due(app: App, limit: int = 50) -> int:
    """Submit the forwards that are due to the MTA; returns their number."""
    async with app.db.autocommit() as conn:
        found = await store.due_forwards(conn, app.clock(), limit)
    for forward in found:
        await _forward(app, forward)
    return len(found)


async def _forward(app: App, forward: QueuedForward) -> None:
    path = forward_path(app.data_dir, forward.queue_id)
    given_up = await _submit_forward(app, forward, path)
    wait = rules.retry_delay(forward.attempts + 1)
    async with app.db.tx() as conn:
        if given_up is None and wait is not None:
            await store.reschedule_forward(conn, forward, app.clock() + wait)
            return
        last = await store.end_forward(conn, forward)
    if last:
        await asyncio.to_thread(content_file.remove, path)
    if given_up or given_up is None:
        log.warning("forward given up", queue_id=forward.queue_id, recipient=forward.recipient, why=given_up)


async def _submit_forward(app: App, forward: QueuedForward, path: Path) -> str | None:
    """Try once: empty if the MTA accepts it, the reason if it never will, None to retry."""
    if app.mta is None:
        return None
    if not path.exists():
        return "its content is gone"
    is_8bit = await asyncio.to_thread(_is_8bit, path)
    smtputf8 = not (forward.recipient + forward.mail_from).isascii()
    submission = OutgoingEnvelope(forward.mail_from, [forward.recipient], None, is_8bit, smtputf8)
    try:
        await app.mta.submit(submission, content_file.read(path), stuffed=False)
    except (SmtpRefusal, ConnectionLost) as wrong:
        return str(wrong) if wrong.permanent else None
    return ""


def _is_8bit(path: Path) -> bool:
    return any(not chunk.isascii() for chunk in content_file.read(path))


async def prune(app: App) -> None:
    """Delete the content of events after 3 days, and files of interrupted deliveries."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        confirmed = await confirm_prune_time(conn, "events", at)
        if confirmed:
            await store.delete_payloads(conn, confirmed - _PAYLOAD_RETENTION)
        old = await asyncio.to_thread(_old_forwards, app.data_dir, (at - _ABANDONED).timestamp())
        waiting = await store.find_waiting_forwards(conn, old)
    for queue_id in old - waiting:
        await asyncio.to_thread(content_file.remove, forward_path(app.data_dir, queue_id))
    await asyncio.to_thread(_remove_stale, app.data_dir, (at - _ABANDONED).timestamp())


def _old_forwards(data_dir: Path, before: float) -> set[str]:
    return {path.stem for path in (data_dir / "forwards").glob("*.eml") if path.stat().st_mtime < before}


def _remove_stale(data_dir: Path, before: float) -> None:
    for folder in mail_root(data_dir).glob(f"*/{MAILDIR}"):
        maildir.remove_stale(folder, before)
        maildir.remove_stale(folder / ".Junk", before)
