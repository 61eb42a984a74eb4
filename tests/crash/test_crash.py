"""Killed (-9) at every place on the way of a send and of an inbound mail, under load: nothing is lost,
nothing is double with a key, every event and audit row is there once. `make prove-crash` does many rounds of it.
"""

from __future__ import annotations

import signal

import pytest

from tests.crash.rounds import BACK_IN_THE_SUITE, PLACES, rounds

_SHARES = 3
# Nothing durable happens between each of these and the next place that is tried.
_EQUIVALENT = {
    "send.before_attempt", "submit.connected", "submit.recipients_taken", "sandbox.queued", "inbound.recipient_taken"
}  # fmt: skip
_PLACES = [name for name in PLACES if name not in _EQUIVALENT]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("share", range(_SHARES))
async def test_accepted_mail_survives_a_kill_at_every_step(share: int):
    async with rounds() as found:
        for name in _PLACES[share::_SHARES]:
            await found.killed_at(name)
        print(found)


@pytest.mark.timeout(300)
async def test_a_killed_database_loses_nothing_that_was_accepted():
    async with rounds() as found:
        for number in (signal.SIGKILL, signal.SIGINT):
            back = await found.database_killed(number)
            print(f"back {back:.2f} s after signal {number} to the database")
            assert back < BACK_IN_THE_SUITE
        print(found)
