"""Scheduled messages through kill -9 at each step, some cancelled at their time: each is sent once and none early, or
cancelled as the answer says (`make prove-scheduling` does many rounds of it).
"""

from __future__ import annotations

import signal

import pytest

from tests.crash.scheduling import PLACES, scheduled_rounds

# Nothing durable happens between these and the next place that is tried; `test_crash` tries them at the MTA too.
_EQUIVALENT = {"scheduled.before_attempt", "submit.connected", "sandbox.queued", "submit.accepted"}
_PLACES = [name for name in PLACES if name not in _EQUIVALENT]


@pytest.mark.timeout(600)
async def test_scheduled_messages_survive_a_kill_at_every_step():
    async with scheduled_rounds() as found:
        for name in _PLACES:
            await found.killed_at(name)
        print(found.load.sends)


@pytest.mark.timeout(300)
async def test_a_killed_database_loses_and_doubles_no_scheduled_message():
    async with scheduled_rounds() as found:
        await found.database_killed(signal.SIGKILL)
