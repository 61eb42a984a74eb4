"""What the checks of senders cost: CPU of a message that is accepted and delivered, with its sender checked or not.

A running product, embedded, where a message costs the least; 10 clients send messages of 2 KB by `/send` to the
sandbox, which delivers them. The position of the checks is behind all events meanwhile, so that none is read. Then it
is set back to where it was, and the events of the round are counted and their sender is checked. All CPU includes
PostgreSQL's, without what the product uses at rest. Medians of several rounds.

Promise: ratio ≤ 1.05. `python -m bench.abuse [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, LiteralString

import psycopg
import uvloop
from psycopg.rows import scalar_row

from bench.rig.sends import Product
from bench.send_rate import product_way, used
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls

PROMISE = 1.05
REST_SECONDS = 11  # the longest pause between two counts of the analytics, twice
PATIENCE = 300  # seconds
LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class CheckedProduct:
    """A product, and the outcomes that its checks have counted."""

    def __init__(self) -> None:
        self.product = Product(None)
        url = socket_urls(run_folder(self.product.folder / "data")).owner
        self._conn = psycopg.connect(url, autocommit=True, row_factory=scalar_row)
        self._way = product_way(self.product, 1)

    def _ask(self, query: LiteralString, **values: Any) -> Any:
        return self._conn.execute(query, values).fetchone()

    def _delivered(self) -> int:
        return self._ask("SELECT count(*) FROM message_recipients WHERE status = 'delivered'")

    def _checked(self) -> int:
        return self._ask("SELECT coalesce(sum(outcomes), 0)::bigint FROM sender_outcomes")

    async def _spend(self, until: Callable[[], bool], work: Awaitable[object] | None = None) -> tuple[float, float]:
        """CPU seconds until something is so, and the time it took."""
        before, began = sum(used(self.product.pid)), time.monotonic()
        async with asyncio.timeout(PATIENCE):
            if work:
                await work
            while not until():
                await asyncio.sleep(0.2)
        return sum(used(self.product.pid)) - before, time.monotonic() - began

    async def run(self, messages: int) -> tuple[float, float]:
        """CPU seconds of a message, and of checking its sender."""
        position = self._ask("SELECT coalesce(max(tx::text::bigint), 1)::text FROM events")
        self._ask("UPDATE sender_check_position SET tx = '18446744073709551615' RETURNING 1")
        rest_ends = time.monotonic() + REST_SECONDS
        at_rest, seconds = await self._spend(lambda: time.monotonic() > rest_ends)
        delivered, checked = self._delivered() + messages, self._checked()
        cost, took = await self._spend(lambda: self._delivered() == delivered, self._way.send(messages))
        await asyncio.sleep(REST_SECONDS / 2)  # the analytics count the round
        assert self._checked() == checked
        self._ask(
            "UPDATE sender_check_position SET tx = %(tx)s, event_id = %(id)s RETURNING 1", tx=position, id=LAST_ID
        )
        checking, took_checking = await self._spend(lambda: self._checked() == checked + messages)
        cost, checking = cost - at_rest * took / seconds, checking - at_rest * took_checking / seconds
        return cost / messages, checking / messages

    def end(self) -> None:
        """Stop it."""
        self._conn.close()
        self.product.end()


async def main(messages: int, rounds: int) -> None:
    """Print the costs and the ratio."""
    checked = CheckedProduct()
    found: list[tuple[float, float]] = []
    try:
        for turn in range(rounds + 1):
            cost, checking = await checked.run(messages)
            if turn:  # the first warms up
                found.append((cost, checking))
                print(f"{cost * 1e6:.0f} µs, checking {checking * 1e6:.0f} µs", flush=True)
    finally:
        checked.end()
    cost, checking = (median(column) for column in zip(*found, strict=True))
    ratio = round(median(1 + more / less for less, more in found), 3)
    print(
        f"{rounds} rounds of {messages} messages, load {os.getloadavg()[0]:.0f}: CPU of a message {cost * 1e6:.0f} µs, "
        f"of checking its sender {checking * 1e6:.0f} µs; the median of the ratios is {ratio}"
    )
    print(json.dumps({"bench": "abuse", "promise": PROMISE, "ratio": ratio, "held": ratio <= PROMISE}))


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    uvloop.run(main(*given, *(500, 7)[len(given) :]))
