"""Lists and changes Postfix's queue with its own tools. Needs root.

`postqueue -j` (a JSON object per line), `-i` and `-f`, `postsuper` (ids on its standard input), `postmap`, and
`postfix reload`.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.mail.daemons import probe_mailbox
from mailkeep.mail.daemons.tool import run

Action = Literal["flush", "hold", "release", "delete"]

_MAX_PARALLEL = 8
_POSTSUPER = {"hold": "-h", "release": "-H", "delete": "-d"}
STATE_FOLDERS = ("incoming", "active", "deferred", "hold")
"""The folders of messages, by state."""
# The states of messages to which an action applies.
_STATES: dict[Action, frozenset[str]] = {
    "flush": frozenset({"deferred", "incoming", "active"}),
    "hold": frozenset({"deferred", "incoming", "active"}),
    "release": frozenset({"hold"}),
    "delete": frozenset({"deferred", "incoming", "active", "hold"}),
}
_BASE_52 = "0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz"
_MICROSECOND_DIGITS = 4
_MAX_SINGLE_FLUSHES = 200  # for more messages the whole queue is flushed


class PostqueueRecipient(msgspec.Struct, frozen=True):
    """A recipient that is not delivered yet; `delay_reason` is empty before the first attempt."""

    address: str
    delay_reason: str = ""


class PostqueueEntry(msgspec.Struct, frozen=True):
    """A message in the queue (incoming, active, deferred, hold), as postqueue prints it; `message_size` in bytes."""

    queue_name: str
    queue_id: str
    arrival_time: int
    message_size: int
    sender: str
    recipients: list[PostqueueRecipient]

    @property
    def arrived_at(self) -> datetime:
        """The arrival time."""
        return datetime.fromtimestamp(self.arrival_time, UTC)

    @property
    def is_probe(self) -> bool:
        """Whether it is a message to the probe's mailbox."""
        return bool(self.recipients) and all(probe_mailbox.is_probe(each.address) for each in self.recipients)


_decoder = msgspec.json.Decoder(PostqueueEntry)


def parse_listing(content: bytes) -> list[PostqueueEntry]:
    """Parse the output of `postqueue -j`; lines that are not messages are ignored.

    A message that moved during the listing appears twice: the last line counts.
    """
    entries: dict[str, PostqueueEntry] = {}
    for line in content.split(b"\n"):
        with suppress(msgspec.DecodeError, msgspec.ValidationError):
            if line:
                # The sender chose these bytes: perhaps not UTF-8.
                message = _decoder.decode(line.decode("utf-8", "replace"))
                entries[message.queue_id] = message
    return list(entries.values())


def select_ids(action: Action, entries: Iterable[PostqueueEntry]) -> list[str]:
    """The queue ids of the messages to which an action applies."""
    return [entry.queue_id for entry in entries if entry.queue_name in _STATES[action]]


async def list_queue(conf: Path) -> list[PostqueueEntry]:
    """List the queue. Raises Failure."""
    return parse_listing(await run("postqueue", "-c", str(conf), "-j"))


async def apply_action(conf: Path, action: Action, queue_ids: Sequence[str]) -> None:
    """Apply an action to messages; those that have left the queue are ignored. Raises Failure."""
    if not queue_ids:
        return
    if action == "flush":
        await _flush(conf, queue_ids)
        return
    await run("postsuper", "-c", str(conf), _POSTSUPER[action], "-", content="\n".join(queue_ids) + "\n")


async def _flush(conf: Path, queue_ids: Sequence[str]) -> None:
    if len(queue_ids) > _MAX_SINGLE_FLUSHES:
        await run("postqueue", "-c", str(conf), "-f")
        return
    limit = asyncio.Semaphore(_MAX_PARALLEL)

    async def flush_one(queue_id: str) -> None:
        async with limit:
            await run("postqueue", "-c", str(conf), "-i", queue_id)

    await asyncio.gather(*(flush_one(queue_id) for queue_id in queue_ids))


def next_attempts(queue: Path, queue_ids: Collection[str]) -> dict[str, datetime]:
    """The times of the next attempts of deferred messages, from the mtimes that qmgr sets. Blocks."""
    times: dict[str, datetime] = {}
    folders = [queue / "deferred", *(queue / "deferred").glob("?")]
    for queue_id in queue_ids:
        for folder in folders:
            with suppress(OSError):
                times[queue_id] = datetime.fromtimestamp((folder / queue_id).stat().st_mtime, UTC)
                break
    return times


def list_queue_ids(queue: Path) -> set[str]:
    """The queue ids of all messages in the queue, by their files. Blocks.

    A file in `incoming` that is not executable by its owner is not complete: the message is not accepted.

    Reads all folders twice: the first pass misses a message that moves from a folder not yet read into one already read
    (as does `postqueue`, which reads the active messages before the deferred ones).
    """
    return _list_files(queue) | _list_files(queue)


def _list_files(queue: Path) -> set[str]:
    states = [queue / name for name in STATE_FOLDERS]
    folders = [folder for state in states for folder in (state, *state.glob("?"))]
    return {
        name
        for folder in folders
        for name in _names(folder)
        if states[0] not in (folder, folder.parent) or _is_complete(folder / name)
    }


def _is_complete(file: Path) -> bool:
    try:
        return bool(file.stat().st_mode & stat.S_IXUSR)
    except FileNotFoundError:
        return False  # it has moved on, to a folder that is read later or in the second pass


