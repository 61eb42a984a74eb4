"""A message that a local program submits, and the reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from msgspec import Struct

from mailkeep.mail.smtp.spool import ReceivedMessage


class ExitCode(IntEnum):
    """Exit codes (sysexits.h)."""

    OK = 0
    USAGE = 64
    DATAERR = 65
    NOUSER = 67
    UNAVAILABLE = 69
    TEMPFAIL = 75
    NOPERM = 77


class SendmailOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The program's options. `sender`: the envelope sender (None: not given, empty: `<>`); `name`: the full name for a
    missing From field; `extract`: the addresses of To, Cc and Bcc are recipients too.
    """

    sender: str | None = None
    name: str = ""
    recipients: list[str] = []
    extract: bool = False
    key: str | None = None


class SendmailReply(Struct, frozen=True):
    """The exit code, and the text for standard error."""

    code: int
    text: str = ""


class SendmailError(Exception):
    """The message is not sent."""

    def __init__(self, code: ExitCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SendmailContent:
    """A message with CRLF line ends; `longest` is the length of its longest line in octets."""

    received: ReceivedMessage
    is_8bit: bool
    is_utf8: bool
    longest: int


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """The fields in order as (name, raw value without its line end), and the offset of the body."""

    fields: list[tuple[str, bytes]]
    body_at: int


@dataclass(frozen=True, slots=True)
class SendmailBody:
    """The body as it is sent."""

    content: SendmailContent
    start: int
    encode: bool  # as quoted-printable
    wrap: bool  # lines over 998 octets broken

    def chunks(self) -> Iterator[bytes]:
        """The unchanged body."""
        position = 0
        for chunk in self.content.received.chunks():
            end = position + len(chunk)
            if end > self.start:
                yield chunk[max(0, self.start - position) :]
            position = end
