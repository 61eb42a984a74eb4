"""Composes a message: from the fields of a request to the bytes that are sent.

RFC 5322 and 2045–2049, with 2047 and 2231 for non-ASCII text, and 6532 if an address has a UTF-8 local part. The body
is always 7 bit. Structure: text, HTML, or multipart/alternative of both; the HTML in a multipart/related with its
inline images; multipart/mixed with the attachments. Bcc recipients are in no field.

Attachments remain slices of the request body until `chunks` wraps them while sending.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mailkeep.mail.message.attachments import OutgoingAttachment, attachment_entity
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.headers import (
    MailboxAddress,
    address_field,
    check_field_size,
    check_header_name,
    check_header_value,
    check_message_id,
    check_text,
    date_text,
    fold,
    unstructured_field,
)
from mailkeep.mail.message.text_body import MimeEntity, text_entity
from mailkeep.mail.message.unsubscribe import Unsubscribe, unsubscribe_fields

_CHUNK = 1 << 18
_MAX_JOINED_BASE64 = 1 << 14


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to compose. `date` is aware; `message_id`, `in_reply_to` and `references` include their angle
    brackets; at least one of `text_body` and `html_body` is set. `auto_generated`: a program wrote it, so that no
    program replies (Auto-Submitted, RFC 3834 §5).
    """

    sender: MailboxAddress
    to: Sequence[MailboxAddress]
    subject: str
    message_id: str
    date: datetime
    text_body: str | None = None
    html_body: str | None = None
    cc: Sequence[MailboxAddress] = ()
    bcc: Sequence[MailboxAddress] = ()
    reply_to: MailboxAddress | None = None
    attachments: Sequence[OutgoingAttachment] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    in_reply_to: str = ""
    references: Sequence[str] = ()
    list_unsubscribe: Unsubscribe | None = None
    auto_generated: bool = False


@dataclass(frozen=True, slots=True)
class ComposedMessage:
    """A composed message. It can be read any number of times while the request body, which it refers to, exists."""

    segments: tuple[bytes | Base64, ...]
    """Each has whole lines: bytes, or base64 content that `chunks` wraps."""
    size: int
    """Octets of the message with all CRLF, without dot-stuffing, as in SIZE= (RFC 1870 §3)."""
    counted_size: int
    """Octets that the message size limit counts: `size` without the line breaks in base64 content."""
    needs_smtputf8: bool
    """An address (bcc included) has a UTF-8 local part (RFC 6531 §3.4)."""
    is_8bit: bool
    """The header has UTF-8. The body is always ASCII."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the message in chunks of less than 300 kB. It ends with CRLF."""
        return self._chunks(stuff_dots=False)

    def data_chunks(self) -> Iterator[bytes]:
        """Yield the message in chunks, dot-stuffed for SMTP DATA (RFC 5321 §4.5.2), without the final `.CRLF`."""
        return self._chunks(stuff_dots=True)

    def _chunks(self, *, stuff_dots: bool) -> Iterator[bytes]:
        for segment in self.segments:
            if isinstance(segment, Base64):
                yield from segment.chunks()
                continue
            # A segment starts with a header or a boundary, so a line that starts with a dot always follows a CRLF.
            lines = segment.replace(b"\r\n.", b"\r\n..") if stuff_dots else segment
            if len(lines) <= _CHUNK:
                yield lines
            else:
                yield from (lines[at : at + _CHUNK] for at in range(0, len(lines), _CHUNK))


def compose(mail: OutgoingMessage) -> ComposedMessage:
    """Compose a message.

    Raises InvalidField and InvalidHeader, with the API's field names (`attachments[0].filename`). All fields are
    checked here, even if the caller has checked them: no value may add a header field, a part or a recipient.
    """
    entity = _content(mail)
    header = _header(mail)
    segments = _join([f"{header}{entity.head}\r\n".encode(), *entity.body])
    size = counted_size = 0
    for segment in segments:
        if isinstance(segment, bytes):
            size += len(segment)
            counted_size += len(segment)
        else:
            size += segment.wire_size
            counted_size += segment.length
    # Everything except addresses is encoded: non-ASCII text can only be an address.
    is_8bit = not header.isascii()
    return ComposedMessage(
        segments,
        size=size,
        counted_size=counted_size,
        needs_smtputf8=is_8bit or any(mailbox.address.smtputf8 for mailbox in mail.bcc),
        is_8bit=is_8bit,
    )


