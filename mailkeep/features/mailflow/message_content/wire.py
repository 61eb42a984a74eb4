"""HTTP responses with the content of a message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

import msgspec
from msgspec import Struct

from mailkeep.features.mailflow.message_content import rules
from mailkeep.features.mailflow.message_content.model import ReadableMessage
from mailkeep.mail.message.header_text import decode_words
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import AttachedFile, ParsedMessage
from mailkeep.web.endpoint import HttpResponse

_HTML_HEADERS = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
    ),
    "x-frame-options": "SAMEORIGIN",
    "x-dns-prefetch-control": "off",
}
"""For HTML of unknown senders: it runs no scripts, has no origin and loads nothing."""


class HeaderField(Struct, frozen=True):
    """A field of the header, its value decoded."""

    name: str
    value: str


class MessageAttachment(Struct, frozen=True):
    """An attachment; `size` in bytes, decoded.

    `number` is its position in the message, from 1; the HTML refers to images by `content_id`.
    """

    number: int
    filename: str
    content_type: str
    size: int
    content_id: str | None


class MessageContentResponse(Struct, frozen=True):
    """The content of a message. `parse_error`: why it could not be parsed; then only the header is here. `truncated`:
    the content is too large, so the text may be cut and the HTML missing.
    """

    id: UUID
    subject: str
    header: list[HeaderField]
    body_text: str | None
    body_html: str | None
    attachments: list[MessageAttachment]
    truncated: bool
    parse_error: str | None


def to_content(message: ReadableMessage) -> MessageContentResponse:
    """The JSON of the content of a message."""
    parsed = None if isinstance(message.parsed, UnparsableMessage) else message.parsed
    bodies = _decode_bodies(parsed)
    return MessageContentResponse(
        id=message.id,
        subject=message.head.subject,
        header=[HeaderField(field.name, decode_words(field.value)) for field in message.head.fields],
        body_text=bodies.body_text,
        body_html=bodies.body_html,
        attachments=_attachments(parsed) if parsed else [],
        truncated=parsed is not None and parsed.truncated,
        parse_error=str(message.parsed) if isinstance(message.parsed, UnparsableMessage) else None,
    )


def to_html(message: ReadableMessage) -> str | None:
    """The HTML of a message with its images inserted and without `<link>`; None if it has no HTML."""
    parsed = None if isinstance(message.parsed, UnparsableMessage) else message.parsed
    bodies = _decode_bodies(parsed)
    if parsed is None or bodies.body_html is None:
        return None
    images = {
        content_id: rules.InlineImage(part.content_type, part.content_base64)
        for content_id, part in zip(parsed.content_ids, bodies.attachments, strict=True)
        if content_id and part.content_base64 is not None
    }
    return rules.embed_images(rules.disarm_links(bodies.body_html), images)


def html_response(html: str) -> HttpResponse:
    """HTML of a message, under a policy that blocks scripts and all requests."""
    return HttpResponse(content=html.encode(), content_type="text/html; charset=utf-8", headers=_HTML_HEADERS)


def attachment_response(attached_file: AttachedFile, chunks: AsyncIterator[bytes]) -> HttpResponse:
    """An attachment as a download."""
    headers = {
        "content-disposition": rules.content_disposition(attached_file.filename),
        "content-length": str(attached_file.size),
    }
    # Not the type that the sender claims: browsers must save the file, and never show it as a page of this server.
    return HttpResponse(content=chunks, content_type="application/octet-stream", headers=headers)


class _Part(Struct):
    content_type: str
    content_base64: str | None


class _Bodies(Struct):
    body_text: str | None = None
    body_html: str | None = None
    attachments: list[_Part] = []


def _decode_bodies(parsed: ParsedMessage | None) -> _Bodies:
    return msgspec.json.decode(parsed.content, type=_Bodies) if parsed else _Bodies()


def _attachments(parsed: ParsedMessage) -> list[MessageAttachment]:
    attachments = zip(parsed.attachments, parsed.content_ids, strict=True)
    return [
        msgspec.convert({**fields, "number": number, "content_id": content_id or None}, MessageAttachment)
        for number, (fields, content_id) in enumerate(attachments, 1)
    ]
