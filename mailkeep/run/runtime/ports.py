"""Checks the addresses and ports of mail and of nginx (`server.addresses`, `ports.*`, `edge.*`) before they start.

A daemon exits if another program uses its port, and reports that only in its log. On a new machine this is most often
port 25, which Debian's own mail server uses.
"""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.settings import Settings

_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104 - the daemons' default
_LISTEN_STATE = "0A"
_CHECKS, _PAUSE_SECONDS = 20, 0.1
# Errors of an absent address; for `::` on a machine without IPv6.
_ABSENT = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class UnavailablePort:
    """A port that is not available: the setting's key, the address, the port, and the reason as text."""

    key: str
    address: str
    port: int
    reason: str
    is_address_absent: bool = False
    """No interface has the address."""

    def __str__(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.key}: {host}:{self.port}: {self.reason}"


def advise(unavailable: Sequence[UnavailablePort]) -> str:
    """How to correct the problem, as text."""
    if all(each.is_address_absent for each in unavailable):
        return "No interface of this machine has that address: correct the setting (server.addresses, edge.listen)."
    return "Stop and disable the program that uses the port, or set another port."


async def require_free(settings: Settings) -> None:
    """Fail permanently if ports of mail are not available, and name all of them.

    Waits up to two seconds for processes that are just exiting, such as those of a killed run.
    """
    for _ in range(_CHECKS):
        if not await asyncio.to_thread(find_unavailable, settings):
            return
        await asyncio.sleep(_PAUSE_SECONDS)
    if unavailable := await asyncio.to_thread(find_unavailable, settings):
        raise Failure(f"{'; '.join(map(str, unavailable))}. {advise(unavailable)}", permanent=True)


def find_unavailable(settings: Settings) -> list[UnavailablePort]:
    """The ports of the full profile that are not available on one of its addresses; each port once."""
    unavailable: list[UnavailablePort] = []
    mail, edge = settings.server.addresses or _ALL_ADDRESSES, settings.edge
    wanted = [(f"ports.{name}", port, mail) for name, port in dataclasses.asdict(settings.ports).items()]
    if edge.enabled:
        web = edge.listen or _ALL_ADDRESSES
        wanted += [("edge.http_port", edge.http_port, web), ("edge.https_port", edge.https_port, web)]
    for key, port, addresses in wanted:
        for address in addresses:
            if port and (problem := _bind_problem(address, port)):
                unavailable.append(UnavailablePort(key, address, port, *problem))
                break
    return unavailable


def _bind_problem(address: str, port: int) -> tuple[str, bool] | None:
    """The reason why listening fails, and whether no interface has the address; None if listening works."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))
            listener.listen(1)
    except OSError as error:
        if error.errno in _ABSENT and address in _ALL_ADDRESSES:
            return None
        holder = find_holder(port) if error.errno == errno.EADDRINUSE else None
        return f"used by {holder}" if holder else str(error.strerror), error.errno in _ABSENT
    return None


def find_holder(port: int) -> str | None:
    """The program that listens on a TCP port, on any address, as `name (pid n)`; None if it can't be seen.

    Forked children share the socket, so the program is the process whose parent does not have it. Only root sees the
    programs of other accounts (proc(5): /proc/net/tcp, /proc/pid/fd, /proc/pid/stat).
    """
    sockets = _listening_sockets(port)
    holders = [path for path in _PROC.glob("[0-9]*") if sockets and _has_descriptor(path / "fd", sockets)]
    pids = {path.name for path in holders}
    for path in holders:
        try:
            start, _, end = (path / "stat").read_text(errors="replace").rpartition(")")
        except OSError:
            continue
        if end.split()[1] not in pids:
            return f"{start.partition('(')[2]} (pid {path.name})"
    return None


def _listening_sockets(port: int) -> set[str]:
    """The sockets that listen on this TCP port, as /proc/pid/fd shows them."""
    sockets: set[str] = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for fields in map(str.split, (_PROC / "net" / table).read_text("ascii").splitlines()[1:]):
                if fields[3] == _LISTEN_STATE and int(fields[1].rpartition(":")[2], 16) == port:
                    sockets.add(f"socket:[{fields[9]}]")
    return sockets


def _has_descriptor(folder: Path, sockets: set[str]) -> bool:
    with suppress(OSError):  # another account's process, or it has just exited
        for descriptor in folder.iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) in sockets:
                    return True
    return False
