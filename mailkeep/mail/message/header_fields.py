"""Parses a message's header: limited in size, in linear time, without errors.

Values are unfolded and decoded (RFC 2047) for display and the history. They must not be used for decisions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mailkeep.mail.message.header_text import MAX_ADDRESSES, NamedAddress, decode_words, parse_addresses, printable

MAX_HEAD = 256 << 10
_MAX_FIELDS = 2000
_MAX_VALUE = 8 << 10
_MAX_ADDRESS_LIST = 64 << 10  # bytes of To or Cc, over all fields with the name
_MAX_SUBJECT = 2000
_MAX_MESSAGE_ID = 998
_FIELD_END = re.compile(rb"\r?\n(?![ \t])")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_FIELD = re.compile(rb"(?s)([!-9;-~]{1,200}+)[ \t]*+:(.*)")
_FOLD = re.compile(r"\r?\n(?=[ \t])")


@dataclass(frozen=True, slots=True)
class ParsedField:
    """A field of the header: its name as written, its value unfolded."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """The parsed header; a missing field is empty. `senders`: the addresses of From; `fields`: all fields, in order."""

    message_id: str
    subject: str
    senders: list[NamedAddress]
    to: list[NamedAddress]
    cc: list[NamedAddress]
    reply_to: list[NamedAddress]
    fields: list[ParsedField]

    @property
    def from_address(self) -> str:
        """The first address of From, or empty."""
        return self.senders[0].email if self.senders else ""

    @property
    def to_addresses(self) -> list[str]:
        """The addresses of To, without names."""
        return [each.email for each in self.to]

    @property
    def cc_addresses(self) -> list[str]:
        """The addresses of Cc, without names."""
        return [each.email for each in self.cc]

    @property
    def hops(self) -> int:
        """The number of Received fields: one for each server that the message has passed (RFC 5321 §6.3)."""
        return sum(1 for field in self.fields if field.name.lower() == "received")

    def headers(self) -> dict[str, str | list[str]]:
        """All fields by name (as first written): the decoded value, or a list of values if the name is repeated."""
        by_name: dict[str, tuple[str, list[str]]] = {}
        for field in self.fields:
            by_name.setdefault(field.name.lower(), (field.name, []))[1].append(decode_words(field.value))
        return {name: values[0] if len(values) == 1 else values for name, values in by_name.values()}


def parse_head(content: bytes) -> MessageHeader:
    """Parse the header from a message's first bytes: at most `MAX_HEAD` bytes and 2,000 fields of 8 KiB (To and Cc:
    64 KiB). The excess is ignored.
    """
    fields = _fields(content[:MAX_HEAD])
    by_name: dict[str, list[str]] = {}
    for field in fields:
        by_name.setdefault(field.name.lower(), []).append(field.value)
    return MessageHeader(
        message_id=printable(by_name.get("message-id", [""])[0])[:_MAX_MESSAGE_ID],
        subject=decode_words(by_name.get("subject", [""])[0])[:_MAX_SUBJECT],
        senders=_addresses(by_name.get("from", [])[:1]),
        to=_addresses(by_name.get("to", [])),
        cc=_addresses(by_name.get("cc", [])),
        reply_to=_addresses(by_name.get("reply-to", [])[:1]),
        fields=fields,
    )


def head_end(content: bytes) -> int | None:
    """Return the offset after the header and its empty line; None if that exceeds `MAX_HEAD`."""
    if content.startswith((b"\r\n", b"\n")):
        return content.index(b"\n") + 1
    if match := _HEAD_END.search(content, 0, MAX_HEAD):
        return match.end()
    return len(content) if len(content) <= MAX_HEAD else None


def _fields(content: bytes) -> list[ParsedField]:
    head = content[: head_end(content)]
    fields: list[ParsedField] = []
    for line in _FIELD_END.split(head, maxsplit=_MAX_FIELDS)[:_MAX_FIELDS]:
        if match := _FIELD.match(line):
            value = _FOLD.sub("", match[2][: _max_length(match[1])].decode("utf-8", "replace"))
            fields.append(ParsedField(match[1].decode("ascii"), value.strip()))
    return fields


def _max_length(name: bytes) -> int:
    return _MAX_ADDRESS_LIST if name.lower() in (b"to", b"cc") else _MAX_VALUE


def _addresses(values: list[str]) -> list[NamedAddress]:
    addresses: list[NamedAddress] = []
    remaining = _MAX_ADDRESS_LIST
    for value in values:
        addresses += parse_addresses(value[:remaining])
        remaining = max(0, remaining - len(value))
    return addresses[:MAX_ADDRESSES]
