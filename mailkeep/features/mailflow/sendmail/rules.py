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
_REMOVED_FIELDS = (
    "bcc",
    "resent-bcc",
    "return-path",
    "content-length",
    "sender",
    "from",
    "resent-from",
    "resent-sender",
)
_ADDRESS_FIELDS = ("to", "cc", "reply-to", "resent-to", "resent-cc")


def read_fields(head: bytes) -> HeaderFields:
    """The header fields at the start of a message. A message that does not begin with a field has only a body.

    A first line `From …` (mbox format) is skipped.
    """
    fields: list[tuple[str, list[bytes]]] = []
    start = 0
    while start < len(head):
        end = head.find(b"\r\n", start)
        if end < 0:
            break
        line = head[start:end]
        if not line:
            return _join_lines(fields, end + 2)
        match = _FIELD.fullmatch(line)
        if line[:1] in b" \t" and fields:
            fields[-1][1].append(line)
        elif match:
            fields.append((match[1].decode("ascii"), [match[2].strip(b" \t")]))
        elif start == 0 and line.startswith((b"From ", b">From ")):
            pass
        else:
            return _join_lines(fields, start)
        start = end + 2
    if len(head) >= MAX_HEAD:
        raise SendmailError(ExitCode.DATAERR, f"the header is larger than {MAX_HEAD >> 10} KiB")
    return _join_lines(fields, start)


def _join_lines(fields: list[tuple[str, list[bytes]]], body_offset: int) -> HeaderFields:
    if len(fields) > MAX_FIELDS:
        raise SendmailError(ExitCode.DATAERR, f"the message has {len(fields)} header fields; at most {MAX_FIELDS}")
    return HeaderFields([(name, b"\r\n".join(lines)) for name, lines in fields], body_offset)


def decode_value(value: bytes) -> str:
    """A field's value in one line, without control characters."""
    value = _CONTROL.sub(b"", value)
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return _FOLD.sub(" ", text).replace("\t", " ").strip()


def list_values(fields: HeaderFields, *names: str) -> list[str]:
    """The values of the fields with these names (lower case)."""
    return [decode_value(value) for name, value in fields.fields if name.lower() in names]


def read_author(fields: HeaderFields) -> MailboxAddress | None:
    """The address in From; None without the field. EX_DATAERR unless there is exactly one."""
    values = list_values(fields, "from")
    if not values:
        return None
    if len(values) > 1:
        raise SendmailError(ExitCode.DATAERR, f"the message has {len(values)} From fields; only one is allowed")
    addresses = parse_addresses(values[0])
    if len(addresses) != 1:
        raise SendmailError(ExitCode.DATAERR, f"From must have exactly one address (got {values[0][:200]!r})")
    return MailboxAddress(check_address(addresses[0].email, "From"), _remove_unprintable(addresses[0].name))


def _remove_unprintable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())


def clean_name(text: str) -> str:
    """A display name without control characters, at most 200 characters long."""
    return _remove_unprintable(text)[:200]


def list_addresses(fields: HeaderFields, name: str) -> list[str]:
    """The addresses in the fields with this name (lower case), for the history."""
    return [each.email for value in list_values(fields, name) for each in parse_addresses(value)]


