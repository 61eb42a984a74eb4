"""Data directories that other accounts can enter or can't, and processes that may be killed."""

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
    """A forked process (our interpreter may lie where other accounts can't reach it) that can say lines."""

    pid: int
    pipe: int
    ended: bool = False

    def hears(self, timeout: float = 60) -> str:
        """The next line that the child says."""
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self.pipe], [], [], timeout)[0], "the child says nothing"
            byte = os.read(self.pipe, 1)
            assert byte, "the child ended without a word"
            line += byte
        return line.decode().strip()

    def kill(self) -> None:
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.ended = True


@pytest.fixture
def fork() -> Iterator[Callable[..., Child]]:
    """Runs `action(say)` in a child, as another account where one is named; ended after the test."""
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
            except BaseException as error:  # noqa: BLE001 - the child's only way to tell
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
def prepared() -> Iterator[Path]:
    """A data directory whose cluster is made and in order; to be copied, never started."""
    for data_dir in _directory(0o755):
        run(make(data_dir))
        (data_dir / "instance-id").unlink()
        yield data_dir


async def make(data_dir: Path) -> None:
    server = await postgres.start(data_dir)
    await server.stop()


@pytest.fixture
def made_dir(prepared: Path) -> Iterator[Path]:
    """A data directory that has a cluster: for tests that begin with its second start."""
    for data_dir in _directory(0o755):
        subprocess.run(["cp", "-a", str(prepared / "pg"), str(data_dir)], check=True)
        yield data_dir


@pytest.fixture
def closed_dir() -> Iterator[Path]:
    """A data directory below a folder that nobody else can enter."""
    for top in _directory(0o700, programs=True):
        data_dir = top / "data"
        data_dir.mkdir()
        yield data_dir


@pytest.fixture
def fallback_dir() -> Iterator[Path]:
    """What stands for /var/lib/mailkeep/pg."""
    yield from _directory(0o755, programs=True)


def _write(pipe: int, text: str) -> None:
    os.write(pipe, text.replace("\n", " ").encode() + b"\n")


def _directory(mode: int, *, programs: bool = False) -> Iterator[Path]:
    path = new_directory("mailkeep-test-", mode, programs=programs)
    yield path
    shutil.rmtree(path)
