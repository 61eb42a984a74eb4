"""Data directories with different permissions, and child processes that tests kill."""

from __future__ import annotations

import asyncio
import os
import pwd
import select
import shutil
import signal
import subprocess
import traceback
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mailkeep.db import postgres
from tests.support.scratch import new_directory

Say = Callable[[str], None]


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()


@dataclass
class Child:
    """A forked process that writes lines to a pipe. (Other accounts may not have access to our interpreter.)"""

    pid: int
    pipe: int
    ended: bool = False

    def read_line(self, timeout: float = 60) -> str:
        """The next line from the child."""
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self.pipe], [], [], timeout)[0], "the child writes nothing"
            byte = os.read(self.pipe, 1)
            assert byte, "the child ended without a line"
            line += byte
        return line.decode().strip()

    def kill(self) -> None:
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.ended = True


@pytest.fixture
def fork() -> Iterator[Callable[..., Child]]:
    """Runs `action(say)` in a child process, as `account` if given; killed after the test."""
    children: list[Child] = []

    def start(action: Callable[[Say], None], account: str | None = None) -> Child:
        entry = pwd.getpwnam(account) if account else None
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                if entry:
                    os.setgroups([])
                    os.setgid(entry.pw_gid)
                    os.setuid(entry.pw_uid)
                action(lambda text: _write(writer, text))
            except BaseException as error:  # noqa: BLE001 - reported to the test
                traceback.print_exc()
                _write(writer, f"{type(error).__name__}: {error}")
            finally:
                os._exit(0)
        os.close(writer)
        children.append(Child(pid, reader))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        os.close(child.pipe)


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """A data directory that every account can enter."""
    yield from _directory(0o755)


@pytest.fixture(scope="session")
def cluster_template() -> Iterator[Path]:
    """A data directory with a database cluster, to be copied."""
    for data_dir in _directory(0o755):
        run(create_cluster(data_dir))
        (data_dir / "instance-id").unlink()
        yield data_dir


async def create_cluster(data_dir: Path) -> None:
    server = await postgres.start(data_dir)
    await server.stop()


@pytest.fixture
def cluster_dir(cluster_template: Path) -> Iterator[Path]:
    """A data directory with a cluster, for tests of later starts."""
    for data_dir in _directory(0o755):
        subprocess.run(["cp", "-a", str(cluster_template / "pg"), str(data_dir)], check=True)
        yield data_dir


@pytest.fixture
def closed_dir() -> Iterator[Path]:
    """A data directory below a folder that other accounts can't enter."""
    for top in _directory(0o700, programs=True):
        data_dir = top / "data"
        data_dir.mkdir()
        yield data_dir


@pytest.fixture
def fallback_dir() -> Iterator[Path]:
    """Replaces /var/lib/mailkeep/pg."""
    yield from _directory(0o755, programs=True)


def _write(pipe: int, text: str) -> None:
    os.write(pipe, text.replace("\n", " ").encode() + b"\n")


def _directory(mode: int, *, programs: bool = False) -> Iterator[Path]:
    path = new_directory("mailkeep-test-", mode, programs=programs)
    yield path
    shutil.rmtree(path)
