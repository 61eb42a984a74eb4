"""Counts the messages of mailboxes and their size, over all folders, with `doveadm mailbox status`. Needs root.

The size is the one that quota counts: with CRLF line ends, however the messages are stored.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run

log = logging.getLogger(__name__)

_FIELDS = "messages vsize"
_HEAD = "Username\tmessages\tvsize"


@dataclass(frozen=True, slots=True)
class CountedMailbox:
    """The content of a mailbox; `size` in bytes."""

    messages: int
    size: int


async def count_mailboxes(conf: Path, logins: Collection[str]) -> Mapping[str, CountedMailbox]:
    """Count mailboxes, by login. A mailbox that fails or is unknown to Dovecot is logged and omitted.

    `conf` is Dovecot's configuration file.
    """
    if not logins:
        return {}
    try:
        return await _count(conf, logins)
    except (Failure, OSError) as error:
        if len(logins) == 1:
            log.warning("the mailbox %s could not be counted: %s", next(iter(logins)), error)
            return {}
    # One broken index makes the whole command fail: count each mailbox by itself.
    counts: dict[str, CountedMailbox] = {}
    for login in logins:
        counts |= await count_mailboxes(conf, [login])
    return counts


async def _count(conf: Path, logins: Collection[str]) -> dict[str, CountedMailbox]:
    argv = ("doveadm", "-f", "tab", "-c", str(conf), "mailbox", "status", "-t", "-F", "/dev/stdin", _FIELDS, "*")
    return parse_counts(await run(*argv, content="".join(f"{login}\n" for login in logins)))


def parse_counts(output: bytes) -> dict[str, CountedMailbox]:
    """Parse the output of `doveadm -f tab mailbox status -t`, by login. Raises Failure."""
    head, *lines = output.decode("utf-8", "replace").split("\n")
    if head != _HEAD:
        raise Failure(f"unexpected output of doveadm: {head[:80]!r}")
    counts: dict[str, CountedMailbox] = {}
    for line in filter(None, lines):
        login, *numbers = line.split("\t")
        if len(numbers) != 2 or not all(number.isascii() and number.isdigit() for number in numbers):
            raise Failure(f"unexpected output of doveadm: {line[:80]!r}")
        counts[login] = CountedMailbox(int(numbers[0]), int(numbers[1]))
    return counts


class FolderRow(msgspec.Struct, frozen=True):
    """A folder as doveadm prints it; all values are text, `vsize` in bytes."""

    mailbox: str
    messages: str
    unseen: str
    vsize: str


async def list_folders(conf: Path, login: str) -> list[FolderRow]:
    """The folders of a mailbox. Raises Failure, also if Dovecot does not know the mailbox."""
    argv = ("doveadm", "-f", "json", "-c", str(conf), "mailbox", "status", "-u", login, "messages unseen vsize", "*")
    try:
        return msgspec.json.decode(await run(*argv), type=list[FolderRow])
    except msgspec.DecodeError as error:
        raise Failure(f"unexpected output of doveadm: {error}") from None


async def recalculate(conf: Path, login: str) -> None:
    """Let Dovecot count a mailbox again from its messages. Raises Failure."""
    await run("doveadm", "-c", str(conf), "quota", "recalc", "-u", login)


def find_last_change(folder: Path) -> float | None:
    """The time of the last delivery, deletion or move in a Maildir and its folders, from the directories' mtimes.

    A Unix time; None if the Maildir does not exist (yet).
    """
    try:
        with os.scandir(folder) as entries:
            folders = [
                folder,
                *(Path(entry.path) for entry in entries if entry.name.startswith(".") and entry.is_dir()),
            ]
    except FileNotFoundError:
        return None
    times = [folder.stat().st_mtime]
    for subfolder in folders:
        for name in ("cur", "new"):
            try:
                times.append((subfolder / name).stat().st_mtime)
            except FileNotFoundError:
                continue
    return max(times)
