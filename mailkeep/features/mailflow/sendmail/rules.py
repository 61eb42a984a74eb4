"""The header and body of a message from a local program."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from mailkeep.core.address import Address, AddressError, normalize_domain, parse_address
from mailkeep.core.errors import Refusal
from mailkeep.features.mailflow.sendmail.model import (
    ExitCode,
    HeaderFields,
    SendmailBody,
    SendmailContent,
    SendmailError,
)
from mailkeep.mail.message.header_text import decode_words, parse_addresses
from mailkeep.mail.message.headers import (
    RESERVED_PREFIXES,
    MailboxAddress,
    address_field,
    check_message_id,
    date_text,
    unstructured_field,
)

MAX_HEAD = 256 << 10
MAX_FIELDS = 1000
MAX_RECIPIENTS = 1000
MAX_LINE = 998  # RFC 5322 §2.1.1
_FIELD = re.compile(rb"(?s)([!-9;-~]{1,200})[ \t]*:(.*)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FOLD = re.compile(r"\r\n[ \t]+|[\r\n]+")
_DROPPED = ("bcc", "resent-bcc", "return-path", "content-length", "sender", "from", "resent-from", "resent-sender")
_ADDRESSES = ("to", "cc", "reply-to", "resent-to", "resent-cc")


def read_fields(head: bytes) -> HeaderFields:
    """The header at the start of a message; one that does not begin with a field is all body.

    A first line `From …` (mbox format) is skipped.
    """
    fields: list[tuple[str, list[bytes]]] = []
    at = 0
    while at < len(head):
        end = head.find(b"\r\n", at)
        if end < 0:
            break
        line = head[at:end]
        if not line:
            return _join_lines(fields, end + 2)
        match = _FIELD.fullmatch(line)
        if line[:1] in b" \t" and fields:
            fields[-1][1].append(line)
        elif match:
            fields.append((match[1].decode("ascii"), [match[2].strip(b" \t")]))
        elif at == 0 and line.startswith((b"From ", b">From ")):
            pass
        else:
            return _join_lines(fields, at)
        at = end + 2
    if len(head) >= MAX_HEAD:
        raise SendmailError(ExitCode.DATAERR, f"the header is larger than {MAX_HEAD >> 10} KiB")
    return _join_lines(fields, at)


def _join_lines(fields: list[tuple[str, list[bytes]]], body_at: int) -> HeaderFields:
    if len(fields) > MAX_FIELDS:
        raise SendmailError(ExitCode.DATAERR, f"{len(fields)} header fields are too many; at most {MAX_FIELDS}")
    return HeaderFields([(name, b"\r\n".join(lines)) for name, lines in fields], body_at)


def text_of(value: bytes) -> str:
    """A field's value in one line, without control characters."""
    value = _CONTROL.sub(b"", value)
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return _FOLD.sub(" ", text).replace("\t", " ").strip()


def values(fields: HeaderFields, *names: str) -> list[str]:
    """The values of the fields with these names (lower case)."""
    return [text_of(value) for name, value in fields.fields if name.lower() in names]


def author(fields: HeaderFields) -> MailboxAddress | None:
    """The From field's mailbox, None without the field; it must be one address."""
    lines = values(fields, "from")
    if not lines:
        return None
    found = parse_addresses(lines[0])
    if len(lines) > 1 or len(found) != 1:
        raise SendmailError(ExitCode.DATAERR, "From must have exactly one address")
    return MailboxAddress(address(found[0].email, "From"), _printable(found[0].name))


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())


def plain_name(text: str) -> str:
    """A display name without control characters."""
    return _printable(text)[:200]


def addresses_in(text: str) -> list[str]:
    """The addresses of a field's value, for the history."""
    return [each.email for each in parse_addresses(text)]


