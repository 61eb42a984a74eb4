"""Runs a program that reads untrusted input, such as Pigeonhole's compiler, in isolation.

The program has an account without privileges, no capabilities, and an empty environment. It can't open sockets, start
processes or send signals, and sees no files besides the system's programs and libraries, those in its arguments, and
`writable`. Its CPU time, memory, files and output are limited. Input is in memory, so that nothing is left behind,
however it ends.

This needs Linux 5.19 with Landlock, on x86_64 or aarch64. Elsewhere `IsolationUnavailable` is raised: the program never
runs without isolation. See docs/decisions/0061-isolated-programs.md.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mailkeep.core.confinement import NOBODY, has_call_filter
from mailkeep.core.landlock import MIN_VERSION, find_version

_READABLE = (
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share/dovecot", "/bin", "/sbin", "/lib",
    "/lib64", "/etc/ld.so.cache", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/dev/null",
    "/dev/urandom", "/proc/self",
)  # fmt: skip
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = {"PATH": _PATH, "LC_ALL": "C.UTF-8"}
_LAUNCH_FAILED = 125
_MARK = b"mailkeep isolation: "
_OPEN_FILES = 64

# -I ignores the environment and the working directory, -S the installed packages. The limit on processes is set last:
# with it, a change of the account would forbid the program's start.
_LAUNCHER = f"""
import json, os, resource, sys
sys.path.insert(0, sys.argv[1])
try:
    from mailkeep.core.confinement import confine, end_with_parent
    from mailkeep.core.landlock import restrict_files
    plan = json.loads(sys.argv[2])
    first = 3  # uvloop passes on all inheritable descriptors: sockets on which the API listens
    for kept in [*plan["descriptors"], 2**31 - 1]:
        os.closerange(first, kept)
        first = kept + 1
    restrict_files(plan["readable"], plan["writable"])
    resource.setrlimit(resource.RLIMIT_CPU, (plan["cpu_seconds"], plan["cpu_seconds"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (plan["file_bytes"], plan["file_bytes"]))
    resource.setrlimit(resource.RLIMIT_NOFILE, ({_OPEN_FILES}, {_OPEN_FILES}))
    confine(plan["memory"], account=tuple(plan["account"]), may_execute=True)
    end_with_parent(plan["parent"])
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    os.execve(sys.argv[3], sys.argv[3:], plan["environment"])
except BaseException as error:
    os.write(2, {_MARK!r} + repr(error).encode())
    os._exit({_LAUNCH_FAILED})
"""


class IsolationUnavailable(Exception):
    """This machine can't isolate the program; the message says why."""


@dataclass(frozen=True, slots=True)
class IsolationLimits:
    """Limits of a program: CPU time and elapsed time in seconds, the rest in bytes. `output`: of each stream."""

    cpu_seconds: int = 8
    seconds: float = 60.0
    memory: int = 256 << 20
    file_bytes: int = 1 << 20
    output: int = 1 << 20


@dataclass(frozen=True, slots=True)
class IsolationResult:
    """How a program ended. `status`: its exit status; None if it was ended, because it exceeded a limit or crashed."""

    status: int | None
    output: bytes
    errors: bytes


@dataclass(frozen=True, slots=True)
class IsolationAccess:
    """What a program may use: its account (used if this process is root), folders that it may change, and variables."""

    account: tuple[int, int] = (NOBODY, NOBODY)
    writable: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def find_obstacle() -> str | None:
    """Why programs can't be isolated on this machine; None if they can."""
    if not has_call_filter():
        return "this machine's architecture is neither x86_64 nor aarch64"
    if find_version() < MIN_VERSION:
        return "the kernel has no Landlock (Linux 5.19 or later, with `landlock` in its `lsm` parameter)"
    return None


def find_program(name: str) -> str | None:
    """The path of an installed program; None without it."""
    return shutil.which(name, path=_PATH)


async def run_isolated(
    program: str,
    arguments: Sequence[str | bytes],
    stdin: bytes = b"",
    *,
    access: IsolationAccess | None = None,
    limits: IsolationLimits | None = None,
) -> IsolationResult:
    """Run a program, by its path. An argument that is `bytes` is the content of a file, whose path the program gets
    instead. Raises IsolationUnavailable.
    """
    if obstacle := find_obstacle():
        raise IsolationUnavailable(obstacle)
    access, limits = access or IsolationAccess(), limits or IsolationLimits()
    with ExitStack() as files:
        descriptors: list[int] = []
        words = [program]
        for word in arguments:
            if isinstance(word, bytes):
                descriptors.append(_open_content(word, files))
                words.append(f"/dev/fd/{descriptors[-1]}")
            else:
                words.append(word)
        launcher = (sys.executable, "-I", "-S", "-c", _LAUNCHER, str(Path(__file__).parents[2]))
        process = await asyncio.create_subprocess_exec(
            *launcher,
            _plan(access, limits, descriptors),
            *words,
            stdin=_open_content(stdin, files),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=descriptors,
            cwd="/",
            env={},
        )
        output, errors, is_within = await _wait(process, limits)
    if process.returncode == _LAUNCH_FAILED and errors.startswith(_MARK):
        raise IsolationUnavailable(errors.removeprefix(_MARK).decode("utf-8", "replace"))
    status = process.returncode if is_within and (process.returncode or 0) >= 0 else None
    return IsolationResult(status, output, errors)


def _plan(access: IsolationAccess, limits: IsolationLimits, descriptors: Sequence[int]) -> str:
    writable = [str(path) for path in access.writable]
    return json.dumps(
        {
            "descriptors": sorted(descriptors),
            "readable": [*_READABLE, *writable],
            "writable": ["/dev/null", *writable],
            "account": access.account,
            "cpu_seconds": limits.cpu_seconds,
            "file_bytes": limits.file_bytes,
            "memory": limits.memory,
            "parent": os.getpid(),
            "environment": {**_ENVIRONMENT, **access.environment},
        }
    )


def _open_content(content: bytes, files: ExitStack) -> int:
    """A descriptor of a file in memory that nobody can change."""
    descriptor = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    files.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


async def _wait(process: asyncio.subprocess.Process, limits: IsolationLimits) -> tuple[bytes, bytes, bool]:
    """The output and errors of a process, and whether it kept the limits. It is always read to its end: otherwise
    asyncio waits for its pipes forever.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    reading = [
        asyncio.create_task(_read(stream, limits.output, process)) for stream in (process.stdout, process.stderr)
    ]
    has_ended = False
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(limits.seconds):
                await asyncio.wait(reading)  # does not cancel them
                await process.wait()
                has_ended = True
    finally:
        if not has_ended:
            _kill(process)
        contents = await asyncio.gather(*reading)
        await process.wait()
    output, errors = contents
    return output or b"", errors or b"", has_ended and None not in contents


async def _read(stream: asyncio.StreamReader, limit: int, process: asyncio.subprocess.Process) -> bytes | None:
    """All of a stream; None if it has more than `limit` bytes, and then the process is killed."""
    content = bytearray()
    is_over = False
    while chunk := await stream.read(64 << 10):
        if not is_over:
            content += chunk
            if len(content) > limit:
                is_over = True
                _kill(process)
    return None if is_over else bytes(content)


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
