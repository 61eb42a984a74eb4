"""A daemon in a private root sees the named files, reaches only what listens in its network, and has no privileges."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core import private_root
from mailkeep.core.private_root import PrivateRoot
from tests.support.scratch import new_directory

pytestmark = pytest.mark.root

ACCOUNT = (64321, 64321)
PORT = 143
CLIENT = "2001:db8::5"
# Prints the outcome of each attempt by name. Its arguments: a Unix socket of the machine, and a TCP port.
PROGRAM = """
import ctypes, json, os, pathlib, socket, subprocess, sys
unix, port = sys.argv[1:]

def attempt(do):
    try:
        return do() or "done"
    except OSError as error:
        return type(error).__name__

def connect(family, address, source=None):
    with socket.socket(family) as each:
        each.settimeout(5)
        if source:
            each.bind((source, 0))
        each.connect(address)

print(json.dumps({
    "root folder": sorted(os.listdir("/")),
    "named": pathlib.Path("/etc/named/file").read_text(),
    "link": pathlib.Path("/etc/link").read_text(),
    "write": [attempt(lambda: pathlib.Path(each).write_text("")) for each in ("/x", "/etc/named/file", "/usr/x")],
    "write to the folder": attempt(lambda: pathlib.Path("/work/x").write_text("kept")),
    "run from the folder": attempt(lambda: (pathlib.Path("/work/sh").write_text("#!/nothing"),
                                            os.chmod("/work/sh", 0o755), subprocess.run(["/work/sh"]))),
    "shell": attempt(lambda: subprocess.run(["/bin/sh", "-c", "true"])),
    "tcp": attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", int(port)))),
    "unix": attempt(lambda: connect(socket.AF_UNIX, unix)),
    "own network": attempt(lambda: connect(socket.AF_INET6, ("::1", 143), "2001:db8::5")),
    "another port": attempt(lambda: connect(socket.AF_INET6, ("::1", 144))),
    "new namespace": ctypes.CDLL(None).unshare(0x10000000),
    "processes": len([each for each in os.listdir("/proc") if each.isdigit()]),
    "the machine": os.path.exists("/proc/net") or os.path.exists("/proc/mounts") or os.path.exists("/proc/1"),
    "uid": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
    "status": [line.split() for line in open("/proc/self/status")
               if line.startswith(("CapEff", "CapPrm", "NoNewPrivs"))],
}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    made = new_directory("mailkeep-root-", 0o755)
    yield made
    shutil.rmtree(made)


def test_daemon_in_a_private_root(folder: Path) -> None:
    for name in ("place", "work", "named"):
        (folder / name).mkdir()
    (folder / "named" / "file").write_text("text")
    os.chown(folder / "work", *ACCOUNT)
    python = Path(os.path.realpath("/usr/bin/python3"))
    same = [Path(each) for each in ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/dev/null", "/absent")]
    root = PrivateRoot(
        folder / "place",
        ACCOUNT,
        {**{each: each for each in (*same, python)}, Path("/etc/named"): folder / "named"},
        {Path("/work"): folder / "work"},
        {Path("/etc/link"): Path("named/file")},
    )
    namespace, listening = private_root.create_network({"imap": PORT})
    try:
        with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
            unix.bind(str(folder / "unix.sock"))
            unix.listen()
            (folder / "unix.sock").chmod(0o777)
            arguments = [str(folder / "unix.sock"), str(tcp.getsockname()[1])]
            command = private_root.make_command([str(python), "-c", PROGRAM, *arguments], root, {}, namespace)
            result = subprocess.run(command, capture_output=True, pass_fds=[namespace], check=False, timeout=60)
        assert result.returncode == 0, result.stderr.decode()
        found: dict[str, Any] = json.loads(result.stdout)
        listening["imap"].settimeout(5)
        accepted, (source, *_) = listening["imap"].accept()
        accepted.close()
        assert source == CLIENT
    finally:
        os.close(namespace)
        listening["imap"].close()
    assert found["root folder"] == ["dev", "etc", "lib", "lib64", "proc", "usr", "work"]
    assert found["named"] == found["link"] == "text"
    assert found["write"] == ["OSError"] * 3  # a read-only file system
    assert found["write to the folder"] == 4
    assert found["run from the folder"] == "PermissionError"
    assert found["shell"] == "FileNotFoundError"
    assert found["tcp"] == found["another port"] == "ConnectionRefusedError"
    assert found["unix"] == "FileNotFoundError"
    assert found["own network"] == "done"
    assert found["new namespace"] == -1
    assert found["processes"] == 1
    assert not found["the machine"]
    assert found["uid"] == [*ACCOUNT[:1] * 2, ACCOUNT[1], []]
    none = "0" * 16
    assert found["status"] == [["CapPrm:", none], ["CapEff:", none], ["NoNewPrivs:", "1"]]
    assert not list((folder / "place").iterdir())
    assert (folder / "work" / "x").read_text() == "kept"


def test_reason_why_the_root_can_not_be_prepared(folder: Path) -> None:
    root = PrivateRoot(folder / "absent", ACCOUNT, {Path("/usr"): Path("/usr")})
    command = private_root.make_command([sys.executable], root, {})
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert "The private root can't be prepared" in result.stderr
    assert "No such file or directory" in result.stderr
