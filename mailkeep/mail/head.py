"""What a message's header says of itself, read so that no mail can hurt: bounded, never raising.

Values are decoded (RFC 2047) for people and for the history; nothing is decided by them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses

MAX_HEAD = 256 << 10
_MAX_FIELDS = 2000
_MAX_VALUE = 8 << 10
_MAX_ADDRESSES = 200
_FIELD_END = re.compile(rb"\r?\n(?![ \t])")
_FOLD = re.compile(r"\r?\n[ \t]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class Head:
    """The fields that the history keeps; empty where the message has none. Addresses without display names."""

    message_id: str
    from_address: str
    to_addresses: list[str]
    cc_addresses: list[str]
    subject: str


def parse_head(content: bytes) -> Head:
    """The head of a message from its first bytes (at most `MAX_HEAD` of them are read)."""
    fields = _fields(content[:MAX_HEAD])
    sender = _addresses(fields.get("from", [])[:1])
    return Head(
        message_id=_plain(fields.get("message-id", [""])[0])[:998],
        from_address=sender[0] if sender else "",
        to_addresses=_addresses(fields.get("to", [])),
        cc_addresses=_addresses(fields.get("cc", [])),
        subject=_decoded(fields.get("subject", [""])[0])[:2000],
    )


def _fields(content: bytes) -> dict[str, list[str]]:
    head = re.split(rb"\r?\n\r?\n", content, maxsplit=1)[0]
    found: dict[str, list[str]] = {}
    for line in _FIELD_END.split(head, maxsplit=_MAX_FIELDS)[:_MAX_FIELDS]:
        name, colon, value = line.partition(b":")
        if colon and name:
            text = value[:_MAX_VALUE].decode("utf-8", "replace")
            found.setdefault(name.strip().decode("ascii", "replace").lower(), []).append(_FOLD.sub(" ", text))
    return found


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


def _decoded(text: str) -> str:
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError):
        return _plain(text)
    words: list[str] = []
    for part, charset in parts:
        if isinstance(part, str):
            words.append(part)
            continue
        try:
            words.append(part.decode(charset or "utf-8", "replace"))
        except (LookupError, ValueError):
            words.append(part.decode("utf-8", "replace"))
    return _plain("".join(words))


def _addresses(values: list[str]) -> list[str]:
    joined = [_plain(value) for value in values]
    try:
        found = getaddresses(joined)
    except (ValueError, IndexError, RecursionError):
        return []
    return [address[:320] for _, address in found if address][:_MAX_ADDRESSES]
