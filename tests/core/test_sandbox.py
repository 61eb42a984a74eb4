"""Commands in a sandbox see only a copy of files and public files of the machine, reach nobody, and leave nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.core import sandbox
from tests.support.scratch import new_directory

pytestmark = pytest.mark.root

# Prints the outcome of each attempt by name. Its arguments: a hidden file, a Unix socket, a TCP port.
PROGRAM = """
import json, os, pathlib, socket, subprocess, sys
hidden, unix, port = sys.argv[1:]

def attempt(do):
    try:
        result = do()
    except OSError as error:
        return type(error).__name__
    return result or "done"

def connect(family, address):
    with socket.socket(family) as each:
        each.connect(address)

def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as each:
        each.sendto(b"x", address)

print(json.dumps({
    "copy": attempt(lambda: pathlib.Path("/srv/copy/folder/file").read_text()),
    "write the copy": attempt(lambda: pathlib.Path("/srv/copy/folder/new").write_text("")),
    "write": [attempt(lambda: pathlib.Path(each).write_text("")) for each in ("/etc/x", "/usr/x", "/var/lib/x")],
    "hidden": attempt(lambda: pathlib.Path(hidden).read_text()),
    "root": attempt(lambda: pathlib.Path("/etc/shadow").read_text()),
    "tcp": attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", int(port)))),
    "udp": attempt(lambda: send(socket.AF_INET, ("127.0.0.1", int(port)))),
    "unix": attempt(lambda: connect(socket.AF_UNIX, unix)),
    "unix message": attempt(lambda: send(socket.AF_UNIX, unix)),
    "mount": subprocess.run(["mount", "-t", "tmpfs", "x", "/srv"], capture_output=True).returncode != 0,
    "processes": len([each for each in os.listdir("/proc") if each.isdigit()]),
    "uid": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
    "status": [line.split() for line in open("/proc/self/status")
               if line.startswith(("CapEff", "CapPrm", "Seccomp:", "NoNewPrivs"))],
}))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = new_directory("mailkeep-sandbox-", 0o755)
    (folder / "copied" / "folder").mkdir(parents=True)
    (folder / "copied" / "folder" / "file").write_text("copied")
    (folder / "copied" / "folder" / "file").chmod(0o600)
    (folder / "secret").write_text("secret")
    yield folder
    shutil.rmtree(folder)


def test_a_command_reaches_nothing_but_its_copy(folder: Path) -> None:
    files = sandbox.Files(copies={Path("/srv/copy"): folder / "copied"}, hidden=[folder])
    # In a folder that isn't hidden, as sockets of other programs may be.
    unix = Path("/var/lib") / f"mailkeep-{os.getpid()}.sock"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(unix))
        try:
            listener.listen()
            unix.chmod(0o777)
            # The system's Python: the one of the tests may be in a hidden folder.
            argv = [_system_python(), "-c", PROGRAM, str(folder / "secret"), str(unix), str(tcp.getsockname()[1])]
            ((result,),) = sandbox.run([sandbox.Job([argv], files)], 60)
        finally:
            unix.unlink()
    assert result.status == 0, result.output
    report = json.loads(result.output)
    assert report == {
        "copy": "copied",
        "write the copy": "done",
        "write": ["OSError"] * 3,  # read-only
        "hidden": "FileNotFoundError",
        "root": "PermissionError",
        "tcp": "PermissionError",
        "udp": "PermissionError",
        "unix": "PermissionError",
        "unix message": "PermissionError",
        "mount": True,
        "processes": 2,
        "uid": [65534, 65534, 65534, []],
        "status": [["CapPrm:", "0" * 16], ["CapEff:", "0" * 16], ["NoNewPrivs:", "1"], ["Seccomp:", "2"]],
    }
    assert sorted(path.name for path in folder.rglob("*")) == ["copied", "file", "folder", "secret"]


def _system_python() -> str:
    return next(path for path in (shutil.which("python3", path="/usr/bin"), sys.executable) if path)


def test_commands_have_limits_and_leave_no_process() -> None:
    mark = f"36{os.getpid()}"
    left = ["sh", "-c", f"sleep {mark} & setsid sleep {mark} & echo done"]
    endless = ["sh", "-c", f"sleep {mark} & while :; do :; done"]
    large = [
        "sh",
        "-c",
        "head -c 100000000 /dev/zero > /tmp/x; stat -c %s /tmp/x; head -c 200000 /dev/zero | tr '\\0' x",
    ]
    jobs = [sandbox.Job([argv, ["true"]], sandbox.Files({})) for argv in (left, endless, large, ["/no/such"])]
    first, second, third, fourth = sandbox.run(jobs, 3)
    assert [(each.status, each.output) for each in first] == [(0, "done\n"), (0, "")]
    assert [each.status for each in second] in ([124], [-9])  # ended by the clock or by the limit of CPU time
    assert (len(third), len(third[0].output)) == (2, 64 << 10)
    assert [(each.status, "/no/such" in each.output) for each in fourth] == [(127, True)]
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [each for each in commands if mark.encode() in each and b"sleep" in each]


def test_a_machine_without_namespaces_gets_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    without = "prctl = __import__('ctypes').CDLL(None).prctl; prctl(24, 21, 0, 0, 0);"  # drops CAP_SYS_ADMIN at exec
    argv = f"[sys.executable, '-I', '-c', {sandbox.PROGRAM!r}, sys.argv[1]]"
    program = f"import os, sys; {without} os.execv(sys.executable, {argv})"
    monkeypatch.setattr(sandbox, "PROGRAM", program)
    with pytest.raises(sandbox.SandboxError, match="can't run in a sandbox: unshare: Operation not permitted"):
        sandbox.run([sandbox.Job([["true"]], sandbox.Files({}))], 5)
