"""Composes header fields (RFC 5322 §2.2, §3.6) in any script (RFC 2047), folded at 76 columns.

A value can't add fields: control characters are rejected, and text other than plain ASCII is written as encoded-words.
Addresses are written as parsed (raw UTF-8 under RFC 6532 if a local part needs it). A field ends with CRLF; a line
never exceeds 998 octets.
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
_LONGEST_WORD = 900
_WORD_OCTETS = 45
_PHRASE_OCTETS = 36

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HEADER_NAME = re.compile(r"[Xx]-[!-9;-~]{1,73}")
RESERVED_PREFIXES = ("x-svc-", "x-mailkeep-", "x-rspamd-", "x-spam")
"""Prefixes of the names of fields that callers may not set; in lower case."""
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
    if not text.isprintable() and _CONTROL.search(text):
        raise invalid_field(field, "has a control character")


def check_header_name(name: str) -> None:
    """Check the name of a custom header: `X-[!-9;-~]{1,73}`, and not one of ours. Raises InvalidHeader."""
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidHeader(
            "A header name must be X- and 1 to 73 visible ASCII characters without a colon.",
            header=name[:100],
        )
    if name.lower().startswith(RESERVED_PREFIXES):
        raise InvalidHeader(
            "Headers X-Svc-*, X-Mailkeep-*, X-Rspamd-* and X-Spam* are reserved; use another name.", header=name
        )


def check_header_value(name: str, value: str) -> None:
    """Reject control characters and too long values of a custom header. Raises InvalidHeader."""
    if not value.isprintable() and _CONTROL.search(value):
        raise InvalidHeader("A header value must not have control characters.", header=name)
    if len(value) > MAX_FIELD_OCTETS // 2 and len(unstructured_field(name, value)) > MAX_FIELD_OCTETS:
        raise InvalidHeader(f"A header must not exceed {MAX_FIELD_OCTETS} octets.", header=name)


def check_message_id(field: str, text: str) -> None:
    """Check a Message-ID: `<`visible ASCII`>`, wider than RFC 5322 §3.6.4, so that any mail can be replied to."""
    if not _MESSAGE_ID.fullmatch(text):
        raise invalid_field(field, "is not a Message-ID such as <id@example.com>")


def fold(name: str, tokens: Sequence[str]) -> str:
    """Return the field `name` with `tokens` separated by spaces, folded before a token that exceeds the line.

    The first token is always on the first line: folding there would put a space before the value.
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
    """Encode text as RFC 2047 words in B encoding, of `first`, then `following` octets of UTF-8 (45 fill 72 columns).

    A character is never split over two words (RFC 2047 §5 (3)).
    """
    data = text.encode()
    words: list[str] = []
    start, room = 0, first
    while start < len(data):
        end = start + room
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        word = binascii.b2a_base64(data[start:end], newline=False).decode("ascii")
        words.append(f"=?utf-8?b?{word}?=")
        start, room = end, following
    return words


def unstructured_field(name: str, text: str) -> str:
    """Return a field of free text (Subject, X-*); `text` must be checked before.

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
    room = (LINE - len(name) - 2 - 12) // 4 * 3
    return fold(name, encode_words(text, max(room, 12)))


def address_field(name: str, mailboxes: Iterable[MailboxAddress]) -> str:
    """Return a field of addresses (From, To, Cc, Reply-To), or an empty string without mailboxes.

    Raises INVALID_FIELD (with the field's name in lower case) for a display name with control characters, and for a
    field of more than 100,000 octets.
    """
    key = name.lower().replace("-", "_")
    too_large = invalid_field(key, f"makes a header of more than {MAX_FIELD_OCTETS} octets")
    tokens: list[str] = []
    length = 0
    for mailbox in mailboxes:
        if tokens:
            tokens[-1] += ","
        more = _mailbox_tokens(key, mailbox)
        length += sum(map(len, more))
        if length > MAX_FIELD_OCTETS:
            raise too_large
        tokens += more
    if not tokens:
        return ""
    field = fold(name, tokens)
    if len(field) > MAX_FIELD_OCTETS // 4 and len(field.encode()) > MAX_FIELD_OCTETS:
        raise too_large
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
