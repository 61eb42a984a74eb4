"""Parses a whole message: text, HTML, attachments. No I/O; `parse_process` limits its time and memory.

MIME (RFC 2045 to 2047, 2231), leniently. Text whose charset is missing, US-ASCII or unknown is read as UTF-8, or else
windows-1252; other charsets follow WHATWG's Encoding Standard. Invalid base64 is decoded as far as possible. Text with
a file name is an attachment if any other text precedes it; inside multipart/alternative, if text of the same type does.

A message with more than 1,000 parts, nested deeper than 20, or whose header exceeds `header_fields.MAX_HEAD` is
rejected. `header_fields` parses the header itself.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from string import ascii_letters, digits

import fast_mail_parser as mime

from mailkeep.mail.message.header_fields import MAX_HEAD, head_end
from mailkeep.mail.message.header_text import is_utf8, printable

MAX_PARTS = 1000
MAX_DEPTH = 20
MAX_PARAMETERS = 1000
_PLAIN, _HTML = "text/plain", "text/html"
_MAX_FILENAME = 255
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MAX_TYPE = 255
_MAX_CONTENT_ID = 255
# Fields of the message's header that describe the body.
_MIME_FIELD = re.compile(rb"(?i)(?:mime-version|content-[a-z-]{1,40})[ \t]*:")
_FIELD_END = re.compile(rb"\r?\n(?![ \t])")
_PARAMETER = re.compile(r""";\s*+([^\s=;"]++)\s*+=\s*+("(?:[^"\\]++|\\.)*+"?|[^\s;"]*+)""", re.DOTALL)
_LABEL = re.compile(r"[A-Za-z0-9_.:+-]{1,80}")
_ASCII = ("us-ascii", "ascii", "ansi_x3.4-1968")
_ENCODING_FIELD = re.compile(rb"(?im)^content(?=-transfer-encoding[ \t]*:)")
_NOT_BASE64 = bytes(set(range(256)) - set((ascii_letters + digits + "+/").encode()))


class UnparsableMessage(ValueError):
    """The message can't be parsed. The text is a sentence without its full stop: users see it as `parse_error`."""


@dataclass(frozen=True, slots=True)
class ParsedAttachment:
    """A part that is not body text. `content` is None if its encoding is invalid; `size` in bytes.

    The HTML refers to `content_id` (without brackets, or empty) with `cid:` (RFC 2392).
    """

    filename: str
    content_type: str
    size: int
    content: bytes | None
    content_id: str = ""


@dataclass(frozen=True, slots=True)
class MimeContent:
    """The bodies and attachments. `text` and `html` are None if no such part can be decoded; several parts of a type
    are joined with a line end.
    """

    text: str | None
    html: str | None
    attachments: list[ParsedAttachment]


def parse(content: bytes) -> MimeContent:
    """Parse a message. Raises only UnparsableMessage and MemoryError."""
    try:
        leaves = _Tree(_keep_mime_fields(content)).leaves()
    except mime.ParseError as error:
        raise UnparsableMessage(f"The MIME structure is invalid: {printable(str(error))[:200]}") from None
    bodies: dict[str, list[_Leaf]] = {_PLAIN: [], _HTML: []}
    attachments: list[_Leaf] = []
    for leaf in leaves:
        (bodies[leaf.part.content_type] if _is_body(leaf, bodies) else attachments).append(leaf)
    text, html = _join(bodies[_PLAIN]), _join(bodies[_HTML])
    if leaves and not attachments and text is None and html is None:
        raise UnparsableMessage("The base64 content of the message is invalid")
    return MimeContent(text, html, [_attachment(leaf) for leaf in attachments])


def _keep_mime_fields(content: bytes) -> bytes:
    """Return the message with only the MIME fields in its header."""
    end = head_end(content)
    if end is None:
        raise UnparsableMessage(f"The header is larger than {MAX_HEAD >> 10} KiB")
    fields = [line for line in _FIELD_END.split(content[:end]) if _MIME_FIELD.match(line)]
    if any(line.count(b";") > MAX_PARAMETERS for line in fields):
        raise UnparsableMessage(f"A header field has more than {MAX_PARAMETERS} parameters")
    return b"".join(line + b"\r\n" for line in fields) + b"\r\n" + content[end:]


class _Tree:
    """The MIME tree of a message."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def leaves(self) -> list[_Leaf]:
        """Return the parts without children, in order; an attached message is one part. Raises ParseError, and
        UnparsableMessage above a limit.
        """
        return list(self._leaves(self._content))

    @cached_property
    def raw_leaves(self) -> list[_Leaf]:
        """The same parts, not decoded from their transfer encoding; empty if they can't be read."""
        try:
            return list(self._leaves(_ENCODING_FIELD.sub(b"ignored", self._content)))
        except (mime.ParseError, UnparsableMessage):
            return []

    def _leaves(self, content: bytes) -> Iterator[_Leaf]:
        pending = [_Step(mime.parse_email_tree(content, mode="lazy"))]
        parts = leaves = 0
        while pending:
            step = pending.pop()
            part = step.part
            parts += 1
            if parts + len(pending) > MAX_PARTS:
                raise UnparsableMessage(f"The message has more than {MAX_PARTS} parts")
            if step.depth > MAX_DEPTH:
                raise UnparsableMessage(f"The message has parts nested deeper than {MAX_DEPTH} levels")
            if part.encoded_size is not None and not step.in_message:
                yield _Leaf(part, leaves, step.is_alternative, self)
                leaves += 1
            pending += [step.child(part) for part in reversed(part.children)]


@dataclass(frozen=True, slots=True)
class _Step:
    """A part during traversal. `in_message`: of an attached message; `is_alternative`: in a multipart/alternative."""

    part: mime.PyLazyMimePart
    depth: int = 1
    in_message: bool = False
    is_alternative: bool = False

    def child(self, part: mime.PyLazyMimePart) -> _Step:
        is_alternative = self.is_alternative or self.part.content_type == "multipart/alternative"
        return _Step(part, self.depth + 1, self.in_message or self.part.is_message, is_alternative)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part without children; `number` is its index among the leaves of `tree`."""

    part: mime.PyLazyMimePart
    number: int
    is_alternative: bool
    tree: _Tree

    def content(self) -> bytes | None:
        """Decode the content; None if its transfer encoding is invalid."""
        try:
            return self.part.content
        except mime.ParseError:
            is_base64 = self._field("content-transfer-encoding").lower() == "base64"
            return _decode_valid_base64(self._raw_content()) if is_base64 else None

    def text(self) -> str | None:
        """Decode the content as text; None if its transfer encoding is invalid."""
        content = self.content()
        if content is None:
            return None
        charset = self._charset()
        text = _decode(content, charset) if charset and charset.lower() not in _ASCII else None
        return _decode(content, "utf-8" if is_utf8(content) else "windows-1252") if text is None else text

    def _raw_content(self) -> bytes:
        raw_leaves = self.tree.raw_leaves
        encoded = raw_leaves[self.number].part.content if self.number < len(raw_leaves) else None
        # A different size means a different part.
        return encoded if encoded and len(encoded) == self.part.encoded_size else b""

    def _charset(self) -> str:
        for name, value in _PARAMETER.findall(self._field("content-type")):
            if name.lower() in ("charset", "charset*"):
                return value.strip('"').rpartition("'")[2].strip()
        return ""

    def _field(self, name: str) -> str:
        values = (values for key, values in self.part.headers.items() if key.lower() == name)
        return next(values, [""])[0].strip()


def _is_body(leaf: _Leaf, bodies: dict[str, list[_Leaf]]) -> bool:
    part = leaf.part
    if part.content_type not in bodies or part.disposition == "attachment":
        return False
    earlier_text = bodies[part.content_type] if leaf.is_alternative else bodies[_PLAIN] + bodies[_HTML]
    return not part.filename or not earlier_text


def _join(leaves: list[_Leaf]) -> str | None:
    texts = [text for leaf in leaves if (text := leaf.text()) is not None]
    return "\n".join(texts) if texts else None


def _decode(content: bytes, charset: str) -> str | None:
    """Decode text in the charset with this label; None if the library does not know the charset."""
    if not _LABEL.fullmatch(charset):
        return None
    mail = mime.parse_email(b'Content-Type: text/plain; charset="%s"\r\n\r\n%b' % (charset.encode(), content))
    return None if mail.warnings else mail.text_plain[0]


def _decode_valid_base64(encoded: bytes) -> bytes | None:
    """Decode the base64 characters before the first padding; None if there are none."""
    clean = encoded.partition(b"=")[0].translate(None, _NOT_BASE64)
    return binascii.a2b_base64(clean[: len(clean) - (len(clean) % 4 == 1)] + b"==") or None


def _attachment(leaf: _Leaf) -> ParsedAttachment:
    part, content = leaf.part, leaf.content()
    size = (part.encoded_size or 0) if content is None else len(content)
    content_id = printable(part.content_id or "")[:_MAX_CONTENT_ID]
    content_type = printable(part.content_type)[:_MAX_TYPE].lower()
    return ParsedAttachment(_filename(part.filename), content_type, size, content, content_id)


def _filename(text: str) -> str:
    """Return the last component of a path, so that it can't lead to another folder. It may be empty. Characters that
    change the direction of the text are removed: they show `fdp.exe` as `exe.pdf`.
    """
    return printable(_DIRECTION.sub("", re.split(r"[/\\]", text)[-1]))[:_MAX_FILENAME]
