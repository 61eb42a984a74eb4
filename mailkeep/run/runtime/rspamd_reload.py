"""Reloads Rspamd while Postfix uses it.

On SIGHUP Rspamd starts new workers and ends the old ones within a second, even in the middle of a message: it does not
count the sessions of its milters (measured with 3.4). Postfix would answer 451 to that message and to all later ones of
the same SMTP session. So before an old worker ends, it connects to a socket that exists only during a reload
(`rspamd.local.lua`). It ends when it gets a line there: when it has no session left, after five minutes at the latest.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
import socket
import struct
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import monotonic

import structlog

from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.smtp.unix_socket import bind_unix_socket

log = structlog.get_logger("mailkeep.rspamd_reload")

_CHECKS = 60  # at intervals of _POLL_SECONDS
_LONGEST_SECONDS = 300.0  # Rspamd's own limit is twice its task_timeout, which is set accordingly
_POLL_SECONDS = 0.25
_CONNECTED = "03"  # in the column St of /proc/net/unix
_CREDENTIALS = struct.Struct("iII")

# Old workers that still have sessions.
_ending: dict[int, asyncio.Task[None]] = {}


async def reload(paths: InstancePaths, pid: int) -> None:
    """Let Rspamd, whose main process is `pid`, read its configuration again; returns when the old workers accept no new
    sessions. Those that are open are served until they end.
    """
    workers = set(_list_children(pid)) - _ending.keys()
    waiting: dict[int, asyncio.StreamWriter] = {}

    async def keep(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        waiting[_CREDENTIALS.unpack(peer)[0]] = writer

    listening = bind_unix_socket(paths.drain_socket, 0o660, pwd.getpwnam("_rspamd").pw_gid)
    server = await asyncio.start_unix_server(keep, sock=listening)
    try:
        os.kill(pid, signal.SIGHUP)
        for _ in range(_CHECKS):
            workers = {each for each in workers if each not in waiting and _exists(each)}
            if not workers:
                break
            await asyncio.sleep(_POLL_SECONDS)
        else:
            log.warning("workers of Rspamd from before the reload still run", workers=sorted(workers))
    finally:
        server.close()
        paths.drain_socket.unlink(missing_ok=True)
        for worker, writer in waiting.items():
            _ending[worker] = task = asyncio.create_task(_end_without_sessions(paths, worker, writer))
            task.add_done_callback(lambda _, key=worker: _ending.pop(key, None))


async def _end_without_sessions(paths: InstancePaths, worker: int, writer: asyncio.StreamWriter) -> None:
    sockets = {str(each) for each in (paths.scan_socket, paths.sign_socket, paths.controller_socket)}
    deadline = monotonic() + _LONGEST_SECONDS
    try:
        while await asyncio.to_thread(_has_sessions, worker, sockets):
            if monotonic() > deadline:
                break
            await asyncio.sleep(_POLL_SECONDS)
        writer.write(b"\n")
    finally:
        writer.close()


def _has_sessions(worker: int, sockets: Collection[str]) -> bool:
    """Whether a process has accepted connections on these sockets. Blocks."""
    rows = [line.split() for line in Path("/proc/net/unix").read_text("utf-8", "replace").splitlines()]
    accepted = {f"socket:[{row[6]}]" for row in rows if len(row) == 8 and row[5] == _CONNECTED and row[7] in sockets}
    with suppress(OSError):  # it has ended
        for descriptor in Path(f"/proc/{worker}/fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) in accepted:
                    return True
    return False


def _list_children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
