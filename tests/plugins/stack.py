"""`stack`: one instance of the full profile for the test run, started by the first process that needs it.

Tests use it one after another: in parallel, mail arrives later than tests wait for it. Tests that disturb the instance
use it as `alone`.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.run.cli import install
from tests.stack import harness
from tests.stack.harness import Stack
from tests.support.scratch import new_directory

_SHARED = "mailkeep_test_stack"
_folder: Path | None = None


def _run_folder() -> Path:
    """The folder of this run, created by the process that lives longest (with xdist the controller)."""
    global _folder
    if _folder is None:
        _folder = new_directory("mailkeep-stack-", 0o755, programs=True)
    return _folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Called by xdist in the controller before each worker starts."""
    node.workerinput[_SHARED] = str(_run_folder())


def pytest_unconfigure() -> None:
    global _folder
    if _folder is not None:
        harness.stop(_folder)
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None


@pytest.fixture(scope="session")
def stack_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of the running instance."""
    if missing := install.make_plan().steps:
        pytest.skip(f"the full profile needs: {'; '.join(missing)} (`mailkeep install` does it)")
    worker_input = getattr(request.config, "workerinput", None)
    folder = Path(worker_input[_SHARED]) if worker_input else _run_folder()
    with (folder / "start").open("ab") as start:
        fcntl.flock(start, fcntl.LOCK_EX)
        if not (folder / "stack.json").exists():
            harness.start(folder)
    return folder


@pytest.fixture
def stack(stack_folder: Path) -> Iterator[Stack]:
    """The running instance, exclusively."""
    with (stack_folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Stack(stack_folder)


@pytest.fixture
def alone(stack: Stack) -> Stack:
    """The running instance, for a test that disturbs it."""
    return stack
