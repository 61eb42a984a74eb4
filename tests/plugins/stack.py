"""`stack`: an instance of the full profile for each process that runs tests, started by the first test that needs it.

Tests that disturb the instance use it as `alone`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import harness
from tests.stack.harness import Stack
from tests.support.scratch import new_directory


@pytest.fixture(scope="session")
def stack_folder() -> Iterator[Path]:
    """The folder of the running instance."""
    harness.require_full_profile()
    folder = new_directory("mailkeep-stack-", 0o755, programs=True)
    try:
        harness.start(folder)
        yield folder
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def stack(stack_folder: Path) -> Stack:
    """The running instance."""
    return Stack(stack_folder)


@pytest.fixture
def alone(stack: Stack) -> Stack:
    """The running instance, for a test that disturbs it."""
    return stack
