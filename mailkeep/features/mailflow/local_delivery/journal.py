"""The journal of deliveries that Dovecot may have and that are not in the history yet: in memory, and in a file.

A line is written before Dovecot gets a message, and another when the result is known. A delivery with only the first
line is uncertain: Dovecot may have a copy. Lines are not synced to disk: a file from an earlier boot may lack its last
lines, and a new file lacks all. So mail that Postfix had accepted before the file became complete is uncertain too.
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

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_RETENTION = timedelta(days=60)  # longer than mail stays in a queue, also on hold
_MAX_SIZE = 1 << 20
_DISK_FULL = "the disk is full"
# A line begins with a line break and ends with a full stop: one that a full disk truncates makes no other unreadable.
# `+` a delivery begins, `-` it has a result, `=` since when the file is complete, and in which boot.
_LINE = re.compile(r"([=+-]) (\d+) ([0-9A-Za-z.-]+) ((?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12},?)+)\.")


@dataclass(frozen=True, slots=True)
class UncertainDelivery:
    """Dovecot may have a message from an attempt at `since` (seconds since 1970) or later.

    The attempt may still be running: a retry must wait until `not_before` (monotonic clock).
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
        self._boot = boot or _BOOT_ID.read_text("ascii").strip()
        self._open: dict[tuple[str, UUID], UncertainDelivery] = {}
        self._complete_since = clock().timestamp()
        self._settled_at = time.monotonic() + settling  # attempts of an earlier process have ended by then
        self._read()
        self._file, self._size = self._rewrite()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def begin(
        self, queue_id: str, mailbox_ids: Collection[UUID], arrived_at: datetime | None
    ) -> UncertainDelivery | None:
        """Record that Dovecot gets these deliveries now. Returns an uncertain delivery by an earlier attempt, or None.

        `arrived_at`: when Postfix accepted the message, if known. Raises `Unavailable` if the file can't be written;
        then nothing has begun.
        """
        now = self._clock().timestamp()
        uncertain = [delivery for each in mailbox_ids if (delivery := self._open.get((queue_id, each)))]
        arrived = arrived_at.timestamp() if arrived_at else now - _RETENTION.total_seconds()
        if arrived <= self._complete_since and now - self._complete_since < _RETENTION.total_seconds():
            uncertain.append(UncertainDelivery(arrived, self._settled_at))
        since = min((each.since for each in uncertain), default=now)
        try:
            self._append(_line("+", since, queue_id, mailbox_ids))
        except OSError as error:
            text = "deliveries are deferred: the journal can't be written; free disk space or fix its permissions"
            log.error(text, path=str(self._path), why=str(error))
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
                old_file, (self._file, self._size) = self._file, self._rewrite()
                os.close(old_file)
        except OSError as error:
            # The deliveries stay uncertain in the file. If one is retried, Dovecot searches the mailbox for it.
            text = "the result of a delivery can't be written to the journal; free disk space or fix its permissions"
            log.warning(text, path=str(self._path), why=str(error))

    def abandon(self, queue_id: str, mailbox_ids: Collection[UUID]) -> None:
        """End an attempt. Those of these deliveries that have no result are uncertain."""
        for each in mailbox_ids:
            if delivery := self._open.get((queue_id, each)):
                self._open[queue_id, each] = UncertainDelivery(delivery.since, time.monotonic() + self._settling)

    def _read(self) -> None:
        try:
            lines = self._path.read_bytes().decode("ascii", "replace").split("\n")
        except FileNotFoundError:
            return
        for sign, seconds, queue_id, ids in _parse_lines(lines):
            if sign == "=":
                if ids == self._boot:
                    self._complete_since = float(seconds)
                continue
            for mailbox_id in map(UUID, ids.split(",")):
                if sign == "+":
                    self._open[queue_id, mailbox_id] = UncertainDelivery(float(seconds), self._settled_at)
                else:
                    self._open.pop((queue_id, mailbox_id), None)

    def _rewrite(self) -> tuple[int, int]:
        """Write a new file with the open deliveries; returns its descriptor, to append, and its size in bytes. On
        `OSError` the old file stays.
        """
        oldest = self._clock().timestamp() - _RETENTION.total_seconds()
        self._open = {key: delivery for key, delivery in self._open.items() if delivery.since > oldest}
        lines = [_line("=", self._complete_since, "boot", [self._boot])]
        lines += [_line("+", delivery.since, queue_id, [each]) for (queue_id, each), delivery in self._open.items()]
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


def _line(sign: str, seconds: float, queue_id: str, ids: Collection[UUID | str]) -> bytes:
    return f"\n{sign} {int(seconds)} {queue_id} {','.join(map(str, ids))}.\n".encode("ascii")


def _parse_lines(lines: Collection[str]) -> Iterator[tuple[str, str, str, str]]:
    """The sign, time, queue ID and IDs of each valid line."""
    for line in lines:
        if match := _LINE.fullmatch(line):
            sign, seconds, queue_id, ids = match.groups()
            yield sign, seconds, queue_id, ids
