"""What mailboxes hold, counted by Dovecot (`doveadm mailbox status`): messages and their size in all folders.

The size is what quota counts: with CRLF line ends, whatever lies on the disk. Needs root.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run

log = logging.getLogger(__name__)

_WHAT = "messages vsize"
_HEAD = "Username\tmessages\tvsize"


@dataclass(frozen=True, slots=True)
class CountedMailbox:
    """What a mailbox holds; `size` in bytes."""

    messages: int
    size: int


async def count_mailboxes(conf: Path, logins: Collection[str]) -> Mapping[str, CountedMailbox]:
    """What these mailboxes hold, by login; one that can't be counted, or is none of Dovecot's, is left out, and logged.

    `conf` is Dovecot's file.
    """
    if not logins:
        return {}
    try:
        return await _count(conf, logins)
    except (Failure, OSError) as error:
        if len(logins) == 1:
            log.warning("the mailbox %s could not be counted: %s", next(iter(logins)), error)
            return {}
    # One whose index is broken spoils the answer of all.
    found: dict[str, CountedMailbox] = {}
    for login in logins:
        found |= await count_mailboxes(conf, [login])
    return found


async def _count(conf: Path, logins: Collection[str]) -> dict[str, CountedMailbox]:
    argv = ("doveadm", "-f", "tab", "-c", str(conf), "mailbox", "status", "-t", "-F", "/dev/stdin", _WHAT, "*")
    return parse_counts(await run(*argv, content="".join(f"{login}\n" for login in logins)))


def parse_counts(output: bytes) -> dict[str, CountedMailbox]:
    """The answer of `doveadm -f tab mailbox status -t`, by login. Raises Failure where it is none."""
    head, *lines = output.decode("utf-8", "replace").split("\n")
    if head != _HEAD:
        raise Failure(f"doveadm answered what is no count: {head[:80]!r}")
    found: dict[str, CountedMailbox] = {}
    for line in filter(None, lines):
        login, *numbers = line.split("\t")
        if len(numbers) != 2 or not all(each.isascii() and each.isdigit() for each in numbers):
            raise Failure(f"doveadm answered what is no count: {line[:80]!r}")
        found[login] = CountedMailbox(int(numbers[0]), int(numbers[1]))
    return found


def find_last_change(folder: Path) -> float | None:
    """When mail last came into, left or moved within a Maildir and its folders, by their directories' times.

    None where it is not there (yet).
    """
    try:
        with os.scandir(folder) as entries:
            places = [folder, *(Path(entry.path) for entry in entries if entry.name.startswith(".") and entry.is_dir())]
    except FileNotFoundError:
        return None
    times = [folder.stat().st_mtime]
    for place in places:
        for part in ("cur", "new"):
            try:
                times.append((place / part).stat().st_mtime)
            except FileNotFoundError:
                continue
    return max(times)
