"""What reads the feed of events costs: CPU of a message that is accepted and delivered, with it and without.

`analytics` counts the figures, `sender_checks` checks the sender. A running product, embedded, where a message costs
the least; 10 clients send messages of 2 KB by `/send` to the sandbox, which delivers them. The position of the reader
is behind all events meanwhile, so that it reads none. Then it is set back to where it was, and the events of the round
are read. All CPU includes PostgreSQL's, without what the product uses at rest. Medians of several rounds.

Promise: each ratio ≤ 1.05. `python -m bench.event_readers [MESSAGES] [ROUNDS]`.
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
REST_SECONDS = 11  # twice as long as the longest pause of a reader
PATIENCE = 300  # seconds
LAST_TX, LAST_ID = "18446744073709551615", "ffffffff-ffff-ffff-ffff-ffffffffffff"
READ: dict[str, LiteralString] = {
    "analytics": "SELECT coalesce(sum(delivered), 0)::bigint FROM analytics_counters WHERE step = 15 AND dimension = ''"
    " AND provider = '' AND domain_id = '00000000-0000-0000-0000-000000000000'",
    "sender_checks": "SELECT coalesce(sum(outcomes), 0)::bigint FROM sender_outcomes",
}
"""The number of deliveries that each has read."""


class ReadProduct:
    """A product, and how much of its feed `reader` has read."""

    def __init__(self, reader: str) -> None:
        self.reader, self.product = reader, Product(None)
        url = socket_urls(run_folder(self.product.folder / "data")).owner
        self._conn = psycopg.connect(url, autocommit=True, row_factory=scalar_row)
        self._way = product_way(self.product, 1)

    def _ask(self, query: LiteralString, **values: Any) -> Any:
        return self._conn.execute(query, values).fetchone()

    def _delivered(self) -> int:
        return self._ask("SELECT count(*) FROM message_recipients WHERE status = 'delivered'")

    def _read(self) -> int:
        return self._ask(READ[self.reader])

    def _move(self, tx: str) -> None:
        self._ask(
            "UPDATE event_positions SET tx = %(tx)s, event_id = %(id)s WHERE reader = %(reader)s RETURNING 1",
            tx=tx,
            id=LAST_ID,
            reader=self.reader,
        )

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
        """CPU seconds of a message, and of reading its events."""
        position = self._ask("SELECT coalesce(max(tx::text::bigint), 1)::text FROM events")
        self._move(LAST_TX)
        rest_ends = time.monotonic() + REST_SECONDS
        at_rest, seconds = await self._spend(lambda: time.monotonic() > rest_ends)
        delivered, read = self._delivered() + messages, self._read()
        cost, took = await self._spend(lambda: self._delivered() == delivered, self._way.send(messages))
        await asyncio.sleep(REST_SECONDS / 2)  # the other reader reads the round
        assert self._read() == read
        self._move(position)
        reading, took_reading = await self._spend(lambda: self._read() == read + messages)
        cost, reading = cost - at_rest * took / seconds, reading - at_rest * took_reading / seconds
        return cost / messages, reading / messages

    def end(self) -> None:
        """Stop it."""
        self._conn.close()
        self.product.end()


async def main(messages: int, rounds: int) -> None:
    """Print the costs and the ratios."""
    for reader in READ:
        product, found = ReadProduct(reader), list[tuple[float, float]]()
        try:
            for turn in range(rounds + 1):
                cost, reading = await product.run(messages)
                if turn:  # the first warms up
                    found.append((cost, reading))
        finally:
            product.end()
        cost, reading = (median(column) for column in zip(*found, strict=True))
        ratio = round(median(1 + more / less for less, more in found), 3)
        print(
            f"{reader}: {rounds} rounds of {messages} messages, load {os.getloadavg()[0]:.0f}: CPU of a message "
            f"{cost * 1e6:.0f} µs, of reading its events {reading * 1e6:.0f} µs; the median of the ratios is {ratio}"
        )
        print(json.dumps({"bench": reader, "promise": PROMISE, "ratio": ratio, "held": ratio <= PROMISE}), flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    uvloop.run(main(*given, *(500, 7)[len(given) :]))
