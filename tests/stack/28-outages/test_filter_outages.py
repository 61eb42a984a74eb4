"""Each part of the filter dies under mail of all kinds: nothing is lost, doubled, or refused wrongly.

`make prove-filter-outages` also stops them, and keeps them away until there is an alert.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.stack import harness, outages
from tests.stack.outages import World
from tests.support.scratch import new_directory


@pytest.fixture(scope="module", autouse=True)
def without_failed_logins() -> None:
    """Not needed here: the instance of the other tests does not start for these."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    harness.require_full_profile(antivirus=True)
    folder = new_directory("mailkeep-outages-", 0o755, programs=True)
    try:
        outages.start(folder)
        made = World(folder, pause=0.5, movers=2)
        yield made
        made.close()
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def test_parts_that_die_lose_and_refuse_nothing(world: World) -> None:
    with world.stream.flowing(), world.movers.moving():
        world.wait_until_normal()
        reports = [world.inflict(part, "killed", 0.2, alert=False) for part in outages.PARTS]
    assert [problem for each in reports for problem in each.wrong] == []
    assert world.compare() == []
    assert len(world.stream.ended) > 50
    assert len(world.movers.ledger.succeeded) > 10
