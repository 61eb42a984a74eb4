"""Fixtures: `scene`, an instance with data, one per test process; `front`, the same instance as a full profile."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.browser.front import Front, run_front
from tests.browser.scene import Scene, run_scene
from tests.browser.screens import require_dashboard


@pytest.fixture(scope="session")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    require_dashboard()
    async with run_scene(tmp_path_factory.mktemp("scene")) as scene:
        yield scene


@pytest.fixture
async def front(scene: Scene) -> AsyncIterator[Front]:
    async with run_front(scene) as front:
        yield front
