"""Keeping the history of mail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.core.errors import DomainNotFound, NotFound
from mailkeep.core.ids import parse_uuid, uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.events import service as events
from mailkeep.features.events.model import Event
from mailkeep.features.messages import store
from mailkeep.features.messages.model import Fate, Filter, Message

_KINDS = {
    "delivered": "mail.delivered",
    "bounced": "mail.bounced",
    "deferred": "mail.bounced",
    "failed": "mail.failed",
}


async def begin(conn: Conn, attempts: Sequence[Message]) -> None:
    """Write the attempts of sends; their transaction must be committed before the mail transfer agent is asked."""
    await store.insert(conn, attempts)


async def accept(conn: Conn, at: datetime, accepted: Sequence[tuple[Message, str]], *, status: str) -> None:
    """Messages that the MTA took, with its queue ids: one `mail.sent` for each, exactly once.

    `status` is queued for our own MTA, relayed for a smarthost, whose further word we never get.
    """
    fresh = set(await store.accept(conn, [(message.id, queue_id) for message, queue_id in accepted], status))
    for message, _ in accepted:
        if message.id in fresh:
            data = {
                "message_id": message.message_id,
                "from": message.from_address,
                "to": message.to_addresses,
                "subject": message.subject,
                "domain": message.domain_name,
            }
            await events.emit(conn, at, Event("mail.sent", message.domain_id, message.id, data))


async def end_attempts(conn: Conn, ended: Sequence[tuple[UUID, str, str | None]]) -> None:
    """Attempts that came to nothing: (id, lost | unknown | failed, the MTA's words). They emit nothing."""
    await store.end_attempts(conn, ended)


async def record_fate(conn: Conn, at: datetime, fate: Fate) -> None:
    """What became of a recipient: its row, the message's status, and its event, once.

    A deferral is told once, at the first (`mail.bounced`, `bounce_type` temporary).
    """
    message = await store.lock(conn, fate.message_id)
    if message is None or not await store.set_fate(conn, fate):
        return
    await store.settle_status(conn, fate.message_id)
    if fate.status == "deferred" and fate.attempts > 1:
        return
    data = {
        "message_id": message.message_id,
        "from": message.from_address,
        "to": fate.address,
        "domain": message.domain_name,
        "subject": message.subject,
        "queue_id": message.queue_id,
        "smtp_code": fate.reply.smtp_code,
        "enhanced_code": fate.reply.enhanced_code,
        "diagnostic": fate.reply.diagnostic,
        "remote_host": fate.reply.remote_host,
        "attempts": fate.attempts,
    }
    if fate.status in ("bounced", "deferred"):
        data["bounce_type"] = "permanent" if fate.status == "bounced" else "temporary"
    elif fate.status == "failed":
        data["reason"] = fate.reply.diagnostic
    await events.emit(conn, at, Event(_KINDS[fate.status], message.domain_id, message.id, data))


async def file_inbound(conn: Conn, at: datetime, message: Message, mailbox_id: UUID) -> bool:
    """File a message that reached a mailbox, with its `mail.received`; False where it was filed before."""
    assert message.queue_id is not None
    if not await store.mark_seen(conn, message.queue_id, str(mailbox_id), message.id, at):
        return False
    await store.insert(conn, [message])
    data = {
        "message_id": message.message_id,
        "from": message.from_address,
        "domain": message.domain_name,
        "subject": message.subject,
        "size": message.size,
        "queue_id": message.queue_id,
    }
    await events.emit(conn, at, Event("mail.received", message.domain_id, message.id, data))
    return True


async def record_rejected(conn: Conn, message: Message) -> None:
    """Keep a row of what was refused at SMTP."""
    await store.insert(conn, [message])


def new_id(at: datetime) -> UUID:
    """The id of a message that begins now; our own Message-IDs are made of it."""
    return uuid7(at)


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this id, whoever asks."""
    return await store.find(conn, message_id)


async def find_outbound(conn: Conn, header_id: str) -> UUID | None:
    """The id of the sent message with this Message-ID, where it is one of ours (`<id@domain>`)."""
    ours = parse_uuid(header_id[1:].partition("@")[0])
    found = await store.find(conn, ours) if ours else None
    return found.id if found and found.direction == "outbound" and found.message_id == header_id else None


async def get(conn: Conn, who: Principal, message_id: UUID) -> Message:
    """The message with this id; NOT_FOUND, or FORBIDDEN where it belongs to a domain that the caller does not see."""
    found = await store.find(conn, message_id)
    if found is None:
        raise NotFound
    # What belongs to no managed domain (relaying refused) is nobody's but the administrators' of all domains.
    allow_on(who, "message.read", found.domain_id or UUID(int=0))
    return found


async def page(conn: Conn, who: Principal, wanted: Filter, asked: PageRequest) -> Page[Message]:
    """A page of the messages that the caller may see; DOMAIN_NOT_FOUND for the id of what never was a domain."""
    if wanted.domain_id is not None:
        if not await store.knows_domain(conn, wanted.domain_id):
            raise DomainNotFound
        allow_on(who, "message.list", wanted.domain_id)
    return await store.page(conn, wanted, asked)
