"""Which deliveries Dovecot was handed and nobody has filed yet: in memory, and in a file that outlives the agent.

A line is written before a message is handed over, and one when its end is known. What has a first line alone is in
doubt: Dovecot may have its copy or not. Nothing is flushed to the disk for it. A file that another boot of the machine
has written may lack its last lines, and a new one lacks all: mail that Postfix had by then is in doubt as well.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.core.clock import Clock
from mailkeep.core.errors import Unavailable

log = structlog.get_logger("mailkeep.inbox")

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_KEPT = timedelta(days=60)  # longer than any mail waits in a queue, on hold or not
_HIGH = 1 << 20
_CUT = "no room for all of it"
# Each line has an end of its own, and begins on a new line: what a full disk has cut off spoils no other.
_LINE = re.compile(r"([=+-]) (\d+) ([0-9A-Za-z.-]+) ((?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12},?)+)\.")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Dovecot may have a message from a try that began at `since` (seconds since 1970), or later.

    That try may not have come to its end before `not_before`, by the monotonic clock.
    """

    since: float
    not_before: float


class Journal:
    """The deliveries under way and in doubt, each by the message's queue id and the mailbox.

    `settling` is how many seconds a try is given to come to its end after nobody waits for it any more.
    """

    def __init__(self, path: Path, clock: Clock, *, settling: float = 2.0, boot: str | None = None) -> None:
        """What the file at `path` tells; its folder is there. Raises `OSError`."""
        self._path = path
        self._clock = clock
        self._settling = settling
        self._boot = boot or _BOOT.read_text("ascii").strip()
        self._open: dict[tuple[str, UUID], Doubt] = {}
        self._from = clock().timestamp()
        self._ready_at = time.monotonic() + settling
        self._read()
        self._file, self._size = self._write_anew()

    def close(self) -> None:
        """Close the file; what is open stays in it."""
        os.close(self._file)

    def begin(self, queue_id: str, mailbox_ids: Collection[UUID], arrived_at: datetime | None) -> Doubt | None:
        """Write down that these deliveries are handed over now: what is in doubt of them, None where nothing is.

        `arrived_at` is when Postfix took the message, None where that is not known. Raises `Unavailable` where it can't
        be written down; then nothing has begun.
        """
        now = self._clock().timestamp()
        doubts = [found for each in mailbox_ids if (found := self._open.get((queue_id, each)))]
        arrived = arrived_at.timestamp() if arrived_at else now - _KEPT.total_seconds()
        if arrived <= self._from and now - self._from < _KEPT.total_seconds():
            doubts.append(Doubt(arrived, self._ready_at))
        since = min((doubt.since for doubt in doubts), default=now)
        try:
            self._append(_line("+", since, queue_id, mailbox_ids))
        except OSError as error:
            log.error("A delivery can't be written down", path=str(self._path), why=str(error))
            raise Unavailable from error
        for each in mailbox_ids:
            self._open[queue_id, each] = Doubt(since, 0.0)
        return Doubt(since, max(doubt.not_before for doubt in doubts)) if doubts else None

    def end(self, queue_id: str, mailbox_ids: Collection[UUID]) -> None:
        """The end of these is known: refused for good, or filed."""
        ended = [each for each in mailbox_ids if self._open.pop((queue_id, each), None)]
        try:
            if ended:
                self._append(_line("-", 0, queue_id, ended))
            if self._size > _HIGH:
                before, (self._file, self._size) = self._file, self._write_anew()
                os.close(before)
        except OSError as error:
            # They stay in doubt in the file, which costs a search, should they come again.
            log.warning("The end of a delivery can't be written down", path=str(self._path), why=str(error))

    def leave(self, queue_id: str, mailbox_ids: Collection[UUID]) -> None:
        """Nobody waits for these any more; whichever has no end yet is in doubt."""
        for each in mailbox_ids:
            if found := self._open.get((queue_id, each)):
                self._open[queue_id, each] = Doubt(found.since, time.monotonic() + self._settling)

    def _read(self) -> None:
        try:
            lines = self._path.read_bytes().decode("ascii", "replace").split("\n")
        except FileNotFoundError:
            return
        for sign, at, queue_id, rest in _parse_lines(lines):
            if sign == "=":
                if rest == self._boot:
                    self._from = float(at)
                continue
            for mailbox_id in map(UUID, rest.split(",")):
                if sign == "+":
                    self._open[queue_id, mailbox_id] = Doubt(float(at), self._ready_at)
                else:
                    self._open.pop((queue_id, mailbox_id), None)

    def _write_anew(self) -> tuple[int, int]:
        """The file with what is open alone: opened to append, and its size. Raises `OSError`; then the old one lies."""
        oldest = self._clock().timestamp() - _KEPT.total_seconds()
        self._open = {key: found for key, found in self._open.items() if found.since > oldest}
        lines = [_line("=", self._from, "boot", [self._boot])]
        lines += [_line("+", found.since, queue_id, [each]) for (queue_id, each), found in self._open.items()]
        new = self._path.with_name(self._path.name + ".new")
        content = b"".join(lines)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            if os.write(file, content) < len(content):
                raise OSError(_CUT)
            new.replace(self._path)
        except OSError:
            os.close(file)
            raise
        return file, len(content)

    def _append(self, line: bytes) -> None:
        written = os.write(self._file, line)
        self._size += written
        if written < len(line):
            raise OSError(_CUT)


def _line(sign: str, at: float, queue_id: str, ids: Collection[UUID | str]) -> bytes:
    return f"\n{sign} {int(at)} {queue_id} {','.join(map(str, ids))}.\n".encode("ascii")


def _parse_lines(lines: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    for line in lines:
        if found := _LINE.fullmatch(line):
            sign, at, queue_id, ids = found.groups()
            yield sign, at, queue_id, ids
