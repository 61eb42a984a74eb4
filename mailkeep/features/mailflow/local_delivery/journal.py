"""The journal of deliveries that Dovecot may have and that are not in the history yet: in memory, and in a file.

A line is written before Dovecot gets a message, and another when the result is known. A delivery with the first line
only is uncertain: Dovecot may or may not have a copy. Lines are not flushed to disk. A file of an earlier boot may lack
its last lines, and a new file lacks all: mail that Postfix had accepted by then is uncertain too.
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
_RETENTION = timedelta(days=60)  # longer than mail stays in a queue, also on hold
_MAX_SIZE = 1 << 20
_DISK_FULL = "the disk is full"
# A line begins with a line break and ends with a full stop: one that a full disk truncates affects no other.
_LINE = re.compile(r"([=+-]) (\d+) ([0-9A-Za-z.-]+) ((?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12},?)+)\.")


@dataclass(frozen=True, slots=True)
class UncertainDelivery:
    """Dovecot may have a message from an attempt at `since` (seconds since 1970) or later.

    That attempt may still be running until `not_before` (monotonic clock).
    """

    since: float
    not_before: float


class Journal:
    """The running and the uncertain deliveries, by queue ID and mailbox.

    `settling`: how long, in seconds, an abandoned attempt may still run.
    """

    def __init__(self, path: Path, clock: Clock, *, settling: float = 2.0, boot: str | None = None) -> None:
        """Read the file at `path`, whose folder must exist. Raises `OSError`."""
        self._path = path
        self._clock = clock
        self._settling = settling
        self._boot = boot or _BOOT.read_text("ascii").strip()
        self._open: dict[tuple[str, UUID], UncertainDelivery] = {}
        self._from = clock().timestamp()
        self._ready_at = time.monotonic() + settling
        self._read()
        self._file, self._size = self._rewrite()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def begin(
        self, queue_id: str, mailbox_ids: Collection[UUID], arrived_at: datetime | None
    ) -> UncertainDelivery | None:
        """Record that Dovecot gets these deliveries now; returns the uncertainty from earlier attempts, if any.

        `arrived_at`: when Postfix accepted the message, if known. Raises `Unavailable` if the file can't be written;
        then nothing has begun.
        """
        now = self._clock().timestamp()
        uncertain = [found for each in mailbox_ids if (found := self._open.get((queue_id, each)))]
        arrived = arrived_at.timestamp() if arrived_at else now - _RETENTION.total_seconds()
        if arrived <= self._from and now - self._from < _RETENTION.total_seconds():
            uncertain.append(UncertainDelivery(arrived, self._ready_at))
        since = min((each.since for each in uncertain), default=now)
        try:
            self._append(_line("+", since, queue_id, mailbox_ids))
        except OSError as error:
            log.error("a delivery can't be written to the journal", path=str(self._path), why=str(error))
            raise Unavailable from error
        for each in mailbox_ids:
            self._open[queue_id, each] = UncertainDelivery(since, 0.0)
        return UncertainDelivery(since, max(each.not_before for each in uncertain)) if uncertain else None

    def end(self, queue_id: str, mailbox_ids: Collection[UUID]) -> None:
        """Record that these deliveries have a result: recorded, or refused permanently."""
        ended = [each for each in mailbox_ids if self._open.pop((queue_id, each), None)]
        try:
            if ended:
                self._append(_line("-", 0, queue_id, ended))
            if self._size > _MAX_SIZE:
                before, (self._file, self._size) = self._file, self._rewrite()
                os.close(before)
        except OSError as error:
            # They stay uncertain in the file: a retry would search the mailbox.
            log.warning(
                "the result of a delivery can't be written to the journal", path=str(self._path), why=str(error)
            )

    def leave(self, queue_id: str, mailbox_ids: Collection[UUID]) -> None:
        """Abandon these deliveries: those without a result are uncertain."""
        for each in mailbox_ids:
            if found := self._open.get((queue_id, each)):
                self._open[queue_id, each] = UncertainDelivery(found.since, time.monotonic() + self._settling)

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
                    self._open[queue_id, mailbox_id] = UncertainDelivery(float(at), self._ready_at)
                else:
                    self._open.pop((queue_id, mailbox_id), None)

    def _rewrite(self) -> tuple[int, int]:
        """Write a new file with the open deliveries; returns it, opened to append, and its size. On `OSError` the old
        stays.
        """
        oldest = self._clock().timestamp() - _RETENTION.total_seconds()
        self._open = {key: found for key, found in self._open.items() if found.since > oldest}
        lines = [_line("=", self._from, "boot", [self._boot])]
        lines += [_line("+", found.since, queue_id, [each]) for (queue_id, each), found in self._open.items()]
        new = self._path.with_name(self._path.name + ".new")
        content = b"".join(lines)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            if os.write(file, content) < len(content):
                raise OSError(_DISK_FULL)
            new.replace(self._path)
        except OSError:
            os.close(file)
            raise
        return file, len(content)

    def _append(self, line: bytes) -> None:
        written = os.write(self._file, line)
        self._size += written
        if written < len(line):
            raise OSError(_DISK_FULL)


def _line(sign: str, at: float, queue_id: str, ids: Collection[UUID | str]) -> bytes:
    return f"\n{sign} {int(at)} {queue_id} {','.join(map(str, ids))}.\n".encode("ascii")


def _parse_lines(lines: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    for line in lines:
        if found := _LINE.fullmatch(line):
            sign, at, queue_id, ids = found.groups()
            yield sign, at, queue_id, ids