def _header(mail: OutgoingMessage) -> str:
    check_message_id("message_id", mail.message_id)
    fields = [
        address_field("From", (mail.sender,)),
        address_field("To", mail.to),
        address_field("Cc", mail.cc) if mail.cc else "",
        address_field("Reply-To", (mail.reply_to,)) if mail.reply_to else "",
        _subject(mail.subject),
        f"Date: {date_text(mail.date)}\r\n",
        fold("Message-ID", (mail.message_id,)),
    ]
    if mail.in_reply_to:
        check_message_id("in_reply_to", mail.in_reply_to)
        fields.append(fold("In-Reply-To", (mail.in_reply_to,)))
    if mail.references:
        fields.append(_references(mail.references))
    if mail.list_unsubscribe:
        fields.append(unsubscribe_fields(mail.list_unsubscribe))
    for name, value in mail.headers.items():
        check_header_name(name)
        check_header_value(name, value)
        fields.append(unstructured_field(name, value))
    if mail.auto_generated:
        fields.append("Auto-Submitted: auto-generated\r\n")
    fields.append("MIME-Version: 1.0\r\n")
    return "".join(fields)


def _subject(text: str) -> str:
    check_text("subject", text)
    subject = unstructured_field("Subject", text)
    check_field_size("subject", subject)
    return subject


def _references(ids: Sequence[str]) -> str:
    for index, text in enumerate(ids):
        check_message_id(f"references[{index}]", text)
    references = fold("References", ids)
    check_field_size("references", references)
    return references


def _content(mail: OutgoingMessage) -> MimeEntity:
    if not mail.attachments and (mail.html_body is None or mail.text_body is None):
        return _single_text(mail, exact=False)
    # 128 random bits, so that no text contains the boundary. `=_` occurs in neither quoted-printable nor base64.
    token = f"=_{os.urandom(16).hex()}"
    images: list[MimeEntity] = []
    files: list[MimeEntity] = []
    for index, attachment in enumerate(mail.attachments):
        part = attachment_entity(f"attachments[{index}]", attachment)
        is_image = mail.html_body is not None and attachment.inline and attachment.content_id
        (images if is_image else files).append(part)
    body = _body(mail, token, images)
    return _multipart("mixed", f"{token}m", [body, *files]) if files else body


def _single_text(mail: OutgoingMessage, *, exact: bool) -> MimeEntity:
    if mail.html_body is not None:
        return text_entity("html_body", "html", mail.html_body, exact=exact)
    return text_entity("text_body", "plain", mail.text_body or "", exact=exact)


def _body(mail: OutgoingMessage, token: str, images: Sequence[MimeEntity]) -> MimeEntity:
    main = _single_text(mail, exact=True)
    if images:
        main = _multipart("related", f"{token}r", [main, *images], '; type="text/html"')
    if mail.html_body is None or mail.text_body is None:
        return main
    plain = text_entity("text_body", "plain", mail.text_body, exact=True)
    return _multipart("alternative", f"{token}a", [plain, main])


def _multipart(subtype: str, boundary: str, parts: Iterable[MimeEntity], parameters: str = "") -> MimeEntity:
    body: list[bytes | Base64] = []
    for part in parts:
        body.append(f"--{boundary}\r\n{part.head}\r\n".encode())
        body.extend(part.body)
    body.append(f"--{boundary}--\r\n".encode())
    return MimeEntity(f'Content-Type: multipart/{subtype}{parameters};\r\n boundary="{boundary}"\r\n', tuple(body))


def _join(segments: Iterable[bytes | Base64]) -> tuple[bytes | Base64, ...]:
    """Join adjacent segments of bytes. Small base64 content is wrapped now and joined with them."""
    joined: list[bytes | Base64] = []
    adjacent: list[bytes] = []
    for segment in segments:
        if isinstance(segment, bytes):
            adjacent.append(segment)
        elif segment.length <= _MAX_JOINED_BASE64:
            adjacent.extend(segment.chunks())
        else:
            joined += (b"".join(adjacent), segment)
            adjacent.clear()
    joined.append(b"".join(adjacent))
    return tuple(segment for segment in joined if segment)
