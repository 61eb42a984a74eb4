"""Who delivers is killed (-9) at each step: every event arrives, with one id, and none waits beyond its lease.

`make prove-webhooks` does many rounds of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.crash.webhooks import PLACES, Victim, rounds


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "victim, places", [("worker", PLACES), ("instance", ("webhook.begun", "webhook.outcome_written"))],
    ids=["worker", "instance"],
)  # fmt: skip
async def test_killed_at_each_step_every_event_arrives(victim: Victim, places: Sequence[str]):
    """The code is the same in both; the whole instance is killed before and after the request."""
    async with rounds(victim) as found:
        for name in places:
            await found.killed_at(name)
        print(found)
