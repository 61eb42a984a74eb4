"""Runs other programs' commands on a copy of files: without root, network, or access to what the instance keeps.

The commands run as `nobody` (`confinement.confine_program`) in namespaces of their own: mounts, network, processes,
IPC. All files of the machine are read-only, folders that are `hidden` are empty, and the copies are written to a file
system in memory, at the paths that they will have when they are used. Everything that was written or is still running
at the end is gone. Needs root with CAP_SYS_ADMIN, and Linux 5.12.

`run` starts a process that calls `main`, because the caller has threads. For each job a grandchild of that process, the
first in the job's namespaces, prepares the files and runs the commands. When it ends, the kernel ends all others.
"""

from __future__ import annotations

import fcntl
import ipaddress
import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mailkeep.core import confinement
from mailkeep.core.namespaces import (
    ATTR_NOSUID,
    ATTR_RDONLY,
    LIBRARY,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
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

PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from mailkeep.core.sandbox import main; main()"
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - in the sandbox
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/", "TMPDIR": _TEMPORARY[0]}
_HIDDEN = (*_TEMPORARY, "/dev/shm", "/home", "/media", "/mnt", "/root", "/run", "/srv")  # noqa: S108
"""Always hidden: other accounts' files, and all sockets of daemons."""
_STARTING_SECONDS = 15
_TIME_IS_UP, _NOT_RUN = 124, 127  # exit statuses, as of timeout(1) and a shell
_MEMORY = 4 << 30  # of address space: Rspamd reserves much and uses little
_FILE_BYTES = 32 << 20
_PROCESSES = 256
_OUTPUT_BYTES = 64 << 10

_PR_SET_PDEATHSIG = 1
_SIOCSIFFLAGS, _SIOCSIFADDR, _IFF_UP, _LOOPBACK_INDEX = 0x8914, 0x8916, 1, 1


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended: its exit status (negative: the signal), and the end of its output."""

    status: int
    output: str


@dataclass(frozen=True, slots=True)
class Files:
    """What the commands see besides the machine's public files. `copies`: the folder to copy for each path. `hidden`:
    folders that are empty. `writable`: further folders, empty at first.
    """

    copies: Mapping[Path, Path]
    hidden: Sequence[Path] = ()
    writable: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """Commands that run one after the other, up to the first that fails, and what they see."""

    commands: Sequence[Sequence[str]]
    files: Files


class SandboxError(Exception):
    """The sandbox can't be created; its text says why."""


def run(jobs: Sequence[Job], seconds: int, addresses: Sequence[str] = ()) -> list[list[Result]]:
    """The results of each job's commands. Jobs run at the same time and don't see each other; `seconds` is the limit
    for each. The only network interface is the loopback, which has the IP addresses `addresses` too. Blocks.
    SandboxError.
    """
    request = {"jobs": [_encode(job) for job in jobs], "seconds": seconds, "addresses": list(addresses)}
    argv = [sys.executable, "-I", "-S", "-c", PROGRAM, str(Path(__file__).parents[2])]
    result = subprocess.run(
        argv, input=json.dumps(request).encode(), capture_output=True, check=False, cwd="/", env=_ENVIRONMENT
    )
    if result.returncode != 0:
        lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1] if lines else f"status {result.returncode}"
        raise SandboxError(f"It can't run in a sandbox: {reason} (this needs root with CAP_SYS_ADMIN).")
    return [[Result(status, output) for status, output in job] for job in json.loads(result.stdout)]


def _encode(job: Job) -> Mapping[str, Any]:
    files = job.files
    return {
        "commands": [list(argv) for argv in job.commands],
        "copies": {str(target): str(source) for target, source in files.copies.items()},
        "hidden": [os.path.realpath(path) for path in files.hidden],
        "writable": [str(path) for path in files.writable],
    }


def main() -> None:
    """The process that `run` starts: reads a request from standard input, writes the results to standard output."""
    request: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    seconds = request["seconds"]
    signal.alarm(seconds + _STARTING_SECONDS * (len(request["jobs"]) + 1))  # in case that the kernel blocks
    try:
        # One for all jobs: the kernel takes a second or more to end a network namespace, and new ones wait for that.
        check(LIBRARY.unshare(NEWNET | NEWUTS), "unshare")
        _set_up_loopback(request["addresses"])
        children = [_fork(partial(_run_job, job, seconds)) for job in request["jobs"]]
        results = [_wait(child) for child in children]
    except OSError as error:
        raise SystemExit(str(error)) from None
    sys.stdout.write(json.dumps(results))


def _run_job(job: Mapping[str, Any], seconds: int) -> Any:
    check(LIBRARY.unshare(NEWNS | NEWIPC | NEWPID), "unshare")

    def run_as_first_process() -> Any:
        _prepare(job)
        return _run_all(job["commands"], seconds)

    return _wait(_fork(run_as_first_process))


