"""A whole message, taken apart: text, HTML, attachments. Pure, but no promise about time: `parse_process` bounds it.

MIME as RFC 2045 to 2047 and 2231 have it, read leniently. A message of more than 1,000 parts, deeper than 20, or with
a header that does not end within `head.MAX_HEAD` is refused whole. The header itself is `mail.head`'s to read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import fast_mail_parser as mime

from mailkeep.mail.head import head_end
from mailkeep.mail.header_text import printable

MAX_PARTS = 1000
MAX_DEPTH = 20
MAX_PARAMETERS = 1000
_MAX_FILENAME = 255
_MAX_TYPE = 255
_MAX_CONTENT_ID = 255
# Of the message's own header only what says how the body is to be read.
_MIME_FIELD = re.compile(rb"(?i)(?:mime-version|content-[a-z-]{1,40})[ \t]*:")
_FIELD_END = re.compile(rb"\r?\n(?![ \t])")


class Unparsable(ValueError):
    """The message can't be taken apart; the text says why."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part that is no text of the message. `content` is None where its encoding is broken; `size` in bytes.

    `content_id` (without brackets, empty where there is none) is what the HTML names it by, as `cid:` (RFC 2392).
    """

    filename: str
    content_type: str
    size: int
    content: bytes | None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Text and HTML are None where there is no such part; several are joined by a line end."""

    text: str | None
    html: str | None
    attachments: list[Attachment]


def parse(content: bytes) -> Parsed:
    """Take a message apart. Raises Unparsable, nothing else but what memory and time bring about."""
    plain = _relevant(content)
    try:
        _check_structure(plain)
        mail = mime.parse_email(plain, mode="lazy")
        return Parsed(
            text="\n".join(mail.text_plain) if mail.text_plain else None,
            html="\n".join(mail.text_html) if mail.text_html else None,
            attachments=[_attachment(part) for part in mail.attachments],
        )
    except mime.ParseError as error:
        raise Unparsable(printable(str(error))[:200]) from None


def _relevant(content: bytes) -> bytes:
    """The message with those fields of its header that matter here."""
    end = head_end(content)
    if end is None:
        raise Unparsable("the header is too long")
    fields = [line for line in _FIELD_END.split(content[:end]) if _MIME_FIELD.match(line)]
    if any(line.count(b";") > MAX_PARAMETERS for line in fields):
        raise Unparsable(f"more than {MAX_PARAMETERS} parameters in a field")
    return b"".join(line + b"\r\n" for line in fields) + b"\r\n" + content[end:]


def _check_structure(content: bytes) -> None:
    waiting = [(mime.parse_email_tree(content, mode="metadata"), 1)]
    parts = 0
    while waiting:
        part, depth = waiting.pop()
        parts += 1
        if parts + len(waiting) > MAX_PARTS:
            raise Unparsable(f"more than {MAX_PARTS} parts")
        if depth > MAX_DEPTH:
            raise Unparsable(f"nested deeper than {MAX_DEPTH}")
        waiting += [(child, depth + 1) for child in part.children]


def _attachment(part: mime.PyLazyAttachment) -> Attachment:
    try:
        content = part.content
    except mime.ParseError:
        content = None
    size = part.encoded_size if content is None else len(content)
    content_id = printable(part.content_id or "")[:_MAX_CONTENT_ID]
    return Attachment(_filename(part.filename), part.mimetype[:_MAX_TYPE].lower(), size, content, content_id)


def _filename(text: str) -> str:
    """The last part of a path, as no one may write to another folder by it; empty where there is none."""
    return printable(re.split(r"[/\\]", text)[-1])[:_MAX_FILENAME]
