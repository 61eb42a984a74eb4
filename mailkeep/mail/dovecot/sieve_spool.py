"""The spool of Sieve's redirects, replies and rejections: written by Dovecot's sendmail program, read by `reinjection`.

`new` holds one file per message. The program writes it to `tmp`, syncs it, and renames it. The name begins with the
arrival time in nanoseconds and ends with the mailbox's ID, by which the program counts: a tenth of the spool is the
most for a mailbox. The file begins with the envelope, one line each: `mailbox ID` (the owner of the script), `sender
ADDRESS` (empty: the null sender), `recipient ADDRESS` (at least one), and `unauthenticated yes` if the sender of the
message that triggered the script is not authenticated. An empty line and the message follow; lines end with LF or
CRLF. `wakeup` is a FIFO: the program writes a byte to it for each message. Malformed files are moved to `unreadable`.

The program is templates/dovecot/bin/sendmail: plain Python, started for each message.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mailkeep.mail.message.content_file import sync_folder
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.own_fields import first_octets

FOLDERS = ("new", "tmp", "unreadable")
MAX_MESSAGES = 10_000
MAX_BYTES = 1 << 30

_READ_SIZE = 128 * 1024
_MAX_ENVELOPE = 64 * 1024
_NAME = re.compile(r"([0-9]{1,19})\.[0-9]{1,10}(?:\.[0-9a-z-]{1,36})?")
_REDIRECTED = re.compile(rb"X-Sieve: [^\r\n]*\r?\nX-Sieve-Redirected-From: ([^\r\n]*)\r?\n")
_LINE_END = re.compile(rb"\r?\n|\r(?!\Z)")


class UnreadableSpoolFile(ValueError):
    """The file has no valid envelope or file name."""


@dataclass(frozen=True, slots=True)
class SpooledMessage:
    """A message in the spool. `sender`: empty for the null sender. `arrived`: a Unix time. `eight_bit`: not only ASCII.

    `redirected_from` is the address of the mailbox that redirects the message; empty for replies and rejections.
    `sender_unauthenticated`: the script ran for a message whose sender may be forged.
    """

    path: Path
    mailbox_id: str
    sender: str
    recipients: tuple[str, ...]
    arrived: float
    eight_bit: bool
    redirected_from: str
    sender_unauthenticated: bool
    _start: int

    def content(self) -> Iterator[bytes]:
        """The message, with CRLF line ends; blocks. A bare CR becomes a space, as in Postfix."""
        with self.path.open("rb") as file:
            file.seek(self._start)
            pending = b""
            while chunk := file.read(_READ_SIZE):
                chunk = pending + chunk
                # A CR at the end may be half of a line end.
                pending = b"\r" if chunk.endswith(b"\r") else b""
                yield _LINE_END.sub(_crlf, chunk.removesuffix(pending))
            if pending:
                yield b" "


def is_backscatter(spooled: SpooledMessage) -> bool:
    """Whether the message is a reply (vacation or rejection) to a sender that may be forged. Blocks."""
    if spooled.sender or spooled.redirected_from or not spooled.sender_unauthenticated:
        return False
    head = parse_head(first_octets(spooled.content(), MAX_HEAD))
    kinds = [field.value for field in head.fields if field.name.lower() == "auto-submitted"]
    return any(kind.strip().lower().startswith("auto-replied") for kind in kinds)


def _crlf(match: re.Match[bytes]) -> bytes:
    return b" " if match[0] == b"\r" else b"\r\n"


def wakeup_fifo(spool: Path) -> Path:
    """The FIFO that signals new messages."""
    return spool / "wakeup"


def list_messages(spool: Path) -> list[Path]:
    """The files of the messages, oldest first. Blocks."""
    return sorted((spool / "new").iterdir(), key=lambda path: (len(path.name), path.name))


def take_turns(paths: Iterable[Path], most: int) -> list[Path]:
    """At most this many of each mailbox's messages, the first ones."""
    taken: list[Path] = []
    counts: Counter[str] = Counter()
    for path in paths:
        mailbox_id = path.name.rpartition(".")[2]
        counts[mailbox_id] += 1
        if counts[mailbox_id] <= most:
            taken.append(path)
    return taken


def read(path: Path) -> SpooledMessage:
    """Read a file of the spool. Blocks. Raises UnreadableSpoolFile, FileNotFoundError."""
    name = _NAME.fullmatch(path.name)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        head, blank, _ = file.read(_MAX_ENVELOPE).partition(b"\n\n")
        values: dict[str, list[str]] = {"mailbox": [], "sender": [], "recipient": [], "unauthenticated": []}
        for line in head.decode("utf-8", "surrogateescape").split("\n"):
            kind, _, value = line.partition(" ")
            if kind not in values:
                raise UnreadableSpoolFile(f"{path}: unknown envelope line {line[:80]!r}")
            values[kind].append(value)
        is_complete = len(values["mailbox"]) == len(values["sender"]) == 1 and values["recipient"] and blank
        if not name or not is_complete:
            raise UnreadableSpoolFile(f"{path}: incomplete envelope, or not a valid file name")
        start = len(head) + len(blank)
        file.seek(start)
        # Sieve writes these two fields above those of the message.
        redirected = _REDIRECTED.match(file.read(_MAX_ENVELOPE))
        file.seek(start)
        eight_bit = any(not chunk.isascii() for chunk in iter(lambda: file.read(_READ_SIZE), b""))
    (mailbox_id,), (sender,) = values["mailbox"], values["sender"]
    source = redirected[1].decode("utf-8", "replace") if redirected else ""
    to, arrived, unauthenticated = tuple(values["recipient"]), int(name[1]) / 1e9, bool(values["unauthenticated"])
    return SpooledMessage(path, mailbox_id, sender, to, arrived, eight_bit, source, unauthenticated, start)


def write(spool: Path, at: datetime, mailbox_id: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
    """Write a message to the spool, as the program does. Blocks. Raises OSError."""
    lines = [f"mailbox {mailbox_id}", f"sender {sender}", *(f"recipient {address}" for address in recipients)]
    name = f"{int(at.timestamp() * 1e9)}.{int.from_bytes(os.urandom(4))}.{mailbox_id}"
    draft = spool / "tmp" / name
    with draft.open("xb") as file:
        file.write("\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + content)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(spool / "new" / name)
    sync_folder(spool / "new")


def remove_stale(spool: Path, before: float) -> None:
    """Remove files in `tmp` that are older than this Unix time: their programs were killed. Blocks."""
    for path in (spool / "tmp").iterdir():
        try:
            if path.lstat().st_mtime < before:
                path.unlink()
        except FileNotFoundError:
            continue


def move_unreadable(spool: Path, path: Path) -> None:
    """Move a malformed file to `unreadable`. Blocks."""
    path.rename(spool / "unreadable" / path.name)