def count_by_state(queue: Path) -> dict[str, int]:
    """Count the messages in each state, by their files. Blocks. Raises OSError."""
    counts: dict[str, int] = {}
    for name in STATE_FOLDERS:
        folder = queue / name
        counts[name] = sum(len(_names(each)) for each in (folder, *folder.glob("?")))
    return counts


def find_oldest_arrival(queue: Path) -> datetime | None:
    """When the oldest message arrived that is not on hold, by its queue ID. Blocks. Raises OSError."""
    waiting = (queue / name for name in STATE_FOLDERS if name != "hold")
    names = (name for top in waiting for folder in (top, *top.glob("?")) for name in _names(folder))
    times = [found for name in names if (found := _read_arrival(name)) is not None]
    return datetime.fromtimestamp(min(times), UTC) if times else None


def _read_arrival(queue_id: str) -> int | None:
    """The Unix time in a long queue ID (enable_long_queue_ids): seconds, microseconds in four digits, `z`, inode."""
    digits, z, _ = queue_id.rpartition("z")
    if not z or len(digits) <= _MICROSECOND_DIGITS or not set(digits) <= set(_BASE_52):
        return None
    number = 0
    for digit in digits[:-_MICROSECOND_DIGITS]:
        number = number * len(_BASE_52) + _BASE_52.index(digit)
    return number


def list_deferred(queue: Path) -> dict[str, int]:
    """The queue IDs of deferred messages, with their mtime in nanoseconds: the time of the next attempt. Blocks."""
    times: dict[str, int] = {}
    for folder in (queue / "deferred", *(queue / "deferred").glob("?")):
        for name in _names(folder):
            with suppress(OSError):
                times[name] = (folder / name).stat().st_mtime_ns
    return times


def find_deferred_since(queue: Path, since: float, now: float) -> dict[str, float]:
    """The queue IDs of messages that were deferred after `since` and wait for an attempt after `now`, with the time of
    the deferral (Unix times). Blocks.
    """
    times: dict[str, float] = {}
    for folder in (queue / "deferred", *(queue / "deferred").glob("?")):
        for name in _names(folder):
            with suppress(OSError):
                status = (folder / name).stat()
                if status.st_ctime > since and status.st_mtime > now:
                    times[name] = status.st_ctime
    return times


def find_idle_services(queue: Path, before: float) -> set[Literal["qmgr", "pickup"]]:
    """The services that have not processed messages older than `before` (a Unix time). Blocks.

    The queue manager leaves messages that were locked after a reload until it is woken; pickup leaves messages that it
    could not pass on. A file that is still being written is not executable (Postfix sets 0700 in the end).
    """
    services: set[Literal["qmgr", "pickup"]] = set()
    folders: tuple[tuple[str, Literal["qmgr", "pickup"]], ...] = (("incoming", "qmgr"), ("maildrop", "pickup"))
    for folder, service in folders:
        for name in _names(queue / folder):
            with suppress(OSError):
                status = (queue / folder / name).stat()
                if status.st_mode & 0o100 and max(status.st_mtime, status.st_ctime) < before:
                    services.add(service)
                    break
    return services


def _names(folder: Path) -> list[str]:
    """The names of the queue files in a folder; a name of one character is a subfolder."""
    try:
        return [each.name for each in folder.iterdir() if len(each.name) > 1]
    except FileNotFoundError:
        return []


def make_due(queue: Path, queue_ids: Collection[str], at: float) -> None:
    """Make deferred messages due, by the mtimes that qmgr reads. Blocks.

    Messages that have left the deferred queue are skipped. Then call `wake_service`, so that qmgr reads the mtimes.
    """
    folders = [queue / "deferred", *(queue / "deferred").glob("?")]
    for queue_id in queue_ids:
        for folder in folders:
            try:
                os.utime(folder / queue_id, (at, at))
            except FileNotFoundError:
                continue
            break


async def wake_service(conf: Path, service: Literal["qmgr", "pickup"], request: str) -> None:
    """Wake a service with a request of one letter each (postkick(1)). Raises Failure.

    For qmgr: `F` forget which destinations are unreachable, `D` scan deferred mail, `I` scan new mail.
    """
    await run("postkick", "-c", str(conf), "public", service, request)


def generation_command(conf: Path) -> Sequence[str]:
    """The command that rebuilds the map `generation` in a configuration folder."""
    return ("postmap", "-c", str(conf), str(conf / "generation"))


async def clear_caches(conf: Path) -> None:
    """Clear what Postfix's processes have cached about addresses. Raises Failure.

    A changed map makes smtpd and trivial-rewrite processes end before their next session. Unlike `reload` this does not
    interrupt deliveries.
    """
    await run(*generation_command(conf))


async def rotate_log(conf: Path) -> None:
    """Let Postfix rename its log with a timestamp and start a new one. Raises Failure.

    This reloads Postfix: mail in delivery waits until the queue manager next scans new mail (`find_idle_services`).
    """
    await run("postfix", "-c", str(conf), "logrotate")


async def reload(conf: Path) -> None:
    """Reload Postfix's configuration, with new processes. Raises Failure.

    The new queue manager finds messages in delivery locked, and retries them when it next looks for new mail.
    """
    await run("postfix", "-c", str(conf), "reload")
