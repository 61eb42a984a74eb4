"""Tests with an instance of the full profile (tests/plugins/stack); root only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.stack.harness import Stack, forget_failed_logins

HERE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def without_failed_logins(stack_folder: Path) -> None:
    """Each module begins without failed logins."""
    asyncio.run(forget_failed_logins(Stack(stack_folder).data_dir))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run them first: they take longest, and other processes take over some of them."""
    items.sort(key=lambda item: HERE not in item.path.parents)
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.root)
            item.add_marker(pytest.mark.timeout(600))
