"""The pause between two checks of the deferred queue."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.run.runtime import recovery


@pytest.mark.parametrize(
    "listing, waiting, outcome, pause",
    [
        (0.0, 6.0, [], 1.0),
        (0.0, 6.0, Unavailable("the database is away"), 1.0),
        (0.5, 6.0, [], 5.0),
        (9.0, 0.0, [], 30.0),
    ],
)
async def test_only_listing_the_queue_lengthens_the_pause(
    monkeypatch: pytest.MonkeyPatch, listing: float, waiting: float, outcome: list[str] | Exception, pause: float
):
    """A check that waited 6 s for the database would otherwise leave mail for another minute."""
    clock, pauses = [0.0], list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        raise asyncio.CancelledError

    async def list_queue(_: Any) -> list[Any]:
        clock[0] += listing
        return []

    async def list_local_deferrals(*_: Any) -> list[str]:
        clock[0] += waiting
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def find_nothing(*_: Any) -> list[str]:
        return []

    monkeypatch.setattr(recovery, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(recovery, "asyncio", SimpleNamespace(sleep=sleep, to_thread=asyncio.to_thread))
    monkeypatch.setattr(recovery.queue, "list_local_deferrals", list_local_deferrals)
    queue = SimpleNamespace(list_deferred=lambda _: {"A": 1}, list_queue=list_queue, find_idle_services=find_nothing)
    monkeypatch.setattr(recovery, "postfix_queue", queue)
    paths = SimpleNamespace(postfix_queue=None, postfix_conf=None, lmtp_socket="", relay_socket="")
    with pytest.raises(asyncio.CancelledError):
        await recovery.Recovery(cast(Any, None), cast(Any, paths)).run()
    assert pauses == [pause]
