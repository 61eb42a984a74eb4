"""Lists and ends Dovecot's open sessions (IMAP, POP3, ManageSieve). Needs root.

`doveadm kick` ends all sessions of a user, by SIGTERM to their processes. To end only those that lost their access,
this module sends the signal itself. Dovecot starts a process for each session, so they start at the same time.
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
    """An open session; `protocol` is imap, pop3 or sieve, `started` the start of its process in ticks since boot."""

    login: str
    protocol: str
    pid: int
    started: int
    began_at: datetime = field(compare=False)  # computed by each listing


async def list_open_sessions(conf: Path, now: datetime) -> list[DovecotSession]:
    """List the open sessions; `conf` is Dovecot's configuration file. Raises Failure."""
    return parse_sessions(await run("doveadm", "-f", "tab", "-c", str(conf), "who", "-1"), now)


def parse_sessions(output: bytes, now: datetime) -> list[DovecotSession]:
    """Parse the output of `doveadm -f tab who -1`, without processes that have ended. Raises Failure."""
    headings, *lines = output.decode("utf-8", "replace").split("\n")
    if headings.split("\t") != _HEADINGS:
        raise Failure(f"unexpected output of doveadm who: {headings[:80]!r}")
    sessions: list[DovecotSession] = []
    for line in filter(None, lines):
        login, protocol, pid, *_ = [*line.split("\t"), "", ""]
        started = _read_start(int(pid), protocol) if pid.isascii() and pid.isdigit() else None
        if started is not None:
            sessions.append(DovecotSession(login, protocol, int(pid), started, _start_time(started, now)))
    return sessions


def end_session(session: DovecotSession, *, force: bool) -> None:
    """End a session's process, if it is still running, with SIGTERM, or SIGKILL (`force`)."""
    try:
        process = os.pidfd_open(session.pid)
    except ProcessLookupError:
        return
    try:
        # The PID may have been reused between the listing and pidfd_open.
        if _read_start(session.pid, session.protocol) == session.started:
            signal.pidfd_send_signal(process, signal.SIGKILL if force else signal.SIGTERM)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)


def _read_start(pid: int, protocol: str) -> int | None:
    """Return the start of a process; None if it is not a process of this protocol."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    name = stat[stat.find("(") + 1 : stat.rfind(")")]
    return int(stat.rpartition(")")[2].split()[19]) if name == _PROGRAMS.get(protocol) else None


def _start_time(started: int, now: datetime) -> datetime:
    uptime = float((_PROC / "uptime").read_text("ascii").split()[0])
    return now - timedelta(seconds=uptime - started / _TICKS_PER_SECOND)
