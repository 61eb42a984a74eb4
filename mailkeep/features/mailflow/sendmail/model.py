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
    """The program's options. `sender`: the envelope sender (None: no option `-f`, empty: `<>`); `name`: the full name
    for a message without From; `extract`: the addresses of To, Cc and Bcc are recipients too; `key`: an API key.
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
    """The message is not sent. `reason` is for standard error."""

    def __init__(self, code: ExitCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class SendmailContent:
    """A message with CRLF line ends; `longest_line` in octets."""

    received: ReceivedMessage
    is_8bit: bool
    is_utf8: bool
    longest_line: int


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """The fields in order as (name, raw value without its line end), and the offset of the body in the message."""

    fields: list[tuple[str, bytes]]
    body_offset: int


@dataclass(frozen=True, slots=True)
class SendmailBody:
    """The body, from `offset` in the message, and how it is changed before it is sent."""

    content: SendmailContent
    offset: int
    encode: bool  # as quoted-printable
    wrap: bool  # break lines over 998 octets

    def chunks(self) -> Iterator[bytes]:
        """The unchanged body."""
        position = 0
        for chunk in self.content.received.chunks():
            end = position + len(chunk)
            if end > self.offset:
                yield chunk[max(0, self.offset - position) :]
            position = end
