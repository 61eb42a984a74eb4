"""What a program hands in, and what it is answered."""

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
    """What the program's options say. `sender` is the envelope sender (None: not given, empty: `<>`), `name` the full
    name for a From field that is missing, `extract`: recipients are also those of To, Cc and Bcc.
    """

    sender: str | None = None
    name: str = ""
    recipients: list[str] = []
    extract: bool = False
    key: str | None = None


class SendmailReply(Struct, frozen=True):
    """The exit code, and what to print on standard error."""

    code: int
    text: str = ""


class SendmailError(Exception):
    """The message is not sent; with the exit code and the reason."""

    def __init__(self, code: ExitCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SendmailContent:
    """A message with CRLF line ends. `is_8bit`, `is_utf8` and `longest` (octets of a line) are those of all of it."""

    received: ReceivedMessage
    is_8bit: bool
    is_utf8: bool
    longest: int


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """A header: fields in order as (name, raw value without its line end), and where the body begins."""

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
        """The body without transformations."""
        position = 0
        for chunk in self.content.received.chunks():
            end = position + len(chunk)
            if end > self.start:
                yield chunk[max(0, self.start - position) :]
            position = end