def check_address(text: str, label: str) -> Address:
    """Parse an address. EX_DATAERR if it is malformed; `label` says in the error where it comes from."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise SendmailError(ExitCode.DATAERR, f"{label} {text!r}: {error.reason}") from None


def qualify(text: str, host: str) -> str:
    """An address without angle brackets; a name without a domain gets the host name as its domain."""
    text = text.strip()
    text = text[1:-1].strip() if text.startswith("<") and text.endswith(">") else text
    return text if "@" in text else f"{text}@{host}"


def list_recipients(arguments: Sequence[str], fields: HeaderFields | None, host: str) -> list[Address]:
    """The recipients, each once: of the arguments (lists of addresses) and, with `fields`, of To, Cc and Bcc."""
    lists = list(arguments)
    if fields:
        lists += list_values(fields, "to", "cc", "bcc") or list_values(fields, "resent-to", "resent-cc", "resent-bcc")
    recipients: dict[str, Address] = {}
    for text in (text for addresses in lists for text in _split_addresses(addresses)):
        address = check_address(qualify(text, host), "recipient")
        recipients[address.key] = address
        if len(recipients) > MAX_RECIPIENTS:
            raise SendmailError(ExitCode.DATAERR, f"the message has more than {MAX_RECIPIENTS} recipients")
    if not recipients:
        advice = "To, Cc and Bcc have none" if fields else "name one, or use -t to read them from the header"
        raise SendmailError(ExitCode.USAGE, f"no recipient: {advice}")
    return list(recipients.values())


def _split_addresses(text: str) -> list[str]:
    text = decode_value(text.encode("utf-8", "surrogateescape"))
    if not re.search(r"[<(\":;]", text):
        return [part for part in text.split(",") if part.strip()]
    return [each.email for each in parse_addresses(text)]


def may_send(address: Address, own: Address, allowed: Sequence[str]) -> bool:
    """Whether an account may send as an address: as `own`, and as the addresses and domains in `allowed`, its entry in
    the setting `sendmail.allowed`.
    """
    return address.key == own.key or any(_allows(entry, address) for entry in allowed)


def _allows(entry: str, address: Address) -> bool:
    try:
        return parse_address(entry).key == address.key if "@" in entry else normalize_domain(entry) == address.domain
    except AddressError:
        return False


def read_message_id(fields: HeaderFields) -> str | None:
    """The Message-ID; None if it is missing or malformed."""
    for value in list_values(fields, "message-id")[:1]:
        try:
            check_message_id("message_id", value)
        except Refusal:
            return None
        return value
    return None


def compose_header(
    fields: HeaderFields, author: MailboxAddress, at: datetime, header_id: str, body: SendmailBody
) -> bytes:
    """The header to send, in ASCII unless an address needs UTF-8.

    From is the checked author, and the Message-ID is `header_id`. Missing fields are added, and fields that recipients
    must not see, or that only this server sets, are removed.
    """
    lines = [_compose_field(name, value) for name, value in fields.fields if _is_sent(name.lower(), body)]
    names = {name.lower() for name, _ in fields.fields}
    lines.insert(0, address_field("From", [author]))
    if "date" not in names:
        lines.append(f"Date: {date_text(at)}\r\n")
    lines.append(f"Message-ID: {header_id}\r\n")
    if not names & {"to", "cc"}:
        lines.append("To: undisclosed-recipients:;\r\n")
    if body.encode or (body.content.is_8bit and "content-type" not in names):
        lines += _mime_fields(names, body)
    return "".join(lines).encode()


def _is_sent(name: str, body: SendmailBody) -> bool:
    if name in _REMOVED_FIELDS or name == "message-id" or name.startswith(RESERVED_PREFIXES):
        return False
    return not (body.encode and name == "content-transfer-encoding")


def _mime_fields(names: set[str], body: SendmailBody) -> Iterator[str]:
    if "mime-version" not in names:
        yield "MIME-Version: 1.0\r\n"
    if "content-type" not in names:
        yield f"Content-Type: text/plain; charset={'utf-8' if body.content.is_utf8 else 'iso-8859-1'}\r\n"
    if body.encode or "content-transfer-encoding" not in names:
        yield f"Content-Transfer-Encoding: {'quoted-printable' if body.encode else '8bit'}\r\n"


def _compose_field(name: str, value: bytes) -> str:
    """A field as the program wrote it if it is valid ASCII, else encoded."""
    value = _CONTROL.sub(b"", value)
    lines = value.split(b"\r\n")
    plain = value.isascii() and len(name) + 2 + len(lines[0]) <= MAX_LINE and max(map(len, lines)) <= MAX_LINE
    if plain and not any(line.strip() == b"" for line in lines[1:]):
        return f"{name}: {value.decode('ascii')}\r\n"
    text = decode_value(value)
    if name.lower() not in _ADDRESS_FIELDS:
        return unstructured_field(name, text)
    mailboxes = [
        MailboxAddress(check_address(each.email, name), _remove_unprintable(each.name))
        for each in parse_addresses(text)
    ]
    return address_field(name, mailboxes) or f"{name}: undisclosed-recipients:;\r\n"


def find_body(fields: HeaderFields, content: SendmailContent) -> SendmailBody:
    """The body, and how its lines over 998 octets are changed: text becomes quoted-printable; in multipart bodies,
    whose parts have their own encoding, the lines are broken.
    """
    if content.longest_line <= MAX_LINE:
        return SendmailBody(content, fields.body_offset, encode=False, wrap=False)
    content_type = (list_values(fields, "content-type") or ["text/plain"])[0].lower()
    encoding = (list_values(fields, "content-transfer-encoding") or ["7bit"])[0].lower()
    is_text = encoding in ("7bit", "8bit") and not content_type.startswith(("multipart/", "message/"))
    return SendmailBody(content, fields.body_offset, encode=is_text, wrap=not is_text)


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
    pending = b""
    for chunk in chunks:
        pending += chunk
        end = pending.rfind(b"\r\n") + 2
        if end < 2:
            end = len(pending) - 1
        yield pending[:end]
        pending = pending[end:]
    yield pending


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
            position = 0
            while position < len(line):
                if column == MAX_LINE:
                    parts.append(b"\r\n")
                    column = 0
                parts.append(line[position : position + MAX_LINE - column])
                position += len(parts[-1])
                column += len(parts[-1])
        yield b"".join(parts)


def read_subject(fields: HeaderFields) -> str:
    """The subject, for the history: at most 2,000 characters."""
    return decode_words((list_values(fields, "subject") or [""])[0])[:2000]
