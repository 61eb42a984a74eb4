"""Reads, checks and dot-stuffs message content between DATA and the final dot (RFC 5321 §4.1.1.4, §4.5.2).

Only <CRLF>.<CRLF> ends a message, and only <CRLF> ends a line. A bare CR or LF is an error, never a line end: SMTP
smuggling exploits parsers that disagree about it. No I/O: bytes in, bytes out.
"""

from __future__ import annotations

from enum import Enum

_END = b"\r\n.\r\n"
_PREFIXES = tuple(_END[:length] for length in (4, 3, 2, 1))


class DataFault(Enum):
    """Why a message can't be accepted."""

    BARE_NEWLINE = "bare newline"
    TOO_LARGE = "too large"
    HEADER_LINE_TOO_LONG = "header line too long"
    ENDLESS = "too large to read to its end"


class DataReader:
    """Reads one message's content: finds its end, removes dot-stuffing, checks it and counts its size.

    `size` is in bytes, with CRLFs and without dot-stuffing. `size_limit`, `header_line_limit` and `drain_limit` are
    in bytes too; `drain_limit` bounds how much of a too large message is read to find its end.
    """

    __slots__ = (
        "_drain_limit",
        "_header_line_limit",
        "_held_back",
        "_in_header",
        "_line",
        "_size_limit",
        "_started",
        "fault",
        "following_data",
        "is_complete",
        "size",
    )

    def __init__(self, size_limit: int, *, header_line_limit: int, drain_limit: int) -> None:
        self._size_limit = size_limit
        self._header_line_limit = header_line_limit
        self._drain_limit = drain_limit
        self._held_back = b"\r\n"  # the CRLF of the DATA line: a dot after it ends an empty message
        self._started = False
        self._in_header = True
        self._line = 0
        self.size = 0
        self.is_complete = False
        self.fault: DataFault | None = None
        self.following_data = b""

    def feed(self, data: bytes | bytearray) -> bytes:
        """Process received data. Returns the content to store; empty once there is a `fault`.

        At the end of the message `is_complete` is set, and `following_data` has the data after it. After BARE_NEWLINE
        and ENDLESS `feed` must not be called again: the end of the message is not known.
        """
        content = self._content(self._held_back + data)
        if self.fault is DataFault.BARE_NEWLINE:
            return b""
        if not self._started and content:
            content, self._started = content[2:], True
        self.size += len(content)
        if self._in_header and self.fault is None:
            self._check_header(content)
        if self.size > self._size_limit:
            self.fault = self.fault or DataFault.TOO_LARGE
            if not self.is_complete and self.size > self._drain_limit:
                self.fault = DataFault.ENDLESS
        return content if self.fault is None else b""

    def _content(self, data: bytes) -> bytes:
        """Return the content up to its end, or up to where its end may begin, without dot-stuffing."""
        dot_at = data.find(b"\r\n.")
        end = data.find(_END, dot_at) if dot_at >= 0 else -1
        if end >= 0:
            self.is_complete, self.following_data = True, data[end + len(_END) :]
            content = data[: end + 2]
        else:
            held_back = next((len(prefix) for prefix in _PREFIXES if data.endswith(prefix)), 0)
            self._held_back = data[len(data) - held_back :]
            content = data[: len(data) - held_back]
        if has_bare_newline(content):
            self.fault = DataFault.BARE_NEWLINE
        return content.replace(b"\r\n.", b"\r\n") if dot_at >= 0 else content

    def _check_header(self, content: bytes) -> None:
        """Check the length of header lines. A CRLF is never split over two calls."""
        if self._line == 0 and content.startswith(b"\r\n"):
            self._in_header = False
            return
        end = content.find(b"\r\n\r\n")
        self._in_header = end < 0
        lines = (content if end < 0 else content[:end]).split(b"\r\n")
        first = self._line + len(lines[0])
        self._line = len(lines[-1]) if len(lines) > 1 else first
        if max(first, *map(len, lines)) > self._header_line_limit:
            self.fault = DataFault.HEADER_LINE_TOO_LONG


def has_bare_newline(content: bytes) -> bool:
    """Whether `content` has a CR or LF that is not part of a CRLF."""
    feeds = content.count(b"\n")
    return feeds != content.count(b"\r") or (feeds > 0 and feeds != content.count(b"\r\n"))


class BareNewline(ValueError):
    """Content to send has a bare CR or LF. It is not sent."""


class DotStuffer:
    """Doubles the dots at line starts of outgoing content, chunk by chunk."""

    __slots__ = ("_line_start", "_trailing_cr")

    def __init__(self) -> None:
        self._line_start = True
        self._trailing_cr = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return the chunk dot-stuffed. A CR at its end is kept for the next call. Raises `BareNewline`."""
        chunk = self._trailing_cr + chunk if self._trailing_cr else chunk
        self._trailing_cr = b""
        if chunk.endswith(b"\r"):
            chunk, self._trailing_cr = chunk[:-1], b"\r"
        if not chunk:
            return b""
        if has_bare_newline(chunk):
            raise BareNewline("bare CR or LF in message content")
        stuffed = chunk.replace(b"\r\n.", b"\r\n..")
        if self._line_start and chunk.startswith(b"."):
            stuffed = b"." + stuffed
        self._line_start = chunk.endswith(b"\n")
        return stuffed

    def finish(self) -> None:
        """End the content. Raises `BareNewline` if it ends with a CR."""
        if self._trailing_cr:
            raise BareNewline("bare CR at the end of the message content")
