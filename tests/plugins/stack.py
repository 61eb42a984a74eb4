"""`stack`: one full instance for the whole run, started by whichever process of it asks first, ended with the run.

Scenarios take turns: side by side, and beside all other tests, mail of some came later than they waited. One that
disturbs the instance takes it as `alone`, which says so.
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


def _the_folder() -> Path:
    """The folder of this run, made by the process that outlives all others (with xdist the controller)."""
    global _folder
    if _folder is None:
        _folder = new_directory("mailkeep-stack-", 0o755, programs=True)
    return _folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """xdist, in the controller, for each worker before it starts."""
    node.workerinput[_SHARED] = str(_the_folder())


def pytest_unconfigure() -> None:
    global _folder
    if _folder is not None:
        harness.stop(_folder)
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None


@pytest.fixture(scope="session")
def stack_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of the running instance."""
    if lacking := install.make_plan().steps:
        pytest.skip(f"the full profile lacks: {'; '.join(lacking)} (`mailkeep install` does it)")
    given = getattr(request.config, "workerinput", None)
    folder = Path(given[_SHARED]) if given else _the_folder()
    with (folder / "start").open("ab") as start:
        fcntl.flock(start, fcntl.LOCK_EX)
        if not (folder / "stack.json").exists():
            harness.start(folder)
    return folder


@pytest.fixture
def stack(stack_folder: Path) -> Iterator[Stack]:
    """The running instance, in our turn."""
    with (stack_folder / "turn").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield Stack(stack_folder)


@pytest.fixture
def alone(stack: Stack) -> Stack:
    """The running instance, for a scenario that must have nobody beside it."""
    return stack
