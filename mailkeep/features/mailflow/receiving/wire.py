"""The data of `mail.spam` and `mail.received.full`.

What the feed shows of the latter is its row; the rest lies apart, once for each message, and comes in its place when
the event is delivered.
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

_SHOWN = 100  # of a list that a stranger makes as long as it likes
_NOTHING = b'{"body_text":null,"body_html":null,"attachments":[]}'


def mail_spam(message: Message, verdict: SpamVerdict) -> MailSpam:
    """The payload of mail.spam."""
    return MailSpam(
        message_id=message.message_id,
        from_=message.from_address,
        domain=message.domain_name,
        spam_score=verdict.score,
        spam_action=verdict.action,
    )


def mail_received_full(
    mail: InboundMail,
    message: Message,
    rcpt_to: Sequence[str],
    verdict: SpamVerdict,
    found: ParsedMessage | UnparsableMessage,
) -> MailReceivedFull:
    """The payload of mail.received.full without its content, as the feed shows it.

    Where the message could not be parsed, it has `parse_error` and the header only.
    """
    head = mail.head
    parsed = found if isinstance(found, ParsedMessage) else None
    attachments = parsed.attachments[:_SHOWN] if parsed else []
    return MailReceivedFull(
        message_id=message.message_id,
        from_=_address(head.senders[0]) if head.senders else EventAddress("", mail.mail_from),
        to=[_address(each) for each in head.to[:_SHOWN]],
        cc=[_address(each) for each in head.cc[:_SHOWN]],
        reply_to=_address(head.reply_to[0]) if head.reply_to else None,
        subject=message.subject,
        body_text=None,
        body_html=None,
        attachments=[msgspec.convert({**each, "content_base64": None}, EventAttachment) for each in attachments],
        headers=None,
        envelope=EventEnvelope(mail.mail_from, list(rcpt_to)),
        domain=message.domain_name,
        size=message.size,
        spam_score=verdict.score,
        spam_action=verdict.action,
        queue_id=mail.queue_id,
        truncated=parsed.truncated if parsed else False,
        parse_error=None if parsed else str(found),
    )


def payload(mail: InboundMail, found: ParsedMessage | UnparsableMessage) -> bytes:
    """What the feed does not show, as a JSON object: to, cc, headers, bodies, attachments with their content."""
    shown = {
        "to": [_address(each) for each in mail.head.to],
        "cc": [_address(each) for each in mail.head.cc],
        "headers": mail.head.headers(),
    }
    content = found.content if isinstance(found, ParsedMessage) else _NOTHING
    return b"".join((memoryview(msgspec.json.encode(shown))[:-1], b",", memoryview(content)[1:]))


def with_payload(data: dict[str, Any], content: bytes | None) -> dict[str, Any]:
    """The data of mail.received.full whole; as the feed shows it where its content is gone."""
    return data if content is None else {**data, **msgspec.json.decode(content, type=dict[str, msgspec.Raw])}


def _address(address: NamedAddress) -> EventAddress:
    return EventAddress(address.name, address.email)
