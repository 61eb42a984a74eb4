"""Dovecot's open sessions (IMAP, POP3, ManageSieve): which there are, and ending one. Needs root.

`doveadm kick` ends all sessions of a user, by SIGTERM to their processes, whichever protocol they speak and whenever
they began. To end those that lost their access and no others, this module sends the signal itself: Dovecot starts one
process for each session, so the start of the process is the start of the session.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run

_HEADINGS = ["username", "proto", "pid", "ip"]
_PROGRAMS = {"imap": "imap", "pop3": "pop3", "sieve": "managesieve"}
_PROC = Path("/proc")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class DovecotSession:
    """An open session; `protocol` is imap, pop3 or sieve, `started` when its process began, in ticks since boot."""

    login: str
    protocol: str
    pid: int
    started: int
    began_at: datetime = field(compare=False)  # computed by each listing


async def list_open_sessions(conf: Path, now: datetime) -> list[DovecotSession]:
    """The sessions that are open now; `conf` is Dovecot's file. Raises Failure."""
    return parse_sessions(await run("doveadm", "-f", "tab", "-c", str(conf), "who", "-1"), now)


def parse_sessions(output: bytes, now: datetime) -> list[DovecotSession]:
    """The answer of `doveadm -f tab who -1`, without processes that have ended. Raises Failure where it is none."""
    headings, *lines = output.decode("utf-8", "replace").split("\n")
    if headings.split("\t") != _HEADINGS:
        raise Failure(f"doveadm who did not list sessions: {headings[:80]!r}")
    found: list[DovecotSession] = []
    for line in filter(None, lines):
        login, protocol, pid, *_ = [*line.split("\t"), "", ""]
        started = _read_start(int(pid), protocol) if pid.isascii() and pid.isdigit() else None
        if started is not None:
            found.append(DovecotSession(login, protocol, int(pid), started, _start_time(started, now)))
    return found


def end_session(session: DovecotSession, *, force: bool) -> None:
    """End a session's process, unless it has ended: SIGTERM, or with `force` SIGKILL."""
    try:
        process = os.pidfd_open(session.pid)
    except ProcessLookupError:
        return
    try:
        # The process ID may have become another process's between the listing and pidfd_open.
        if _read_start(session.pid, session.protocol) == session.started:
            signal.pidfd_send_signal(process, signal.SIGKILL if force else signal.SIGTERM)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)


def _read_start(pid: int, protocol: str) -> int | None:
    """When a process of this protocol started, None where it is none."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    name = stat[stat.find("(") + 1 : stat.rfind(")")]
    return int(stat.rpartition(")")[2].split()[19]) if name == _PROGRAMS.get(protocol) else None


def _start_time(started: int, now: datetime) -> datetime:
    uptime = float((_PROC / "uptime").read_text("ascii").split()[0])
    return now - timedelta(seconds=uptime - started / _TICKS_PER_SECOND)
