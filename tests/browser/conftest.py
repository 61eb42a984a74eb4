"""`scene`: one instance with things in it, for each process of the tests that asks for it; `front`: the same with a
queue, as the full profile shows it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.browser.front import Front, run_front
from tests.browser.scene import Scene, run_scene
from tests.browser.screens import BUILT


@pytest.fixture(scope="session")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    if not BUILT.is_file():
        pytest.skip("the dashboard is not built: make dev")
    async with run_scene(tmp_path_factory.mktemp("scene")) as made:
        yield made


@pytest.fixture
async def front(scene: Scene) -> AsyncIterator[Front]:
    async with run_front(scene) as made:
        yield made
