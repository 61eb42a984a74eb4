"""Scenarios against the one full instance of a run (tests/plugins/stack): root's, and slow only where it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They come first: then one process goes through them, and none of the others waits for its turn."""
    items.sort(key=lambda item: HERE not in item.path.parents)
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.root)
            item.add_marker(pytest.mark.timeout(600))
