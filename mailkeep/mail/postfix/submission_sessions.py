"""Closes the connections of submission sessions. Needs root (CAP_SYS_PTRACE).

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
from contextlib import suppress
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


def close_connection(pid: int, client: str, queue_folder: Path) -> bool:
    """Shut down the connection with this client that an smtpd of the Postfix with this queue serves. False if it serves
    none. Raises OSError if that is not permitted.
    """
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        # Checked after pidfd_open, because the PID may have been reused.
        if not is_smtpd(pid, queue_folder):
            return False
        found = [each for each in _sockets(pid, process) if _is_with(each, client)]
        for each in found:
            with suppress(OSError):  # it has ended meanwhile
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        return bool(found)
    except (FileNotFoundError, ProcessLookupError):
        return False
    finally:
        os.close(process)


def _sockets(pid: int, process: int) -> Iterator[socket.socket]:
    for entry in (_PROC / str(pid) / "fd").iterdir():
        with suppress(FileNotFoundError):
            if entry.readlink().name.startswith("socket:"):
                number = _libc.syscall(_PIDFD_GETFD, process, int(entry.name), 0)
                if number >= 0:
                    yield socket.socket(fileno=number)
                elif ctypes.get_errno() not in (errno.ESRCH, errno.EBADF):  # it has ended meanwhile
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _is_with(connection: socket.socket, client: str) -> bool:
    """Whether it is a TCP connection with this address. Closes the socket if not."""
    try:
        if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.type == socket.SOCK_STREAM:
            peer = connection.getpeername()[0].partition("%")[0]
            if ipaddress.ip_address(peer) == ipaddress.ip_address(client):
                return True
    except (OSError, ValueError):
        pass  # it is not connected, or the client is no address
    connection.close()
    return False