def address(text: str, what: str) -> Address:
    """An address, or EX_DATAERR."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise SendmailError(ExitCode.DATAERR, f"{what} {text!r}: {error.reason}") from None


def qualify(text: str, host: str) -> str:
    """An address; a name without a domain gets the host name."""
    text = text.strip()
    text = text[1:-1].strip() if text.startswith("<") and text.endswith(">") else text
    return text if "@" in text else f"{text}@{host}"


def recipients(arguments: Sequence[str], fields: HeaderFields | None, host: str) -> list[Address]:
    """The recipients, each once: of the arguments (lists of addresses) and, with `fields`, of To, Cc and Bcc."""
    texts = [part for each in arguments for part in _split_addresses(each)]
    if fields:
        listed = values(fields, "to", "cc", "bcc") or values(fields, "resent-to", "resent-cc", "resent-bcc")
        texts += [part for each in listed for part in _split_addresses(each)]
    found: dict[str, Address] = {}
    for text in texts:
        each = address(qualify(text, host), "recipient")
        found[each.key] = each
        if len(found) > MAX_RECIPIENTS:
            raise SendmailError(ExitCode.DATAERR, f"too many recipients; at most {MAX_RECIPIENTS}")
    if not found:
        raise SendmailError(ExitCode.USAGE, "no recipient: name one, or use -t to read them from the header")
    return list(found.values())


def _split_addresses(text: str) -> list[str]:
    text = text_of(text.encode("utf-8", "surrogateescape"))
    if not re.search(r"[<(\":;]", text):
        return [part for part in text.split(",") if part.strip()]
    return [each.email for each in parse_addresses(text)]


def may_send(address: Address, own: Address, allowed: Sequence[str]) -> bool:
    """Whether an account may send as an address: its own, or one that its entry of `sendmail.allowed` names."""
    return address.key == own.key or any(_covers(entry, address) for entry in allowed)


def _covers(entry: str, address: Address) -> bool:
    try:
        return parse_address(entry).key == address.key if "@" in entry else normalize_domain(entry) == address.domain
    except AddressError:
        return False


def message_id(fields: HeaderFields) -> str | None:
    """The Message-ID, None for none and for one that is malformed."""
    for value in values(fields, "message-id")[:1]:
        try:
            check_message_id("message_id", value)
        except Refusal:
            return None
        return value
    return None


def header(fields: HeaderFields, sender: MailboxAddress, at: datetime, header_id: str, body: SendmailBody) -> bytes:
    """The header to send, in ASCII: the checked From, missing fields, and no fields that recipients must not see."""
    lines = [_field(name, value) for name, value in fields.fields if _is_kept(name.lower(), body)]
    names = {name.lower() for name, _ in fields.fields}
    lines.insert(0, address_field("From", [sender]))
    if "date" not in names:
        lines.append(f"Date: {date_text(at)}\r\n")
    lines.append(f"Message-ID: {header_id}\r\n")
    if not names & {"to", "cc"}:
        lines.append("To: undisclosed-recipients:;\r\n")
    if body.encode or (body.content.is_8bit and "content-type" not in names):
        lines += _mime(names, body)
    return "".join(lines).encode()


def _is_kept(name: str, body: SendmailBody) -> bool:
    if name in _DROPPED or name == "message-id" or name.startswith(RESERVED_PREFIXES):
        return False
    return not (body.encode and name == "content-transfer-encoding")


def _mime(names: set[str], body: SendmailBody) -> Iterator[str]:
    if "mime-version" not in names:
        yield "MIME-Version: 1.0\r\n"
    if "content-type" not in names:
        yield f"Content-Type: text/plain; charset={'utf-8' if body.content.is_utf8 else 'iso-8859-1'}\r\n"
    if body.encode or "content-transfer-encoding" not in names:
        yield f"Content-Transfer-Encoding: {'quoted-printable' if body.encode else '8bit'}\r\n"


def _field(name: str, value: bytes) -> str:
    value = _CONTROL.sub(b"", value)
    lines = value.split(b"\r\n")
    plain = value.isascii() and len(name) + 2 + len(lines[0]) <= MAX_LINE and max(map(len, lines)) <= MAX_LINE
    if plain and not any(line.strip() == b"" for line in lines[1:]):
        return f"{name}: {value.decode('ascii')}\r\n"
    text = text_of(value)
    if name.lower() not in _ADDRESSES:
        return unstructured_field(name, text)
    found = [MailboxAddress(address(each.email, name), _printable(each.name)) for each in parse_addresses(text)]
    return address_field(name, found) or f"{name}: undisclosed-recipients:;\r\n"


def body_of(fields: HeaderFields, content: SendmailContent) -> SendmailBody:
    """The body and how lines over 998 octets are changed: text becomes quoted-printable; in multipart bodies, whose
    parts have their own encoding, the lines are broken.
    """
    if content.longest <= MAX_LINE:
        return SendmailBody(content, fields.body_at, encode=False, wrap=False)
    kind = (values(fields, "content-type") or ["text/plain"])[0].lower()
    encoding = (values(fields, "content-transfer-encoding") or ["7bit"])[0].lower()
    text = encoding in ("7bit", "8bit") and not kind.startswith(("multipart/", "message/"))
    return SendmailBody(content, fields.body_at, encode=text, wrap=not text)


def body_chunks(body: SendmailBody) -> Iterator[bytes]:
    """The body as it is sent, in small pieces."""
    if body.encode:
        yield from map(_quote_printable, _pieces(body.chunks()))
    elif body.wrap:
        yield from _wrap_lines(_pieces(body.chunks()))
    else:
        yield from body.chunks()


def _pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Split content into pieces, never between CR and LF."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        end = rest.rfind(b"\r\n") + 2
        if end < 2:
            end = len(rest) - 1
        yield rest[:end]
        rest = rest[end:]
    yield rest


def _quote_printable(piece: bytes) -> bytes:
    """Encode as quoted-printable; a piece that ends within a line gets a soft line break."""
    if piece.endswith(b"\r\n") or not piece:
        return binascii.b2a_qp(piece, istext=True)
    return binascii.b2a_qp(piece, istext=True).replace(b"\n", b"\r\n") + b"=\r\n"


def _wrap_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Break lines over 998 octets."""
    column = 0
    for piece in pieces:
        parts: list[bytes] = []
        for number, line in enumerate(piece.split(b"\r\n")):
            if number:
                parts.append(b"\r\n")
                column = 0
            at = 0
            while at < len(line):
                if column == MAX_LINE:
                    parts.append(b"\r\n")
                    column = 0
                parts.append(line[at : at + MAX_LINE - column])
                at += len(parts[-1])
                column += len(parts[-1])
        yield b"".join(parts)


def subject(fields: HeaderFields) -> str:
    """The subject, for the history."""
    return decode_words((values(fields, "subject") or [""])[0])[:2000]
