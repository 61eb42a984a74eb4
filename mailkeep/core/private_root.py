"""Runs a daemon whose code is not trusted with a root folder and a network of its own.

The daemon sees the files that are named and nothing else: no socket of another program, no program to run, no other
account's processes. Its network has only a loopback, on which it reaches only what listens there (`create_network`). It
has an account without privileges or capabilities and can't gain any. Needs root with CAP_SYS_ADMIN, and Linux 5.12.

`make_command` returns a command that prepares this and then becomes the daemon, so that signals and the process ID are
the daemon's.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mailkeep.core import confinement

PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from mailkeep.core.private_root import main; main()"

# linux/sched.h, linux/mount.h, asm/unistd.h
_NEWNS, _NEWUTS, _NEWIPC, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE, _DETACH = 2, 4, 8, 0x1000, 0x4000, 0x40000, 2
_MOUNT_SETATTR, _ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV, _ATTR_NOEXEC, _AT_RECURSIVE = 442, 1, 2, 4, 8, 0x8000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SIOCSIFFLAGS, _IFF_UP, _LOOPBACK_INDEX = 0x8914, 1, 1
# linux/rtnetlink.h: a route of type local to ::/0 in the local table, for any address as a source.
_NEWROUTE, _REQUEST, _ACK, _EXCLUSIVE, _CREATE = 24, 1, 4, 0x200, 0x400
_TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_UNIVERSE, _TYPE_LOCAL, _ATTRIBUTE_OIF, _ERROR = 255, 3, 0, 2, 4, 2


@dataclass(frozen=True, slots=True)
class PrivateRoot:
    """What the daemon sees. `readable`: files and folders by their path in the private root; those that do not exist
    are left out. `writable`: folders, likewise, in which it may also create files, but run none. `links`: symbolic
    links, with their targets. `place`: an existing folder, on which the root is mounted while it is prepared.
    """

    place: Path
    account: tuple[int, int]
    readable: Mapping[Path, Path]
    writable: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    links: Mapping[Path, Path] = field(default_factory=dict[Path, Path])


def make_command(
    argv: Sequence[str], root: PrivateRoot, environment: Mapping[str, str], network: int | None = None
) -> list[str]:
    """The command that runs `argv` in the private root; `network` is the inherited descriptor of a network namespace.
    The standard error stream becomes the account's, so that the daemon can open it by its path.
    """
    plan = {
        "argv": list(argv),
        "environment": dict(environment),
        "network": network,
        "place": str(root.place),
        "account": list(root.account),
        "readable": {str(path): str(source) for path, source in root.readable.items()},
        "writable": {str(path): str(source) for path, source in root.writable.items()},
        "links": {str(path): str(target) for path, target in root.links.items()},
    }
    return [sys.executable, "-I", "-S", "-c", PROGRAM, str(Path(__file__).parents[2]), json.dumps(plan)]


def create_network(ports: Mapping[str, int], backlog: int = 511) -> tuple[int, dict[str, socket.socket]]:
    """A network namespace with only a loopback: its descriptor, and sockets that listen in it on `::1`, by name.

    There each IPv6 address is local, so that a client may use any as the source of its connection. OSError without the
    right to create it, or without IPv6.
    """
    result: list[tuple[int, dict[str, socket.socket]]] = []
    errors: list[OSError] = []

    def create() -> None:
        try:
            library = ctypes.CDLL(None, use_errno=True)
            _check(library.unshare(_NEWNET), "unshare")
            _set_up_network()
            listening = {name: _listen(port, backlog) for name, port in ports.items()}
            result.append((os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC), listening))
        except OSError as error:
            errors.append(error)

    # A thread of its own: only its network changes.
    thread = threading.Thread(target=create)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]


def _set_up_network() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))
    settings = Path("/proc/sys/net/ipv6")
    (settings / "conf/lo/disable_ipv6").write_text("0")
    (settings / "ip_nonlocal_bind").write_text("1")
    attribute = struct.pack("=HHi", 8, _ATTRIBUTE_OIF, _LOOPBACK_INDEX)
    route = struct.pack(
        "=BBBBBBBBI", socket.AF_INET6, 0, 0, 0, _TABLE_LOCAL, _PROTOCOL_BOOT, _SCOPE_UNIVERSE, _TYPE_LOCAL, 0
    )
    body = route + attribute
    header = struct.pack("=IHHII", 16 + len(body), _NEWROUTE, _REQUEST | _ACK | _CREATE | _EXCLUSIVE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.settimeout(5)
        netlink.send(header + body)
        answer = netlink.recv(4096)
    kind, code = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    if kind != _ERROR or code != 0:
        raise OSError(-code, f"adding a route: {os.strerror(-code)}")


def _listen(port: int, backlog: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("::1", port))
        listening.listen(backlog)
    except OSError:
        listening.close()
        raise
    return listening


def main() -> None:
    """The process that a command of `make_command` starts, which becomes the daemon."""
    plan: dict[str, Any] = json.loads(sys.argv[2])
    library, parent = ctypes.CDLL(None, use_errno=True), os.getppid()
    try:
        if plan["network"] is not None:
            _check(library.setns(plan["network"], _NEWNET), "setns")
            os.close(plan["network"])
        _check(library.unshare(_NEWNS | _NEWUTS | _NEWIPC), "unshare")
        _prepare(library, plan)
        user, group = plan["account"]
        os.fchown(2, user, group)
        confinement.confine_daemon((user, group))
        confinement.end_with_parent(parent)
        os.execve(plan["argv"][0], plan["argv"], plan["environment"])  # noqa: S606 - no shell
    except OSError as error:
        raise SystemExit(f"The private root can't be prepared (this needs root with CAP_SYS_ADMIN): {error}") from None


def _prepare(library: ctypes.CDLL, plan: Mapping[str, Any]) -> None:
    """Build the root folder at the place, and change to it."""
    place = plan["place"]
    _mount(library, None, "/", None, _REC | _PRIVATE)
    _mount(library, "tmpfs", place, "tmpfs", _NOSUID | _NODEV | _NOEXEC, "mode=755,size=1m,nr_inodes=4096")
    for path, source in plan["readable"].items():
        _bind(library, source, place + path)
    for path in plan["writable"]:
        Path(place + path).mkdir(parents=True, exist_ok=True)
    for path, target in plan["links"].items():
        Path(place + path).parent.mkdir(parents=True, exist_ok=True)
        Path(place + path).symlink_to(target)
    Path(place, "proc").mkdir()
    _set_attributes(library, place, _ATTR_RDONLY | _ATTR_NOSUID)
    for path, source in plan["writable"].items():
        _mount(library, source, place + path, None, _BIND)
        _set_attributes(library, place + path, _ATTR_NOSUID | _ATTR_NODEV | _ATTR_NOEXEC)
    # Only processes of the own account, and nothing about the machine.
    _mount(library, "proc", f"{place}/proc", "proc", _NOSUID | _NODEV | _NOEXEC, "hidepid=2,subset=pid")
    os.chdir(place)
    _check(library.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _check(library.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def _bind(library: ctypes.CDLL, source: str, target: str) -> None:
    path = Path(target)
    if Path(source).is_dir():
        path.mkdir(parents=True, exist_ok=True)
    elif Path(source).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    else:
        return
    _mount(library, os.path.realpath(source), target, None, _BIND | _REC)


def _set_attributes(library: ctypes.CDLL, path: str, attributes: int) -> None:
    """Set attributes of the mounts at and below a path."""
    request = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    _check(
        library.syscall(_MOUNT_SETATTR, -1, path.encode(), _AT_RECURSIVE, request, ctypes.sizeof(request)),
        "mount_setattr",
    )


def _mount(
    library: ctypes.CDLL, source: str | None, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    values = [value.encode() if value is not None else None for value in (source, target, kind, options)]
    _check(library.mount(values[0], values[1], values[2], ctypes.c_ulong(flags), values[3]), f"mount {target}")


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
