"""Store, claim, change and end scheduled messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.core.ids import uuid7
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Conn
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome, Message, ServerReply
from mailkeep.features.record.scheduled import rules, store
from mailkeep.features.record.scheduled.model import ClaimedMessage, NewScheduledMessage, WaitingMessage

seal = rules.seal
claim = store.claim
end_claims = store.end_claims
list_processes = store.list_processes
end_process = store.end_process
find_waiting = store.find_waiting
find_next_due = store.find_next_due
lock_waiting = store.lock_waiting
lock_ended = store.lock_ended
list_unknown = store.list_unknown
delete = store.delete
count_of_domain = store.count_of_domain
count_of_keys = store.count_of_keys
list_of_sender = store.list_of_sender
hold = store.hold
release = store.release


async def insert(conn: Conn, at: datetime, rows: Sequence[Message], jobs: Sequence[NewScheduledMessage]) -> None:
    """Schedule messages: their rows in the history, with status `scheduled`, and their jobs."""
    await messages.insert_messages(conn, rows)
    await store.insert(conn, at, jobs)


async def read_contents(conn: Conn, vault: Vault, message_ids: Collection[UUID]) -> dict[UUID, bytes]:
    """The contents of messages; one that can't be opened is missing."""
    parts = await store.read_parts(conn, message_ids)
    contents = {message_id: rules.unseal(vault, message_id, sealed) for message_id, sealed in parts.items()}
    return {message_id: content for message_id, content in contents.items() if content is not None}


async def reschedule(conn: Conn, at: datetime, waiting: WaitingMessage, scheduled_at: datetime) -> None:
    """Give a locked message another time."""
    message_id = waiting.message_id
    await store.reschedule(conn, message_id, scheduled_at, at)
    await store.set_recipients(conn, [message_id], "scheduled", scheduled_at, None)
    await _record(conn, at, [message_id], "scheduled", None, scheduled_at)


async def cancel(conn: Conn, at: datetime, message_ids: Sequence[UUID]) -> None:
    """Cancel locked messages and delete their contents."""
    await store.delete(conn, message_ids)
    await store.set_recipients(conn, message_ids, "cancelled", None, None)
    await messages.update_statuses(conn, message_ids)
    await _record(conn, at, message_ids, "cancelled", None, None)


async def cancel_of_domain(conn: Conn, at: datetime, domain_id: UUID) -> int:
    """Cancel all messages of a domain that wait; returns their number."""
    message_ids = await store.lock_of_domain(conn, domain_id)
    if message_ids:
        await cancel(conn, at, message_ids)
    return len(message_ids)


async def postpone(conn: Conn, claimed: Sequence[ClaimedMessage], due_at: datetime, why: str) -> None:
    """Make claimed messages wait until `due_at`; the recipients show why."""
    ids = await store.end_claims(conn, claimed, due_at)
    await store.set_recipients(conn, ids, "scheduled", due_at, why)


async def return_to_waiting(conn: Conn, at: datetime, due_at: datetime, message_ids: Sequence[UUID]) -> None:
    """Make messages that the MTA did not get wait until `due_at`."""
    await store.return_to_waiting(conn, at, due_at, message_ids)
    await store.set_recipients(conn, message_ids, "scheduled", due_at, None)


async def fail_claimed(
    conn: Conn, at: datetime, claimed: ClaimedMessage, message: Message, reason: str, why: str
) -> int:
    """`fail` for a message that this worker has claimed; 0 if it was changed meanwhile."""
    return await fail(conn, at, message, reason, why) if await store.lock_claimed(conn, claimed) else 0


async def fail(conn: Conn, at: datetime, message: Message, reason: str, why: str) -> int:
    """End a locked message that is not sent, with `mail.failed` for each recipient. Returns the number of outcomes."""
    await store.delete(conn, [message.id])
    outcomes = [
        DeliveryOutcome(message.id, each.address, "failed", None, ServerReply(diagnostic=why), reason=reason)
        for each in message.recipients
        if each.status in ("scheduled", "lost")
    ]
    return len(await messages.record_outcomes(conn, at, outcomes))


async def _record(
    conn: Conn, at: datetime, message_ids: Sequence[UUID], kind: str, why: str | None, next_at: datetime | None
) -> None:
    """Write an entry of the timeline of each message."""
    reply = ServerReply(diagnostic=why)
    await messages.record_attempts(
        conn, [DeliveryAttempt(uuid7(at), each, at, kind, None, 0, reply, next_at) for each in message_ids]
    )
