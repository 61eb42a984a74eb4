"""JSON of the sandbox."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from mailkeep.core.clock import iso
from mailkeep.features.sandbox.model import Caught, Opened
from mailkeep.mail.header_text import decode_words
from mailkeep.mail.parse import Unparsable
from mailkeep.web.fields import Timestamp


class SandboxMessage(Struct, frozen=True):
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


class Attached(Struct, frozen=True):
    """A part that is no text of the message; `size` in bytes, decoded."""

    filename: str
    content_type: str
    size: int


class SandboxContent(Struct, frozen=True):
    """What a caught message says. `parse_error`: it could not be taken apart, and only its header is told;
    `truncated`: it says more than fits.
    """

    id: UUID
    subject: str
    header: list[HeaderField]
    body_text: str | None
    body_html: str | None
    attachments: list[Attached]
    truncated: bool
    parse_error: str | None


class Cleared(Struct, frozen=True):
    """How many messages were removed."""

    message: str
    removed: int


def caught(found: Caught, subject: str) -> SandboxMessage:
    """A caught message as it is answered."""
    return SandboxMessage(
        id=found.id,
        queue_id=found.queue_id,
        mail_from=found.mail_from,
        rcpt_to=found.rcpt_to,
        message_id=found.message_id,
        subject=subject,
        size=found.size,
        received_at=iso(found.received_at),
    )


def content(opened: Opened) -> SandboxContent:
    """A caught message, opened."""
    bodies: dict[str, Any] = {}
    if not isinstance(opened.apart, Unparsable):
        bodies = msgspec.json.decode(opened.apart.content)
    attachments = [] if isinstance(opened.apart, Unparsable) else opened.apart.attachments
    return SandboxContent(
        id=opened.id,
        subject=opened.head.subject,
        header=[HeaderField(field.name, decode_words(field.value)) for field in opened.head.fields],
        body_text=bodies.get("body_text"),
        body_html=bodies.get("body_html"),
        attachments=msgspec.convert(attachments, list[Attached]),
        truncated=not isinstance(opened.apart, Unparsable) and opened.apart.truncated,
        parse_error=str(opened.apart) if isinstance(opened.apart, Unparsable) else None,
    )
