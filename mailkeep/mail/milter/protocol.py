"""The packets of the milter protocol, version 6 (libmilter/mfdef.h, MILTER_README of Postfix).

A packet is its length (4 bytes, without themselves), a letter for the command, and its data; strings end with NUL. The
first exchange negotiates which events the mail server sends, which of them get a reply, and what may be changed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

VERSION = 6
MAX_PACKET = 1 << 20
"""Postfix sends at most `header_size_limit` (100 KiB) of a field, and the body in pieces of 64 KiB."""

# Commands of the mail server.
NEGOTIATE, MACROS, MAIL, RECIPIENT, HEADER = b"O", b"D", b"M", b"R", b"L"
END_OF_HEADER, BODY, END_OF_MESSAGE, ABORT, QUIT, QUIT_NEW = b"N", b"B", b"E", b"A", b"Q", b"K"

_ADD_HEADERS, _CHANGE_HEADERS, _DELETE_RECIPIENTS, _CHANGE_SENDER = 0x01, 0x10, 0x08, 0x40
_ACTIONS = _ADD_HEADERS | _CHANGE_HEADERS | _DELETE_RECIPIENTS | _CHANGE_SENDER
# Events that are not sent: connect, HELO, DATA, unknown commands.
_NOT_SENT = 0x01 | 0x02 | 0x100 | 0x200
# Events without a reply: header field, MAIL, RCPT, body. Only the ends of header and message cost a round trip.
_NO_REPLY = 0x80 | 0x4000 | 0x8000 | 0x80000
_KEEP_LEADING_SPACE = 0x100000  # values are sent and expected with the space after the colon
_STEPS = _NOT_SENT | _NO_REPLY | _KEEP_LEADING_SPACE

_NEGOTIATION = struct.Struct("!III")
_LENGTH = struct.Struct("!I")


class ProtocolError(ValueError):
    """The mail server sent something that is not a packet of the protocol, or lacks a needed feature."""


def packet(command: bytes, data: bytes = b"") -> bytes:
    """A packet with this command and data."""
    return _LENGTH.pack(len(data) + 1) + command + data


CONTINUE = packet(b"c")
ACCEPT = packet(b"a")
DISCARD = packet(b"d")
TEMPORARY_FAILURE = packet(b"t")


def negotiate(data: bytes) -> bytes:
    """The reply to the mail server's offer. Raises `ProtocolError` if it can't do what this filter needs."""
    if len(data) < _NEGOTIATION.size:
        raise ProtocolError("the negotiation is too short")
    version, actions, steps = _NEGOTIATION.unpack_from(data)
    if version < VERSION or actions & _ACTIONS != _ACTIONS or steps & _STEPS != _STEPS:
        raise ProtocolError(f"the mail server offers version {version}, actions {actions:#x}, steps {steps:#x}")
    return packet(NEGOTIATE, _NEGOTIATION.pack(VERSION, _ACTIONS, _STEPS))


def read_macros(data: bytes) -> dict[str, str]:
    """The macros before an event, by their names without braces."""
    parts = [each.decode("utf-8", "surrogateescape") for each in data[1:].split(b"\0")]
    return {name.strip("{}"): value for name, value in zip(parts[::2], parts[1::2], strict=False)}


def read_address(data: bytes) -> str:
    """The address of MAIL or RCPT, without angle brackets; the ESMTP parameters after it are not read."""
    address = data.partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return address[1:-1] if address.startswith("<") and address.endswith(">") else address


def read_header(data: bytes) -> tuple[str, bytes]:
    """The name of a header field, and its value with the space after the colon; folded lines end with LF."""
    name, separator, rest = data.partition(b"\0")
    if not separator or not name:
        raise ProtocolError("a header field has no value")
    return name.decode("utf-8", "surrogateescape"), rest.removesuffix(b"\0")


@dataclass(frozen=True, slots=True)
class Changes:
    """What the filter changes at the end of a message.

    `sender`: the new envelope sender (None: unchanged); `removed_recipients`: as RCPT named them. `removed_fields`: the
    name of a header field and its number among those with this name, from 1. `added_fields`: name and value, at the end
    of the header.
    """

    sender: str | None = None
    removed_recipients: Sequence[str] = ()
    removed_fields: Sequence[tuple[str, int]] = ()
    added_fields: Sequence[tuple[str, str]] = ()

    def packets(self) -> Iterator[bytes]:
        """The packets that make these changes. Without a reply after them nothing is changed."""
        # A removed field leaves a gap, so the numbers of the others stay the same only from the last to the first.
        for name, number in sorted(self.removed_fields, key=lambda each: -each[1]):
            yield packet(b"m", _LENGTH.pack(number) + _string(name) + b"\0")
        for name, value in self.added_fields:
            yield packet(b"h", _string(name) + _string(f" {value}"))
        for address in self.removed_recipients:
            yield packet(b"-", _string(f"<{address}>"))
        if self.sender is not None:
            yield packet(b"e", _string(f"<{self.sender}>"))


def reply(code: int, enhanced: str, text: str) -> bytes:
    """The reply to the client instead of an acceptance, in one line: `550 5.7.1 text`."""
    line = " ".join(text.encode("ascii", "replace").decode("ascii").split())
    return packet(b"y", _string(f"{code} {enhanced} {line[:400]}"))


def _string(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"?") + b"\0"
