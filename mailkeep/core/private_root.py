"""Runs a daemon whose code is not trusted with a root folder and a network of its own.

The daemon sees the files that are named and nothing else: no socket of another program, no program to run, no other
account's processes. Its network has only a loopback, on which it reaches only what listens there (`create_network`). It
has an account without privileges or capabilities and can't gain any. Needs root with CAP_SYS_ADMIN, and Linux 5.12.

`make_command` returns a command that prepares this and then becomes the daemon, so that signals and the process ID are
the daemon's.
"""

from __future__ import annotations

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
from mailkeep.core.namespaces import (
    ATTR_NODEV,
    ATTR_NOEXEC,
    ATTR_NOSUID,
    ATTR_RDONLY,
    BIND,
    LIBRARY,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWUTS,
    NODEV,
    NOEXEC,
    NOSUID,
    PRIVATE,
    REC,
    check,
    mount,
    set_attributes,
)

PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from mailkeep.core.private_root import main; main()"

_DETACH = 2  # linux/fs.h
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
            check(LIBRARY.unshare(NEWNET), "unshare")
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
    parent = os.getppid()
    try:
        if plan["network"] is not None:
            check(LIBRARY.setns(plan["network"], NEWNET), "setns")
            os.close(plan["network"])
        check(LIBRARY.unshare(NEWNS | NEWUTS | NEWIPC), "unshare")
        _prepare(plan)
        user, group = plan["account"]
        os.fchown(2, user, group)
        confinement.confine_daemon((user, group))
        confinement.end_with_parent(parent)
        os.execve(plan["argv"][0], plan["argv"], plan["environment"])  # noqa: S606 - no shell
    except OSError as error:
        raise SystemExit(f"The private root can't be prepared (this needs root with CAP_SYS_ADMIN): {error}") from None


def _prepare(plan: Mapping[str, Any]) -> None:
    """Build the root folder at the place, and change to it."""
    place = plan["place"]
    mount(None, "/", None, REC | PRIVATE)
    mount("tmpfs", place, "tmpfs", NOSUID | NODEV | NOEXEC, "mode=755,size=1m,nr_inodes=4096")
    for path, source in plan["readable"].items():
        _bind(source, place + path)
    for path in plan["writable"]:
        Path(place + path).mkdir(parents=True, exist_ok=True)
    for path, target in plan["links"].items():
        Path(place + path).parent.mkdir(parents=True, exist_ok=True)
        Path(place + path).symlink_to(target)
    Path(place, "proc").mkdir()
    set_attributes(place, ATTR_RDONLY | ATTR_NOSUID)
    for path, source in plan["writable"].items():
        mount(source, place + path, None, BIND)
        set_attributes(place + path, ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC)
    # Only processes of the own account, and nothing about the machine.
    mount("proc", f"{place}/proc", "proc", NOSUID | NODEV | NOEXEC, "hidepid=2,subset=pid")
    os.chdir(place)
    check(LIBRARY.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    check(LIBRARY.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def _bind(source: str, target: str) -> None:
    path = Path(target)
    if Path(source).is_dir():
        path.mkdir(parents=True, exist_ok=True)
    elif Path(source).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    else:
        return
    mount(os.path.realpath(source), target, None, BIND | REC)
