"""The data of `mail.spam` and `mail.received.full`.

The row of a `mail.received.full` has no content: the list of events shows it so. The content is stored once for each
message and is merged into the event when it is delivered to a webhook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mailkeep.features.mailflow.receiving.model import (
    EventAddress,
    EventAttachment,
    EventEnvelope,
    InboundMail,
    MailReceivedFull,
    MailSpam,
    SpamVerdict,
)
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.header_text import NamedAddress
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage

_MAX_ITEMS = 100  # of a list whose length the sender controls
_NO_CONTENT = b'{"body_text":null,"body_html":null,"attachments":[]}'


def mail_spam(message: Message, verdict: SpamVerdict) -> MailSpam:
    """The payload of mail.spam."""
    return MailSpam(
        message_id=message.message_id,
        from_=message.from_address,
        domain=message.domain_name,
        spam_score=verdict.score or 0.0,
        spam_action=verdict.action,
        decided_by=verdict.decided_by,
    )


def mail_received_full(
    mail: InboundMail,
    message: Message,
    rcpt_to: Sequence[str],
    verdict: SpamVerdict,
    result: ParsedMessage | UnparsableMessage,
) -> MailReceivedFull:
    """The payload of mail.received.full without its content; `result` is the parser's.

    If the message can't be parsed, it has the header and `parse_error`.
    """
    head = mail.head
    parsed = result if isinstance(result, ParsedMessage) else None
    attachments = parsed.attachments[:_MAX_ITEMS] if parsed else []
    return MailReceivedFull(
        message_id=message.message_id,
        from_=_address(head.senders[0]) if head.senders else EventAddress("", mail.mail_from),
        to=[_address(each) for each in head.to[:_MAX_ITEMS]],
        cc=[_address(each) for each in head.cc[:_MAX_ITEMS]],
        reply_to=_address(head.reply_to[0]) if head.reply_to else None,
        subject=message.subject,
        body_text=None,
        body_html=None,
        attachments=[msgspec.convert({**each, "content_base64": None}, EventAttachment) for each in attachments],
        headers=None,
        envelope=EventEnvelope(mail.mail_from, list(rcpt_to)),
        domain=message.domain_name,
        size=message.size,
        spam_score=verdict.score or 0.0,
        spam_action=verdict.action,
        queue_id=mail.queue_id,
        truncated=parsed.truncated if parsed else False,
        parse_error=None if parsed else str(result),
    )


def payload(mail: InboundMail, result: ParsedMessage | UnparsableMessage) -> bytes:
    """The stored content as a JSON object: to, cc, headers, bodies, attachments with their content."""
    header = {
        "to": [_address(each) for each in mail.head.to],
        "cc": [_address(each) for each in mail.head.cc],
        "headers": mail.head.headers(),
    }
    content = result.content if isinstance(result, ParsedMessage) else _NO_CONTENT
    return b"".join((memoryview(msgspec.json.encode(header))[:-1], b",", memoryview(content)[1:]))


def with_payload(data: dict[str, Any], content: bytes | None) -> dict[str, Any]:
    """The data of mail.received.full with its content; unchanged if the content is deleted."""
    return data if content is None else {**data, **msgspec.json.decode(content, type=dict[str, msgspec.Raw])}


def _address(address: NamedAddress) -> EventAddress:
    return EventAddress(address.name, address.email)
