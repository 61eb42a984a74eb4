"""Sums of counters over all processes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mailkeep.core.counters import Counters
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.metrics import service as counters
from tests.support.client import Api

DELIVERED = ("deliveries", ("outbound", "delivered"))
FAILED = ("deliveries", ("outbound", "failed"))


async def test_the_counters_of_processes_add_up(api: Api) -> None:
    others = [replace(api.app, counters=Counters()) for _ in range(4)]
    for _ in range(3):
        for number, each in enumerate(others):
            each.counters.add("deliveries", "outbound", "delivered", times=number)
            each.counters.add("deliveries", "outbound", "failed")
        await asyncio.gather(*(counters.flush(each) for each in others))
    assert await counters.read_sums(api.app) == [(DELIVERED, 18), (FAILED, 12)]


async def test_counts_that_could_not_be_added_are_added_later_and_once(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.app.counters.add("deliveries", "outbound", "failed")

    async def away(*_: object) -> None:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(counters.store, "add", away)
        with pytest.raises(Unavailable):
            await counters.flush(api.app)
    api.app.counters.add("deliveries", "outbound", "failed")
    await counters.flush(api.app)
    await counters.flush(api.app)
    assert await counters.read_sums(api.app) == [(FAILED, 2)]
