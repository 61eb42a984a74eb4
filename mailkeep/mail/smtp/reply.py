"""SMTP and LMTP replies: the value, its wire form, and the parser.

RFC 5321 §4.2 (three digits, multi-line replies), RFC 2034 and RFC 3463 (enhanced status codes).
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache

MAX_LINE = 4096  # RFC 5321 §4.5.3.1.5 says 512; real servers write longer explanations
MAX_LINES = 200
MAX_TEXT = 4096
"""Characters of a multi-line reply, which is stored for each recipient of the message."""

_ENHANCED = re.compile(r"([245]\.[0-9]{1,3}\.[0-9]{1,3})(?: |$)")
_UNPRINTABLE = re.compile(r"[^\n -~]")


class MalformedReply(ValueError):
    """The server sent something that is not an SMTP reply. The connection must be closed."""


@dataclass(frozen=True, slots=True)
class SmtpReply:
    """One reply: `code` (200 to 599), `enhanced` ("5.1.1", or empty) and `text`.

    `text` has the lines of a multi-line reply separated by LF, without their enhanced codes.
    """

    code: int
    enhanced: str
    text: str

    @property
    def is_positive(self) -> bool:
        """Whether the command was accepted: 2xx or 354."""
        return self.code < 400

    @property
    def is_permanent(self) -> bool:
        """Whether a retry is useless: 5xx."""
        return self.code >= 500

    def wire(self) -> bytes:
        """Encode the reply. Characters other than printable ASCII become `?`, so that `text` can't add a line."""
        text = self.text if self.text.isascii() and self.text.isprintable() else _printable(self.text)
        status = f"{self.enhanced} " if self.enhanced else ""
        if "\n" not in text:
            return f"{self.code} {status}{text}\r\n".encode("ascii")
        *first, last = text.split("\n")
        lines = [f"{self.code}-{status}{line}\r\n" for line in first]
        return "".join([*lines, f"{self.code} {status}{last}\r\n"]).encode("ascii")

    def __str__(self) -> str:
        return " ".join(filter(None, (str(self.code), self.enhanced, self.text.replace("\n", " "))))


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("?", text.replace("\r\n", "\n"))


@lru_cache(maxsize=256)
def _parse_line(line: bytes) -> tuple[SmtpReply, bool]:
    """Parse one line without its line end. Also returns whether it is the last line of its reply."""
    code, separator = line[:3], line[3:4]
    if not code.isdigit() or not b"200" <= code <= b"599" or separator not in (b" ", b"-", b""):
        raise MalformedReply(f"not an SMTP reply: {line[:80]!r}")
    text = line[4:].decode("utf-8", "replace")
    match = _ENHANCED.match(text)
    enhanced = match[1] if match else ""
    return SmtpReply(int(code), enhanced, text[match.end() :] if match else text), separator != b"-"


class ReplyParser:
    """Splits a stream of bytes into replies, within `MAX_LINE` and `MAX_LINES`."""

    __slots__ = ("_earlier", "_incomplete")

    def __init__(self) -> None:
        self._incomplete = b""
        self._earlier: list[SmtpReply] = []

    def feed(self, data: bytes, replies: deque[SmtpReply]) -> None:
        """Append the complete replies to `replies`. Raises `MalformedReply`.

        Lines may end with a bare LF: unlike message content, replies are not forwarded to another parser.
        """
        *lines, self._incomplete = (self._incomplete + data).split(b"\n")
        for line in lines:
            if len(line) > MAX_LINE:
                raise MalformedReply("reply line too long")
            reply, is_last = _parse_line(line.rstrip(b"\r"))
            if is_last and not self._earlier:
                replies.append(reply)
            else:
                self._collect(reply, is_last, replies)
        if len(self._incomplete) > MAX_LINE:
            raise MalformedReply("reply line too long")

    def _collect(self, reply: SmtpReply, is_last: bool, replies: deque[SmtpReply]) -> None:
        self._earlier.append(reply)
        first = self._earlier[0]
        if reply.code != first.code:
            raise MalformedReply(f"codes {first.code} and {reply.code} in one reply")
        if len(self._earlier) > MAX_LINES:
            raise MalformedReply("reply has too many lines")
        if is_last:
            text = "\n".join(part.text for part in self._earlier)[:MAX_TEXT]
            replies.append(SmtpReply(first.code, reply.enhanced or first.enhanced, text))
            self._earlier = []

    @property
    def pending(self) -> bool:
        """Whether the last reply is incomplete."""
        return bool(self._incomplete or self._earlier)
