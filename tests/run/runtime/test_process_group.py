"""A process that runs several times: started together, replaced, stopped together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from mailkeep.run.runtime import child

T = TypeVar("T")

# Each process writes its ID into a file, and then waits; the parent writes `ready`.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from mailkeep.run.runtime import process_group
folder, processes, behaviour = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
memory = process_group.create_memory(16, processes)

def serve():
    if behaviour == "fails" and memory.slot == 1:
        raise ValueError("it fails")
    (folder / f"slot{memory.slot}-{os.getpid()}").touch()
    process_group.report_ready(memory)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    time.sleep(60)

def ended(slot):
    (folder / f"ended{slot}").touch()

group = process_group.ProcessGroup(memory, serve, (folder / "ready").touch, ended)
sys.exit(group.run(0))
"""


def start(folder: Path, behaviour: str = "serves") -> subprocess.Popen[bytes]:
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), "3", behaviour],
            stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def pids(folder: Path) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for file in folder.glob("slot*"):
        slot, _, pid = file.name.removeprefix("slot").partition("-")
        found.setdefault(int(slot), set()).add(int(pid))
    return found


def eventually(look: Callable[[], T], seconds: float = 60) -> T:
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    parent = start(tmp_path)
    eventually((tmp_path / "ready").exists)
    yield parent
    for pid in child.list_session(parent.pid):
        os.kill(pid, signal.SIGKILL)
    parent.wait(60)
    assert parent.stdin
    parent.stdin.close()


def test_one_that_exits_is_replaced_in_its_slot_and_the_others_stay(
    parent: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    first = pids(tmp_path)
    assert {slot: len(each) for slot, each in first.items()} == {0: 1, 1: 1, 2: 1}
    os.kill(next(iter(first[1])), signal.SIGKILL)
    after = eventually(lambda: found if len((found := pids(tmp_path))[1]) == 2 else None)
    assert after is not None
    assert (after[0], after[2]) == (first[0], first[2])
    assert (tmp_path / "ended1").exists()
    assert len(child.list_session(parent.pid)) == 4


def test_sigterm_ends_them_all(parent: subprocess.Popen[bytes]) -> None:
    parent.terminate()
    assert parent.wait(60) == 0
    assert child.list_session(parent.pid) == []


def test_the_end_of_the_supervisor_ends_them_all(parent: subprocess.Popen[bytes]) -> None:
    assert parent.stdin
    parent.stdin.close()
    assert parent.wait(60) == 0
    assert child.list_session(parent.pid) == []


def test_one_that_fails_before_all_are_ready_ends_the_group(tmp_path: Path) -> None:
    with start(tmp_path, "fails") as parent:
        assert parent.wait(60) == 1
    assert child.list_session(parent.pid) == []
    assert not (tmp_path / "ready").exists()
    assert "it fails" in (tmp_path / "log").read_text()
