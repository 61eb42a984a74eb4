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
    """A message that went nowhere, as it was submitted: envelope, subject and size."""

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
    """A part that is no text of the message; `size` in bytes, decoded.

    `number` (from 1) is its place in the message; by `content_id` the HTML shows it as an image.
    """

    number: int
    filename: str
    content_type: str
    size: int
    content_id: str | None


class SandboxContentResponse(Struct, frozen=True):
    """What a caught message says. `parse_error`: it could not be taken apart, and only its header is told;
    `truncated`: it says more than fits.
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


def message(found: SandboxMessage, subject: str) -> SandboxMessageResponse:
    """A caught message as it is answered."""
    return SandboxMessageResponse(
        id=found.id,
        queue_id=found.queue_id,
        mail_from=found.mail_from,
        rcpt_to=found.rcpt_to,
        message_id=found.message_id,
        subject=subject,
        size=found.size,
        received_at=iso(found.received_at),
    )


def content(opened: SandboxContent) -> SandboxContentResponse:
    """A caught message, opened."""
    apart = None if isinstance(opened.parsed, UnparsableMessage) else opened.parsed
    bodies = _bodies(apart)
    return SandboxContentResponse(
        id=opened.id,
        subject=opened.head.subject,
        header=[HeaderField(field.name, decode_words(field.value)) for field in opened.head.fields],
        body_text=bodies.body_text,
        body_html=bodies.body_html,
        attachments=_attachments(apart) if apart else [],
        truncated=apart is not None and apart.truncated,
        parse_error=str(opened.parsed) if isinstance(opened.parsed, UnparsableMessage) else None,
    )


def html(opened: SandboxContent) -> str | None:
    """The HTML of a caught message, with those images in it that the message itself brings along."""
    apart = None if isinstance(opened.parsed, UnparsableMessage) else opened.parsed
    bodies = _bodies(apart)
    if apart is None or bodies.body_html is None:
        return None
    images = {
        content_id: rules.InlineImage(part.content_type, part.content_base64)
        for content_id, part in zip(apart.content_ids, bodies.attachments, strict=True)
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


def _bodies(apart: ParsedMessage | None) -> _Bodies:
    return msgspec.json.decode(apart.content, type=_Bodies) if apart else _Bodies()


def _attachments(apart: ParsedMessage) -> list[SandboxAttachment]:
    told = zip(apart.attachments, apart.content_ids, strict=True)
    return [
        msgspec.convert({**each, "number": number, "content_id": content_id or None}, SandboxAttachment)
        for number, (each, content_id) in enumerate(told, 1)
    ]
