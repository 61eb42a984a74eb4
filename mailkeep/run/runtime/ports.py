"""Where mail is served (`ports.*`, `server.addresses`), looked at before the daemons want it.

A daemon ends over a port that another program has, and says so to its log alone. On a fresh machine this is most often
port 25, which Debian's own mail server has.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.settings import Settings

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what the daemons listen on where no address is given
_LISTENS = "0A"
_LOOKS, _PAUSE_SECONDS = 20, 0.1
# Of a machine without IPv6, where nobody listens on its addresses.
_ABSENT = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


@dataclass(frozen=True, slots=True)
class UnavailablePort:
    """A port that can't be had: the setting's key, the address, the port, and why, in words."""

    key: str
    address: str
    port: int
    reason: str
    is_address_absent: bool = False
    """No interface has the address."""

    def __str__(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{self.key}: {host}:{self.port}: {self.reason}"


def advice(found: Sequence[UnavailablePort]) -> str:
    """What to do about ports that can't be had."""
    if all(each.is_address_absent for each in found):
        return "No interface of this machine has that address: correct server.addresses, or add the address."
    return "Stop and disable the program that has the port, or set another port."


async def require_free(settings: Settings) -> None:
    """Failure where another program has a port of the mail's, with all that are taken.

    Who is just ending, as what a killed run left behind, is waited for.
    """
    found = find_unavailable(settings)
    for _ in range(_LOOKS):
        if not found:
            return
        await asyncio.sleep(_PAUSE_SECONDS)
        found = await asyncio.to_thread(find_unavailable, settings)
    if found:
        told = "; ".join(map(str, found))
        raise Failure(
            f"{told}. {advice(found)}",
            permanent=True,
        )


def find_unavailable(settings: Settings) -> list[UnavailablePort]:
    """The ports of the full profile that can't be had on one of its addresses, each told once."""
    ports = {name: port for name, port in dataclasses.asdict(settings.ports).items() if port}
    found: list[UnavailablePort] = []
    for name, port in ports.items():
        for address in settings.server.addresses or _EVERYWHERE:
            if refused := _bind_problem(address, port):
                why, absent = refused
                found.append(UnavailablePort(f"ports.{name}", address, port, why, absent))
                break
    return found


def _bind_problem(address: str, port: int) -> tuple[str, bool] | None:
    """Why nobody can listen there, and whether the address is absent; None: one can."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family is socket.AF_INET6:
                tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            tried.bind((address, port))
            tried.listen(1)
    except OSError as error:
        if error.errno in _ABSENT and address in _EVERYWHERE:
            return None
        holder = find_holder(port) if error.errno == errno.EADDRINUSE else None
        return f"taken by {holder}" if holder else str(error.strerror), error.errno in _ABSENT
    return None


def find_holder(port: int) -> str | None:
    """The program that listens on a TCP port, on whichever address, as `name (pid n)`; None where it can't be seen.

    Other accounts' programs are seen by root alone (proc(5), /proc/net/tcp and /proc/pid/fd).
    """
    inodes: set[str] = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for process in Path("/proc").iterdir():
        if inodes and re.fullmatch("[0-9]+", process.name) and _has(process / "fd", inodes):
            try:
                return f"{(process / 'comm').read_text(errors='replace').strip()} (pid {process.name})"
            except OSError:
                continue
    return None


def _has(descriptors: Path, wanted: set[str]) -> bool:
    with contextlib.suppress(OSError):  # it is another account's, or has just ended
        for descriptor in descriptors.iterdir():
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()) in wanted:
                    return True
    return False
