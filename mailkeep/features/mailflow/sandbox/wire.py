"""JSON of the sandbox."""

from __future__ import annotations

from uuid import UUID

import msgspec
from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.mailflow.sandbox import rules
from mailkeep.features.mailflow.sandbox.model import SandboxContent, SandboxMessage
from mailkeep.mail.message.header_text import decode_words
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage
from mailkeep.web.fields import Timestamp


class SandboxMessageResponse(Struct, frozen=True):
    """A message in the sandbox: envelope, subject and size."""

    id: UUID
    queue_id: str
    mail_from: str
    rcpt_to: list[str]
    message_id: str
    subject: str
    size: int
    received_at: Timestamp


class HeaderField(Struct, frozen=True):
    """A field of the header, its value decoded."""

    name: str
    value: str


class SandboxAttachment(Struct, frozen=True):
    """An attachment; `size` in bytes, decoded.

    `number` is its position in the message, from 1; the HTML refers to images by `content_id`.
    """

    number: int
    filename: str
    content_type: str
    size: int
    content_id: str | None


class SandboxContentResponse(Struct, frozen=True):
    """The content of a message. `parse_error`: why it could not be parsed; then only the header is here. `truncated`:
    the content is too large, so the text may be cut and the HTML missing.
    """

    id: UUID
    subject: str
    header: list[HeaderField]
    body_text: str | None
    body_html: str | None
    attachments: list[SandboxAttachment]
    truncated: bool
    parse_error: str | None


class ClearResponse(Struct, frozen=True):
    """How many messages were removed."""

    message: str
    removed: int


def to_record(message: SandboxMessage, subject: str) -> SandboxMessageResponse:
    """The JSON of a message."""
    return SandboxMessageResponse(
        id=message.id,
        queue_id=message.queue_id,
        mail_from=message.mail_from,
        rcpt_to=message.rcpt_to,
        message_id=message.message_id,
        subject=subject,
        size=message.size,
        received_at=iso(message.received_at),
    )


def to_content(content: SandboxContent) -> SandboxContentResponse:
    """The JSON of the content of a message."""
    parsed = None if isinstance(content.parsed, UnparsableMessage) else content.parsed
    bodies = _decode_bodies(parsed)
    return SandboxContentResponse(
        id=content.id,
        subject=content.head.subject,
        header=[HeaderField(field.name, decode_words(field.value)) for field in content.head.fields],
        body_text=bodies.body_text,
        body_html=bodies.body_html,
        attachments=_attachments(parsed) if parsed else [],
        truncated=parsed is not None and parsed.truncated,
        parse_error=str(content.parsed) if isinstance(content.parsed, UnparsableMessage) else None,
    )


def to_html(content: SandboxContent) -> str | None:
    """The HTML of a message with its images inserted; None if it has no HTML."""
    parsed = None if isinstance(content.parsed, UnparsableMessage) else content.parsed
    bodies = _decode_bodies(parsed)
    if parsed is None or bodies.body_html is None:
        return None
    images = {
        content_id: rules.InlineImage(part.content_type, part.content_base64)
        for content_id, part in zip(parsed.content_ids, bodies.attachments, strict=True)
        if content_id and part.content_base64 is not None
    }
    return rules.embed_images(bodies.body_html, images)


class _Part(Struct):
    content_type: str
    content_base64: str | None


class _Bodies(Struct):
    body_text: str | None = None
    body_html: str | None = None
    attachments: list[_Part] = []


def _decode_bodies(parsed: ParsedMessage | None) -> _Bodies:
    return msgspec.json.decode(parsed.content, type=_Bodies) if parsed else _Bodies()


def _attachments(parsed: ParsedMessage) -> list[SandboxAttachment]:
    attachments = zip(parsed.attachments, parsed.content_ids, strict=True)
    return [
        msgspec.convert({**fields, "number": number, "content_id": content_id or None}, SandboxAttachment)
        for number, (fields, content_id) in enumerate(attachments, 1)
    ]
