"""Instances that the tests of a folder share end after the last of them: until the end of the run each would use 3 to
6 % of a core, idle. If another process leaves a test of the folder to this one, it starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

_TESTS = Path(__file__).parents[1]
_FOLDERS = {
    "stack_folder": _TESTS / "stack",
    "lab": _TESTS / "stack" / "28-filter",
    "scene": _TESTS / "browser",
}
"""The folder whose tests share a fixture of the session."""
_running: dict[str, Callable[[], None]] = {}


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    # Not the fixtures of modules and tests that have the same name.
    if fixturedef.scope == "session" and fixturedef.argname in _FOLDERS:
        # As pytest does before it sets a fixture up for another parameter: what depends on it ends first.
        _running[fixturedef.argname] = partial(fixturedef.finish, request)  # pyright: ignore[reportArgumentType]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    try:
        return (yield)
    finally:
        # After the last test of all pytest ends what is left.
        for name in [each for each in _running if nextitem and _FOLDERS[each] not in nextitem.path.parents]:
            _running.pop(name)()
