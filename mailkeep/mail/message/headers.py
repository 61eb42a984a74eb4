"""Composes header fields (RFC 5322 §2.2, §3.6) in any script (RFC 2047), folded at 76 columns.

A value can't add fields: control characters are rejected, and non-ASCII text is written as encoded-words. Addresses are
written as `parse_address` returns them: with a UTF-8 local part they are raw UTF-8 (RFC 6532). A field ends with CRLF;
a line never exceeds 998 octets.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mailkeep.core.address import Address
from mailkeep.core.errors import InvalidHeader, invalid_field

LINE = 76
"""RFC 2047 §2 limits a line with encoded-words to 76; RFC 5322 §2.1.1 recommends 78 for others."""
MAX_FIELD_OCTETS = 100_000
"""Postfix silently truncates a field at header_size_limit (102,400)."""
_TOO_LARGE = f"is longer than {MAX_FIELD_OCTETS} bytes as a header field"
_LONGEST_WORD = 900
_WORD_OCTETS = 45
_PHRASE_OCTETS = 36

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HEADER_NAME = re.compile(r"[Xx]-[!-9;-~]{1,73}")
RESERVED_PREFIXES = ("x-svc-", "x-mailkeep-", "x-rspamd-", "x-spam")
"""Prefixes, in lower case, of the names of header fields that callers may not set."""
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,900}>")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class MailboxAddress:
    """An address with its display name (or empty)."""

    address: Address
    name: str = ""


def check_text(field: str, text: str) -> None:
    """Reject control characters and lone surrogates in one-line text: INVALID_FIELD for `field`."""
    if fault := _control_fault(text):
        raise invalid_field(field, fault)


def _control_fault(text: str) -> str | None:
    match = None if text.isprintable() else _CONTROL.search(text)
    return f"must not contain control characters (got U+{ord(match[0]):04X})" if match else None


def check_header_name(name: str) -> None:
    """Check the name of a custom header: `X-[!-9;-~]{1,73}`, and not reserved. Raises InvalidHeader."""
    quoted = repr(name[:100])
    if not _HEADER_NAME.fullmatch(name):
        text = f"The header name {quoted} must be X- followed by 1 to 73 visible ASCII characters without a colon."
        raise InvalidHeader(text, header=name[:100])
    if name.lower().startswith(RESERVED_PREFIXES):
        reserved = "X-Svc-*, X-Mailkeep-*, X-Rspamd-* and X-Spam*"
        raise InvalidHeader(f"The header {quoted} is reserved ({reserved} are): use another name.", header=name)


def check_header_value(name: str, value: str) -> None:
    """Reject control characters and too long values of a custom header. Raises InvalidHeader."""
    if fault := _control_fault(value):
        raise InvalidHeader(f"The value of the header {name} {fault}.", header=name)
    if len(value) > MAX_FIELD_OCTETS // 2 and len(unstructured_field(name, value)) > MAX_FIELD_OCTETS:
        raise InvalidHeader(f"The header {name} is longer than {MAX_FIELD_OCTETS} bytes when encoded.", header=name)


def check_message_id(field: str, text: str) -> None:
    """Check a Message-ID. Raises INVALID_FIELD for `field`.

    Any visible ASCII in angle brackets is accepted, more than RFC 5322 §3.6.4 allows: callers reply to such mail too.
    """
    if not _MESSAGE_ID.fullmatch(text):
        raise invalid_field(field, "must be a Message-ID with its angle brackets, such as <id@example.com>")


def check_field_size(field: str, text: str) -> None:
    """Check the size of a composed header field. Raises INVALID_FIELD for `field`, the name in the API."""
    if len(text) > MAX_FIELD_OCTETS // 4 and len(text.encode()) > MAX_FIELD_OCTETS:
        raise invalid_field(field, _TOO_LARGE)


def fold(name: str, tokens: Sequence[str]) -> str:
    """Return the field `name` with `tokens` separated by spaces, folded before each token that does not fit the line.

    The first token is always on the first line: folding before it would leave an empty first line.
    """
    line = f"{name}: {' '.join(tokens)}\r\n"
    if len(line) <= LINE + 2:
        return line
    out, width = [f"{name}: {tokens[0]}"], len(name) + 2 + len(tokens[0])
    for token in tokens[1:]:
        if width + 1 + len(token) <= LINE:
            out.append(f" {token}")
            width += 1 + len(token)
        else:
            out.append(f"\r\n {token}")
            width = 1 + len(token)
    out.append("\r\n")
    return "".join(out)


def encode_words(text: str, first: int, following: int = _WORD_OCTETS) -> list[str]:
    """Encode text as RFC 2047 encoded-words in B encoding: the first word of at most `first` octets of UTF-8, the next
    ones of `following` (45 octets take 72 columns). No character is split over two words (RFC 2047 §5 (3)).
    """
    data = text.encode()
    words: list[str] = []
    start, limit = 0, first
    while start < len(data):
        end = start + limit
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        word = binascii.b2a_base64(data[start:end], newline=False).decode("ascii")
        words.append(f"=?utf-8?b?{word}?=")
        start, limit = end, following
    return words


def unstructured_field(name: str, text: str) -> str:
    """Return a field of free text (Subject, X-*). The caller has checked `text` for control characters.

    ASCII is written as it is unless folding or decoding would change it; other text becomes encoded-words.
    """
    if not text:
        return f"{name}:\r\n"
    if text.isascii() and "=?" not in text and text[0] != " " and text[-1] != " ":
        if len(name) + 2 + len(text) <= LINE:
            return f"{name}: {text}\r\n"
        words = text.split(" ")
        if "" not in words and len(max(words, key=len)) <= _LONGEST_WORD:
            return fold(name, words)
    first = (LINE - len(name) - len(": ") - len("=?utf-8?b??=")) // 4 * 3
    return fold(name, encode_words(text, max(first, 12)))


def address_field(name: str, mailboxes: Iterable[MailboxAddress]) -> str:
    """Return a field of addresses (From, To, Cc, Reply-To), or an empty string without mailboxes.

    Raises INVALID_FIELD, with the field's name in the API (`reply_to`), for a display name with control characters and
    for a field of more than 100,000 octets.
    """
    api_name = name.lower().replace("-", "_")
    tokens: list[str] = []
    length = 0
    for mailbox in mailboxes:
        if tokens:
            tokens[-1] += ","
        mailbox_tokens = _mailbox_tokens(api_name, mailbox)
        length += sum(map(len, mailbox_tokens))
        if length > MAX_FIELD_OCTETS:
            raise invalid_field(api_name, _TOO_LARGE)
        tokens += mailbox_tokens
    if not tokens:
        return ""
    field = fold(name, tokens)
    check_field_size(api_name, field)
    return field


def _mailbox_tokens(field: str, mailbox: MailboxAddress) -> list[str]:
    address, name = mailbox.address.text, mailbox.name
    if not address.isprintable() or " " in address:
        raise ValueError("the address was not returned by parse_address")
    if not name:
        return [address]
    check_text(field, name)
    return [*_phrase(name), f"<{address}>"]


def _phrase(name: str) -> list[str]:
    """Encode a display name as atoms, a quoted-string or encoded-words (RFC 5322 §3.2.5, RFC 2047 §5 (3))."""
    plain = name.isascii() and len(name) <= LINE - 16 and "=?" not in name and "  " not in name
    if not plain or name[0] == " " or name[-1] == " ":
        return encode_words(name, _PHRASE_OCTETS, _PHRASE_OCTETS)
    if _ATOMS.fullmatch(name):
        return [name]
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return [f'"{escaped}"']


def date_text(at: datetime) -> str:
    """Format an aware datetime as RFC 5322 §3.3 date-time, in UTC."""
    at = at.astimezone(UTC)
    day, month = _DAYS[at.weekday()], _MONTHS[at.month - 1]
    return f"{day}, {at.day:02} {month} {at.year:04} {at.hour:02}:{at.minute:02}:{at.second:02} +0000"
