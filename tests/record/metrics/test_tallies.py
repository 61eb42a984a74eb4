"""The sums over all processes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mailkeep.core.counters import Tally
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.metrics import service as tallies
from tests.support.client import Api

DELIVERED = ("deliveries", ("outbound", "delivered"))
FAILED = ("deliveries", ("outbound", "failed"))


async def test_what_processes_count_adds_up(api: Api) -> None:
    others = [replace(api.app, tally=Tally()) for _ in range(4)]
    for _ in range(3):
        for number, each in enumerate(others):
            each.tally.add("deliveries", "outbound", "delivered", times=number)
            each.tally.add("deliveries", "outbound", "failed")
        await asyncio.gather(*(tallies.flush(each) for each in others))
    assert await tallies.sums(api.app) == [(DELIVERED, 18), (FAILED, 12)]


async def test_what_could_not_be_added_is_added_later_and_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.app.tally.add("deliveries", "outbound", "failed")

    async def away(*_: object) -> None:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(tallies.store, "add", away)
        with pytest.raises(Unavailable):
            await tallies.flush(api.app)
    api.app.tally.add("deliveries", "outbound", "failed")
    await tallies.flush(api.app)
    await tallies.flush(api.app)
    assert await tallies.sums(api.app) == [(FAILED, 2)]
