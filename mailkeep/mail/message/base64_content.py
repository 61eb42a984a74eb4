"""Base64 content (RFC 4648 §4): checked strictly, then re-wrapped to 76 columns in chunks.

The content is never decoded or copied as a whole. Line breaks (CR, LF) are ignored anywhere, as in RFC 2045 §6.8. Other
characters, missing or misplaced padding and non-zero trailing bits are rejected, so that, except for line breaks, the
same bytes have exactly one encoding.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Self

LINE = 76
_LINES = 400
_CUT_SIZE = LINE * _LINES
_PIECE = 9 * _CUT_SIZE
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LAST_QUANTUM = re.compile(
    rb"[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==",
)
# One C call cuts as many lines as fit into the processor's cache.
_CUT = Struct(f"{LINE}s" * _LINES)


class Base64Error(ValueError):
    """The content is not canonical base64. `reason` continues a sentence that starts with the field's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Base64:
    """Checked base64; `text` is the caller's own buffer (often a slice of the request body), not a copy."""

    text: bytes | memoryview
    length: int
    """Characters without line breaks."""
    decoded_size: int

    @classmethod
    def parse(cls, text: bytes | memoryview) -> Self:
        """Check base64 text. Raises Base64Error. The buffer must not change afterwards."""
        view = memoryview(text)
        length, pads, last = 0, 0, b""
        for at in range(0, len(view), _PIECE):
            piece = bytes(view[at : at + _PIECE])
            others = piece.translate(None, _ALPHABET)
            if others:
                if others.translate(None, b"=\r\n"):
                    raise Base64Error("has a character that is not base64")
                pads += others.count(b"=")
                piece = piece.translate(None, b"\r\n")
            length += len(piece)
            last = (last + piece[-4:])[-4:]
        if length % 4:
            raise Base64Error("has a length that is not a multiple of four (padding is required)")
        if pads != last.count(b"=") or (length and not _LAST_QUANTUM.fullmatch(last)):
            raise Base64Error("has misplaced padding or non-zero trailing bits")
        return cls(text, length, length // 4 * 3 - pads)

    @classmethod
    def encode(cls, data: bytes) -> Self:
        """Encode `data`."""
        text = binascii.b2a_base64(data, newline=False)
        return cls(text, len(text), len(data))

    @property
    def wire_size(self) -> int:
        """The number of bytes that `chunks` yields."""
        return self.length + 2 * -(-self.length // LINE)

    def chunks(self) -> Iterator[bytes]:
        """Yield lines of 76 characters, each ended by CRLF, in chunks of less than 300 kB."""
        view = memoryview(self.text)
        if len(view) != self.length:
            yield from self._rewrap(view)
            return
        whole = self.length - self.length % _PIECE
        for at in range(0, whole, _PIECE):
            yield _wrap_piece(view[at : at + _PIECE])
        if whole < self.length:
            yield _wrap_rest(bytes(view[whole:]))

    def _rewrap(self, view: memoryview) -> Iterator[bytes]:
        rest = b""
        for at in range(0, len(view), _PIECE):
            rest += bytes(view[at : at + _PIECE]).translate(None, b"\r\n")
            if len(rest) >= _PIECE:
                yield _wrap_piece(rest[:_PIECE])
                rest = rest[_PIECE:]
        if rest:
            yield _wrap_rest(rest)


def _wrap_piece(piece: bytes | memoryview) -> bytes:
    cuts = [b"\r\n".join((*cut, b"")) for cut in _CUT.iter_unpack(piece)]
    return b"".join(cuts)


def _wrap_rest(rest: bytes) -> bytes:
    lines = [rest[at : at + LINE] for at in range(0, len(rest), LINE)]
    return b"\r\n".join((*lines, b""))