def _fork(work: Callable[[], Any]) -> tuple[int, int]:
    """Start a child process, which is killed if this one ends: its ID, and the file descriptor of its answer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        answer: dict[str, Any] = {}
        try:
            check(LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
            answer["result"] = work()
        except Exception as error:  # noqa: BLE001 - reported to the parent
            answer["error"] = str(error)
        with os.fdopen(writer, "w") as file:
            file.write(json.dumps(answer))
        os._exit(0)
    os.close(writer)
    return child, reader


def _wait(started: tuple[int, int]) -> Any:
    """What a child process returns; OSError if it failed."""
    child, reader = started
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    answer = json.loads(text or '{"error": "a process was killed"}')
    if "error" in answer:
        raise OSError(answer["error"])
    return answer["result"]


def _set_up_loopback(addresses: Sequence[str]) -> None:
    """Some programs refuse to work without a network interface, or without one that has their address."""
    parsed = [ipaddress.ip_address(address) for address in addresses if address not in ("127.0.0.1", "::1")]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))
        for number, address in enumerate(each for each in parsed if each.version == 4):
            request = struct.pack("=16sHH4s16x", f"lo:{number}".encode(), socket.AF_INET, 0, address.packed)
            fcntl.ioctl(control, _SIOCSIFADDR, request)
    if addresses_6 := [each for each in parsed if each.version == 6]:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
            for address in addresses_6:
                fcntl.ioctl(control, _SIOCSIFADDR, struct.pack("=16sIi", address.packed, 128, _LOOPBACK_INDEX))


def _prepare(job: Mapping[str, Any]) -> None:
    """Make all files read-only, hide folders, and write the copies."""
    copies = [(target, _read_folder(source)) for target, source in job["copies"].items()]
    mount(None, "/", None, REC | PRIVATE)
    set_attributes("/", ATTR_RDONLY | ATTR_NOSUID)
    hidden = sorted({os.path.realpath(path) for path in (*_HIDDEN, *job["hidden"])})
    for path in hidden:
        if Path(path).is_dir():
            options = f"size={_FILE_BYTES * 2},nr_inodes=4096,mode={'1777' if path in _TEMPORARY else '755'}"
            mount("tmpfs", path, "tmpfs", NOSUID | NODEV | NOEXEC, options)
    mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)
    for target, content in copies:
        _write_folder(target, content)
    for path in job["writable"]:
        Path(path).mkdir(parents=True, exist_ok=True)
        os.chown(path, confinement.NOBODY, confinement.NOBODY)


def _read_folder(source: str) -> list[tuple[str, int, bytes]]:
    """The files of a folder: path, mode and content."""
    return [
        (os.path.relpath(path, source), stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for folder, _, names in os.walk(os.path.realpath(source))
        for path in (Path(folder, name) for name in names)
        if path.is_file()
    ]


def _write_folder(target: str, content: Sequence[tuple[str, int, bytes]]) -> None:
    folders = {target}
    Path(target).mkdir(parents=True, exist_ok=True)
    for name, mode, text in content:
        path = Path(target, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod(mode)
        os.chown(path, confinement.NOBODY, confinement.NOBODY)
        os.utime(path, (0, 0))  # Postfix waits two seconds before it reads a file that has just changed
        folders.add(str(path.parent))
    for folder in folders:
        os.chown(folder, confinement.NOBODY, confinement.NOBODY)


def _run_all(commands: Sequence[Sequence[str]], seconds: int) -> list[tuple[int, str]]:
    results: list[tuple[int, str]] = []
    deadline = time.monotonic() + seconds
    for argv in commands:
        status, output = _run(argv, seconds, deadline)
        results.append((status, output))
        if status != 0:
            break
    return results


def _run(argv: Sequence[str], seconds: int, deadline: float) -> tuple[int, str]:
    output = os.memfd_create("output")

    def confine() -> None:
        confinement.confine_program(_MEMORY, seconds, _FILE_BYTES, _PROCESSES)

    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=_ENVIRONMENT,
            preexec_fn=confine,  # noqa: PLW1509 - there are no threads
            start_new_session=True,
        )
        status = process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return _TIME_IS_UP, f"{argv[0]} took longer than {seconds} s and was ended."
    except (OSError, subprocess.SubprocessError) as error:
        return _NOT_RUN, f"{argv[0]}: {error}"
    finally:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # what the command left running
    size = os.fstat(output).st_size
    text = os.pread(output, _OUTPUT_BYTES, max(0, size - _OUTPUT_BYTES))
    os.close(output)
    return status, text.decode("utf-8", "replace")
