"""The worker is killed (-9) at its steps: every event arrives, with one id, and none waits beyond its lease.

`make prove-webhooks` does many rounds of every step, and as many with an instance that delivers itself.
"""

from __future__ import annotations

import pytest

from tests.crash.webhooks import rounds

# The delivery is claimed and nothing was sent; it was sent and has no outcome; its outcome is there.
_PLACES = ("webhook.begun", "webhook.answered", "webhook.outcome_written")


@pytest.mark.timeout(600)
async def test_every_event_arrives_although_the_worker_is_killed():
    async with rounds("worker") as found:
        for name in _PLACES:
            await found.killed_at(name)
        print(found)
