"""Base64 content (RFC 4648 §4): checked strictly, then re-wrapped to 76 columns in chunks.

The content is never decoded or copied as a whole. Line breaks (CR, LF) are ignored anywhere, as in RFC 2045 §6.8. Any
other character outside the alphabet, missing or misplaced padding, and unused bits that are not zero are rejected:
apart from line breaks, the same bytes have exactly one accepted encoding.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Self

LINE = 76
_BLOCK_LINES = 400
_PIECE = 9 * LINE * _BLOCK_LINES
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LAST_QUANTUM = re.compile(
    rb"[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==",
)
# One C call splits as many lines as fit into the processor's cache.
_BLOCK = Struct(f"{LINE}s" * _BLOCK_LINES)


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
    """The number of characters without line breaks."""
    decoded_size: int

    @classmethod
    def parse(cls, text: bytes | memoryview) -> Self:
        """Check base64 text. Raises Base64Error. The buffer must not change afterwards."""
        view = memoryview(text)
        length, padding, last_four = 0, 0, b""
        for start in range(0, len(view), _PIECE):
            piece = bytes(view[start : start + _PIECE])
            not_alphabet = piece.translate(None, _ALPHABET)
            if not_alphabet:
                if invalid := not_alphabet.translate(None, b"=\r\n"):
                    raise Base64Error(f"has a character that is not base64 (got {chr(invalid[0])!a})")
                padding += not_alphabet.count(b"=")
                piece = piece.translate(None, b"\r\n")
            length += len(piece)
            last_four = (last_four + piece[-4:])[-4:]
        if length % 4:
            raise Base64Error(f"has {length} characters of base64, not a multiple of four: its padding (=) is missing")
        if padding != last_four.count(b"="):
            raise Base64Error("has base64 padding (=) that is not at its end")
        if length and not _LAST_QUANTUM.fullmatch(last_four):
            raise Base64Error(f"ends with invalid base64: {last_four.decode()!r}")
        return cls(text, length, length // 4 * 3 - padding)

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
        for start in range(0, whole, _PIECE):
            yield _wrap_piece(view[start : start + _PIECE])
        if whole < self.length:
            yield _wrap_end(bytes(view[whole:]))

    def _rewrap(self, view: memoryview) -> Iterator[bytes]:
        pending = b""
        for start in range(0, len(view), _PIECE):
            pending += bytes(view[start : start + _PIECE]).translate(None, b"\r\n")
            if len(pending) >= _PIECE:
                yield _wrap_piece(pending[:_PIECE])
                pending = pending[_PIECE:]
        if pending:
            yield _wrap_end(pending)


def _wrap_piece(piece: bytes | memoryview) -> bytes:
    return b"".join(b"\r\n".join((*lines, b"")) for lines in _BLOCK.iter_unpack(piece))


def _wrap_end(text: bytes) -> bytes:
    lines = [text[start : start + LINE] for start in range(0, len(text), LINE)]
    return b"\r\n".join((*lines, b""))
