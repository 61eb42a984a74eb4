"""Finds lines of Postfix's log that say that one of its services can't work, as after a wrong parameter.

    Nov 20 10:01:02 mx postfix/smtp[42]: fatal: parameter smtp_connect_timeout: bad time value
    Nov 20 10:01:02 mx postfix/master[1]: warning: /usr/lib/postfix/sbin/smtp: bad command startup -- throttling

Only the words right after the name of the process count: what follows can be from clients. Lines of Postfix's commands
do not count either: every local account can run these with wrong arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mailkeep.mail.postfix.log_files import LogFile, log_files, read_piece

_FAILURE = re.compile(
    rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S++ (?P<text>postfix/(?:[\w.-]++/)?(?P<name>[\w-]++)(?:\[\d++\])?: "
    rb"(?:(?:fatal|panic): .*|warning: [^\s:]++: bad command startup -- throttling.*))",
    re.DOTALL,
)
_STARTED = re.compile(rb"postfix/master\[\d++\]: (?:reload|daemon started) -- ")
_PID = re.compile(rb"\[\d++\]")
_DAEMONS = frozenset(
    b"anvil bounce cleanup discard dnsblog error flush lmtp local master oqmgr pickup pipe postlogd postscreen "
    b"proxymap qmgr scache showq smtp smtpd spawn tlsmgr tlsproxy trivial-rewrite verify virtual".split()
)
_EARLIER_BYTES = 256 << 10
_PIECE_BYTES = 1 << 20
_MAX_TEXT = 300


class ProcessFailures:
    """The failures in a log from now on. What failed already since Postfix last read its configuration (within the last
    256 KiB of the log) does not count. Blocks.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        self._position: tuple[int, bytes, int] | None = None
        self._known: set[bytes] = set()
        files = _list_files(log)
        if not files:
            return
        newest = files[-1]
        start = max(0, newest.size - _EARLIER_BYTES)
        self._position = newest.inode, newest.first_line, start
        for line in self._read(files):
            if _STARTED.search(line):
                self._known.clear()
            elif text := _find_failure(line):
                self._known.add(_PID.sub(b"", text))

    def read(self) -> str | None:
        """The first failure in the lines since the last call, without time and host; a process's own words come before
        the notice that it is not started again for a while.
        """
        found = [
            text
            for line in self._read(_list_files(self._log))
            if (text := _find_failure(line)) and _PID.sub(b"", text) not in self._known
        ]
        found.sort(key=lambda text: b": warning: " in text)
        return found[0][:_MAX_TEXT].decode("utf-8", "replace") if found else None

    def _read(self, files: list[LogFile]) -> Iterator[bytes]:
        """New complete lines, also those in a file that was renamed meanwhile, and in newer ones."""
        keys = [(each.inode, each.first_line) for each in files]
        last = self._position[:2] if self._position else None
        files = files[keys.index(last) :] if last in keys else files[-1:]
        for file in files:
            key = file.inode, file.first_line
            at = self._position[2] if self._position and self._position[:2] == key else 0
            while piece := read_piece(file, at, _PIECE_BYTES):
                at = piece.end
                yield from piece.lines
            self._position = (*key, at)


def _list_files(log: Path) -> list[LogFile]:
    try:
        return log_files(log)
    except PermissionError:
        return []  # a new file, which soon can be read


def _find_failure(line: bytes) -> bytes | None:
    match = _FAILURE.fullmatch(line)
    return match["text"] if match and match["name"] in _DAEMONS else None
