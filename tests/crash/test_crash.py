"""Killed (-9) at places on the way of a send and of an inbound mail, under load: nothing is lost, nothing is double
with a key, every event and audit row is there once (many rounds of every place: `make prove-crash`).
"""

from __future__ import annotations

import signal

import pytest

from tests.crash.program import HALF_WRITTEN
from tests.crash.rounds import BACK_IN_THE_SUITE, rounds

# One of each durable step, and of each answer that may get lost. Between the others and these nothing durable happens.
_PLACES = (
    "send.attempt_written",
    "submit.dot_sent",
    "submit.accepted",
    HALF_WRITTEN,
    "inbound.delivered",
    "inbound.committed",
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("places", [_PLACES[::2], _PLACES[1::2]], ids=["0", "1"])
async def test_accepted_mail_survives_kills_on_its_way(places: tuple[str, ...]):
    async with rounds() as found:
        for name in places:
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
