"""Scheduled messages through kill -9, some cancelled at their time: each is sent once and none early, or cancelled as
the answer says (many rounds of every step: `make prove-scheduling`).
"""

from __future__ import annotations

import signal

import pytest

from tests.crash.scheduling import scheduled_rounds

# The message is claimed and has no attempt; its attempt has no outcome; its outcome is there and its claim gone.
_PLACES = ("scheduled.claimed", "submit.dot_sent", "scheduled.committed")


@pytest.mark.timeout(600)
async def test_scheduled_messages_survive_kills_of_the_instance_and_of_the_database():
    async with scheduled_rounds() as found:
        for name in _PLACES:
            await found.killed_at(name)
        await found.database_killed(signal.SIGKILL)
        print(found.load.sends)
