"""Who delivers is killed (-9) at each step: every event arrives, with one id, and none waits beyond its lease.

`make prove-webhooks` does many rounds of it.
"""

from __future__ import annotations

import pytest

from tests.crash.webhooks import PLACES, Victim, rounds


@pytest.mark.timeout(600)
@pytest.mark.parametrize("victim", ["instance", "worker"])
async def test_killed_at_each_step_every_event_arrives(victim: Victim):
    async with rounds(victim) as found:
        for name in PLACES:
            await found.killed_at(name)
        print(found)
