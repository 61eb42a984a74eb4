"""Mail that the filter filed in Junk or refused: its row in the history, and its copy in the Maildir."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from mailkeep.features.directory.mailboxes.model import maildir_of
from mailkeep.features.record.messages import service
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain, Recipient, ServerReply
from mailkeep.features.record.messages.rules import inbound_message
from mailkeep.mail.mailbox import maildir
from tests.support.client import Api

LETTER = b"From: Shop <%s>\r\nSubject: Offer\r\n\r\nBuy now.\r\n"


async def insert_junk(
    api: Api, mailbox_id: UUID, *, author: str = "shop@elsewhere.test", content: bytes | None = None, **columns: Any
) -> Message:
    """A message in Junk, with its copy unless `content` is empty; `spam_action` reject: a refused one."""
    api.clock.advance(seconds=1)  # IDs are in the order of the calls
    [row] = await api.sql(
        """
        SELECT m.domain_id, d.name, m.local_part FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE m.id = %(id)s
        """,
        id=mailbox_id,
    )
    is_refused = columns.get("spam_action") == "reject"
    address = f"{row['local_part']}@{row['name']}"
    reply = ServerReply(554, "5.7.1", "Refused as spam") if is_refused else ServerReply(250, "2.0.0", "Delivered")
    status = "rejected" if is_refused else "received"
    header = HeaderSummary("<1@elsewhere.test>", author, [address], [], "Offer", 50)
    domain = MessageDomain(row["domain_id"], row["name"])
    recipients = [Recipient(address, status, 1, reply)]
    message = inbound_message(api.clock(), "smtp", domain, header, "bounce@elsewhere.test", recipients)
    defaults: dict[str, Any] = {
        "queue_id": message.id.hex,
        "mailbox_id": mailbox_id,
        "spam_score": 7.5,
        "spam_action": "add header",
        "spam_decided_by": {"scope": "server", "rule": "junk_score", "entry_id": None},
    }
    message = replace(message, **defaults | columns)
    async with api.app.db.tx() as conn:
        await service.insert_messages(conn, [message])
    text = LETTER % author.encode() if content is None else content
    if text and not is_refused:
        folder = maildir_of(api.app.data_dir, mailbox_id) / maildir.JUNK_FOLDER
        maildir.deliver(folder, [text], delivery_id=message.queue_id or "", first_try=True)
    return message
