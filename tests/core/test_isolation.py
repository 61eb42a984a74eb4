"""An isolated program reaches nothing and nobody, keeps its limits, and ends with its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from mailkeep.core import landlock
from mailkeep.core.isolation import (
    IsolationAccess,
    IsolationLimits,
    IsolationResult,
    IsolationUnavailable,
    find_obstacle,
    run_isolated,
)

if obstacle := find_obstacle():
    pytest.skip(f"no isolation: {obstacle}", allow_module_level=True)

OWN = (os.getuid(), os.getgid())


async def bash(script: str, *arguments: str | bytes, **more: object) -> IsolationResult:
    """Run a script of bash, whose built-in commands need no further process."""
    return await run_isolated("/bin/bash", ["-c", script, "bash", *arguments], **more)  # type: ignore[arg-type]


async def test_it_reaches_no_files_sockets_and_processes(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("canary\n")
    secret.chmod(0o644)
    tmp_path.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server, subprocess.Popen(["sleep", "60"]) as other:
        script = """
        try() { if eval "$2" 2>/dev/null; then echo "$1 works"; fi; }
        try secret 'read -r line < "$1"'
        try environment 'read -r line < /proc/$3/environ'
        try network 'exec 3<>/dev/tcp/127.0.0.1/$2'
        try signal 'kill -9 $3'
        try parent 'kill -9 $PPID'
        try write 'echo x > /tmp/isolation-canary'
        try variables '[ -n "$HOME$USER$CANARY" ]'
        read -r line < "$4" && echo "input: $line"
        """
        os.environ["CANARY"] = "x"
        result = await bash(script, str(secret), str(server.getsockname()[1]), str(other.pid), b"for it\n")
        is_alive = other.poll() is None
        other.kill()
    assert (result.output, is_alive) == (b"input: for it\n", True), result
    forked = await bash("(echo forked)")
    assert (forked.output, b"fork" in forked.errors) == (b"", True)
    assert not Path("/tmp/isolation-canary").exists()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_it_inherits_nothing(run: Callable[[Coroutine[Any, Any, IsolationResult]], IsolationResult]):
    """With uvloop it got the sockets on which the API listens, and could accept its connections."""
    script = 'for n in {0..4096}; do if [ -e /proc/self/fd/$n ]; then echo -n "$n "; fi; done; echo "$1"'
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        result = run(bash(script, b"content"))
    *descriptors, path = result.output.decode().split()
    assert [f"/dev/fd/{descriptor}" for descriptor in descriptors if int(descriptor) > 2] == [path]


async def test_it_can_change_only_its_folders(tmp_path: Path):
    folder = tmp_path / "own"
    folder.mkdir()
    access = IsolationAccess(OWN, [folder], {"HOME": str(folder)})
    result = await bash('echo yes > "$HOME/x"; echo no > "$HOME/../y"', access=access)
    assert ((folder / "x").read_text(), (tmp_path / "y").exists()) == ("yes\n", False)
    assert b"Permission denied" in result.errors
    await bash('while :; do echo 0123456789abcdef; done > "$HOME/x"', access=access)
    assert (folder / "x").stat().st_size <= IsolationLimits().file_bytes


@pytest.mark.parametrize(
    "script", ["while :; do :; done", "while :; do echo xxxxxxxxxxxxxxxx; done", "while :; do echo x >&2; done"]
)
async def test_what_exceeds_a_limit_is_ended(script: str):
    limits = IsolationLimits(cpu_seconds=1, output=1 << 16)
    assert await bash(script, limits=limits) == IsolationResult(None, b"", b"")


async def test_it_is_ended_when_its_time_is_over_and_when_the_caller_gives_up():
    limits = IsolationLimits(seconds=0.5)
    assert (await run_isolated("/bin/sleep", ["300"], limits=limits)).status is None
    task = asyncio.create_task(run_isolated("/bin/sleep", ["300"]))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)


async def test_memory_is_limited():
    result = await bash('x=0123456789; while :; do x="$x$x"; done', limits=IsolationLimits(memory=64 << 20))
    assert result.status != 0
    assert b"allocate" in result.errors


async def test_it_does_not_run_without_isolation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("mailkeep.core.isolation.find_version", lambda: 1)
    with pytest.raises(IsolationUnavailable, match="Landlock"):
        await run_isolated("/bin/true", [])
    monkeypatch.undo()
    with pytest.raises(IsolationUnavailable):  # the program is outside of what may be read
        await run_isolated(str(tmp_path / "program"), [])
    assert landlock.find_version() >= landlock.MIN_VERSION


PARENT = """
import asyncio
from mailkeep.core.isolation import run_isolated
asyncio.run(run_isolated("/bin/bash", ["-c", "exec sleep 300"]))
"""


def test_it_ends_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", PARENT]) as parent:
        child = _child_of(parent.pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait(20)
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}").exists() and _state(child) != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _child_of(pid: int) -> int:
    """The child that runs `sleep`."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "sleep":
                return int(child)
        time.sleep(0.05)
    raise AssertionError("the program did not start")


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
