"""`instance`: a running instance, started by the real command; one for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import instance as instances
from tests.support.instance import Instance


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    running = instances.start(tmp_path_factory.mktemp("instance") / "data", seconds=90)
    yield running
    assert running.stop(seconds=60) == 0, running.log
