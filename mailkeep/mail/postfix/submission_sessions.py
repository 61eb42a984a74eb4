"""Closes connections of submission sessions. Needs root (CAP_SYS_PTRACE).

A process of Postfix (smtpd) serves several clients, one after the other, and Postfix stops a service for a minute if a
process dies in its first session. So the process is left alone: this module takes a copy of its socket (pidfd_getfd(2))
and shuts the connection down, as if the client had gone. smtpd logs that and serves the next client.
"""

from __future__ import annotations

import ctypes
import errno
import ipaddress
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

_PROC = Path("/proc")
_PIDFD_GETFD = 438  # the number of the system call, the same on all architectures
_libc = ctypes.CDLL(None, use_errno=True)


def is_smtpd(pid: int, queue_folder: Path) -> bool:
    """Whether a process is an smtpd of the Postfix with this queue."""
    try:
        name = (_PROC / str(pid) / "comm").read_text("utf-8", "replace").rstrip("\n")
        return name == "smtpd" and (_PROC / str(pid) / "cwd").samefile(queue_folder)
    except (FileNotFoundError, ProcessLookupError):
        return False


def list_smtpd(queue_folder: Path) -> list[int]:
    """All smtpd processes of the Postfix with this queue."""
    pids = (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())
    return [pid for pid in pids if is_smtpd(pid, queue_folder)]


def close_connection(pid: int, client: str, queue_folder: Path, idle_with: Path | None = None) -> bool:
    """Shut down the connection with this client that an smtpd of the Postfix with this queue serves. False if it serves
    none. With `idle_with`, Dovecot's socket, only if the smtpd is connected to it (it accepts logins) and has no
    message in progress. Raises OSError if that is not permitted.
    """
    with ExitStack() as held:
        try:
            process = os.pidfd_open(pid)
            held.callback(os.close, process)
            # Checked after pidfd_open, because the PID may have been reused.
            if not is_smtpd(pid, queue_folder):
                return False
            sockets = [held.enter_context(each) for each in _copy_sockets(pid, process)]
        except (FileNotFoundError, ProcessLookupError):
            return False
        if idle_with is not None:
            servers = {_server_of(each) for each in sockets}
            # smtpd is connected to cleanup from the first recipient to the end of the message.
            if str(idle_with) not in servers or any(each.endswith("cleanup") for each in servers):
                return False
        found = [each for each in sockets if _is_with(each, client)]
        for each in found:
            with suppress(OSError):  # it has ended meanwhile
                each.shutdown(socket.SHUT_RDWR)
        return bool(found)


def _copy_sockets(pid: int, process: int) -> Iterator[socket.socket]:
    for entry in (_PROC / str(pid) / "fd").iterdir():
        with suppress(FileNotFoundError):
            if not entry.readlink().name.startswith("socket:"):
                continue
            number = _libc.syscall(_PIDFD_GETFD, process, int(entry.name), 0)
            if number >= 0:
                yield socket.socket(fileno=number)
            elif ctypes.get_errno() not in (errno.ESRCH, errno.EBADF):  # it has not ended meanwhile
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _server_of(connection: socket.socket) -> str:
    """The path of the Unix socket to which it is connected; empty for any other."""
    try:
        return str(connection.getpeername()) if connection.family == socket.AF_UNIX else ""
    except OSError:
        return ""


def _is_with(connection: socket.socket, client: str) -> bool:
    """Whether it is a TCP connection with this address."""
    if connection.family not in (socket.AF_INET, socket.AF_INET6) or connection.type != socket.SOCK_STREAM:
        return False
    try:
        peer = connection.getpeername()[0].partition("%")[0]
        return ipaddress.ip_address(peer) == ipaddress.ip_address(client)
    except (OSError, ValueError):
        return False  # it is not connected, or the client is no address
