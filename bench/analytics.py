"""What counting costs: CPU of a message that is accepted and delivered, with its figures counted and without.

A running product, embedded, where a message costs the least; 10 clients send messages of 2 KB by `/send` to the
sandbox, which delivers them. The position of the counters is behind all events meanwhile, so that none is counted. Then
it is set back to where it was, and the events of the round are counted. All CPU includes PostgreSQL's, without what the
product uses at rest. Medians of several rounds.

Promise: ratio ≤ 1.05. `python -m bench.analytics [MESSAGES] [ROUNDS]`.
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
REST_SECONDS = 11  # twice as long as between two counts
PATIENCE = 300  # seconds
LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class Counted:
    """A product, and what it has counted."""

    def __init__(self) -> None:
        self.product = Product(None)
        url = socket_urls(run_folder(self.product.folder / "data")).owner
        self._conn = psycopg.connect(url, autocommit=True, row_factory=scalar_row)
        self._way = product_way(self.product, 1)

    def _ask(self, query: LiteralString, **values: Any) -> Any:
        return self._conn.execute(query, values).fetchone()

    def _delivered(self) -> int:
        return self._ask("SELECT count(*) FROM message_recipients WHERE status = 'delivered'")

    def _counted(self) -> int:
        return self._ask(
            "SELECT coalesce(sum(delivered), 0)::bigint FROM analytics_counters WHERE step = 15 AND dimension = ''"
            " AND provider = '' AND domain_id = '00000000-0000-0000-0000-000000000000'"
        )

    async def _spend(self, until: Callable[[], bool], work: Awaitable[object] | None = None) -> tuple[float, float]:
        """CPU seconds until something is so, and the time it took."""
        before, began = sum(used(self.product.pid)), time.monotonic()
        async with asyncio.timeout(PATIENCE):
            if work:
                await work
            while not until():
                await asyncio.sleep(0.5)
        return sum(used(self.product.pid)) - before, time.monotonic() - began

    async def run(self, messages: int) -> tuple[float, float]:
        """CPU seconds of a message, and of counting it."""
        position = self._ask("SELECT coalesce(max(tx::text::bigint), 1)::text FROM events")
        self._ask("UPDATE analytics_position SET tx = '18446744073709551615' RETURNING 1")
        rest_ends = time.monotonic() + REST_SECONDS
        at_rest, seconds = await self._spend(lambda: time.monotonic() > rest_ends)
        delivered, counted = self._delivered() + messages, self._counted()
        cost, took = await self._spend(lambda: self._delivered() == delivered, self._way.send(messages))
        assert self._counted() == counted
        self._ask("UPDATE analytics_position SET tx = %(tx)s, event_id = %(id)s RETURNING 1", tx=position, id=LAST_ID)
        counting, took_counting = await self._spend(lambda: self._counted() == counted + messages)
        cost, counting = cost - at_rest * took / seconds, counting - at_rest * took_counting / seconds
        return cost / messages, counting / messages

    def end(self) -> None:
        """Stop it."""
        self._conn.close()
        self.product.end()


async def main(messages: int, rounds: int) -> None:
    """Print the costs and the ratio."""
    counted = Counted()
    found: list[tuple[float, float]] = []
    try:
        for turn in range(rounds + 1):
            cost, counting = await counted.run(messages)
            if turn:  # the first warms up
                found.append((cost, counting))
                print(f"{cost * 1e6:.0f} µs, counting {counting * 1e6:.0f} µs", flush=True)
    finally:
        counted.end()
    cost, counting = (median(column) for column in zip(*found, strict=True))
    ratio = round(median(1 + more / less for less, more in found), 3)
    print(
        f"{rounds} rounds of {messages} messages, load {os.getloadavg()[0]:.0f}: CPU of a message {cost * 1e6:.0f} µs,"
    )
    print(f"of counting it {counting * 1e6:.0f} µs; the median of the ratios is {ratio}")
    print(json.dumps({"bench": "analytics", "promise": PROMISE, "ratio": ratio, "held": ratio <= PROMISE}))


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    uvloop.run(main(*given, *(500, 7)[len(given) :]))
