"""`tmp_path` is in memory if there is enough (tests/support/scratch), and goes with a test that passed."""

from __future__ import annotations

import os

from tests.support.scratch import MEMORY, has_memory


def pytest_configure() -> None:
    # Read when the first folder is made; the processes of a run get theirs from the first one.
    if has_memory(programs=True):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
