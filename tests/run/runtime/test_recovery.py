"""The pause between two looks at the deferred queue."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mailkeep.core.errors import Failure, Unavailable
from mailkeep.run.runtime import recovery


@pytest.mark.parametrize("error, pause", [(None, 60.0), (Unavailable("the database is away"), 1.0), (Failure, 1.0)])
async def test_waiting_for_the_database_does_not_lengthen_the_pause(
    monkeypatch: pytest.MonkeyPatch, error: Exception | type[Exception] | None, pause: float
):
    """A look that waited 6 s for the database would otherwise leave mail for another minute."""
    clock, pauses = iter([0.0, 6.0]), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        raise asyncio.CancelledError

    async def look(_self: Any, _now: float = 0) -> None:
        if error is not None:
            raise error

    monkeypatch.setattr(recovery, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(recovery, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(recovery.Recovery, "flush_due", look)
    monkeypatch.setattr(recovery.Recovery, "_kick_idle_services", look)
    with pytest.raises(asyncio.CancelledError):
        await recovery.Recovery(cast(Any, None), cast(Any, None)).run()
    assert pauses == [pause]
