"""Scheduled messages that are all due at the same moment, compared with `/send/batch`; and claims among a million.

10,000 messages of 2 KB into the same SMTP sink: sent by `/send/batch` (10 concurrent calls of 100), and scheduled
before and sent by the worker when they are due. Promise: the rate of the batch, and other calls are no slower than
during a batch. Meanwhile one client reads `GET /domains` again and again: its p50 and p95 (the embedded profile has
one process for all). The ratios are medians of the rounds, in which both take turns; the CPU time of the process and of
PostgreSQL does not depend on what else the machine does. Then the time of a worker's claim among 1,000,000 messages.

`python -m bench.scheduled [MESSAGES] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg
import uvloop

from bench.rig.calls import call_all, cpu_of, cpu_of_children
from bench.rig.sends import Product, message
from bench.smtp_submit import Child
from mailkeep.db import postgres

BATCH, CALLS = 100, 10
_MILLION = 1_000_000


@asynccontextmanager
async def reading(product: Product) -> AsyncIterator[list[float]]:
    """Read again and again during the block; the milliseconds of each call."""
    took: list[float] = []

    async def read() -> None:
        while True:
            start = time.perf_counter()
            await call_all(product.port, "GET", "/api/v1/domains?limit=5", product.headers, [b""], 1)
            took.append((time.perf_counter() - start) * 1000)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(read())
    try:
        yield took
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send_batches(product: Product, count: int, **more: str) -> None:
    body = json.dumps({"messages": [message(**more)] * BATCH}).encode()
    answers = await call_all(
        product.port, "POST", "/api/v1/send/batch", product.headers, [body] * (count // BATCH), CALLS
    )
    assert all(json.loads(answer)["data"]["failed"] == 0 for answer in answers)


@dataclass
class Side:
    """What was measured of one of the two, in each round."""

    rates: list[float] = field(default_factory=list[float])  # messages per second
    cpu: list[tuple[float, float]] = field(
        default_factory=list[tuple[float, float]]
    )  # ms a message: process, PostgreSQL
    reads: list[list[float]] = field(default_factory=list[list[float]])  # ms of each call of the reader

    def describe(self, name: str) -> str:
        ours, database = (median(each) for each in zip(*self.cpu, strict=True))
        reads = percentiles([took for each in self.reads for took in each])
        return (
            f"{name:24}{median(self.rates):7,.0f} a second; CPU a message {ours:.2f} ms, PostgreSQL {database:.2f} ms; "
            f"GET /domains meanwhile {reads}"
        )


@asynccontextmanager
async def measuring(product: Product, side: Side, count: int) -> AsyncIterator[None]:
    def cpu() -> tuple[float, float]:
        return cpu_of(product.pid), cpu_of_children(product.pid)

    async with reading(product) as took:
        before, start = cpu(), time.perf_counter()
        yield
        side.rates.append(count / (time.perf_counter() - start))
        ours, database = ((now - then) * 1000 / count for now, then in zip(cpu(), before, strict=True))
        side.cpu.append((ours, database))
    side.reads.append(took)


async def immediate(product: Product, side: Side, count: int) -> None:
    async with measuring(product, side, count):
        await send_batches(product, count)


async def due_at_once(product: Product, conn: psycopg.Connection, side: Side, count: int) -> None:
    """As `immediate`, for messages scheduled for one moment, from then on."""
    due = datetime.now(UTC) + timedelta(minutes=30)
    await send_batches(product, count, scheduled_at=due.isoformat())
    due = datetime.now(UTC) + timedelta(seconds=2)
    conn.execute("UPDATE scheduled_messages SET scheduled_at = %(due)s, due_at = %(due)s", {"due": due})
    await asyncio.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))
    async with measuring(product, side, count):
        while conn.execute("SELECT 1 FROM scheduled_messages LIMIT 1").fetchone():
            await asyncio.sleep(0.05)


def claims(conn: psycopg.Connection) -> list[float]:
    """Milliseconds of claims among a million messages: of nothing, and of what is due."""
    conn.execute(
        """
        INSERT INTO scheduled_messages (message_id, domain_id, creator, scheduled_at, due_at, recipients, size,
                                        changed_at)
        SELECT gen_random_uuid(), gen_random_uuid(), '{}', now() + n * interval '2 seconds' + interval '1 day',
               now() + n * interval '2 seconds' + interval '1 day', 1, 2048, now()
        FROM generate_series(1, %(count)s) n
        """,
        {"count": _MILLION},
    )
    conn.execute("ANALYZE scheduled_messages")
    took: list[float] = []
    for ahead in ("0 seconds", "1 day 5 minutes"):
        samples: list[float] = []
        for _ in range(20):
            with conn.transaction(force_rollback=True):
                start = time.perf_counter()
                conn.execute(
                    """
                    WITH due AS (
                        SELECT s.message_id FROM scheduled_messages s WHERE s.due_at <= now() + %(ahead)s::interval
                        ORDER BY s.due_at LIMIT 150 FOR UPDATE SKIP LOCKED)
                    UPDATE scheduled_messages s SET due_at = now() + interval '9 days', claims = s.claims + 1
                    FROM due WHERE s.message_id = due.message_id RETURNING s.message_id
                    """,
                    {"ahead": ahead},
                ).fetchall()
                samples.append((time.perf_counter() - start) * 1000)
        took.append(median(samples))
    return took


def percentiles(took: list[float]) -> str:
    ordered = sorted(took) or [0.0]
    return f"p50 {median(ordered):.1f} ms, p95 {ordered[len(ordered) * 95 // 100]:.1f} ms"


async def main(count: int, rounds: int) -> None:
    sink = Child("sink")
    product = Product(sink.port)
    try:
        urls = postgres.running_urls(product.folder / "data")
        assert urls is not None
        with psycopg.connect(urls.owner, autocommit=True) as conn:
            await send_batches(product, 1000)
            batch, scheduled = Side(), Side()
            for _ in range(rounds):
                await immediate(product, batch, count)
                await due_at_once(product, conn, scheduled, count)
            nothing, due = claims(conn)
    finally:
        product.end()
        sink.end()
    print(f"{rounds} rounds of {count} messages of 2 KB, load {os.getloadavg()[0]:.1f}")
    print(batch.describe(f"/send/batch, {CALLS} × {BATCH}"))
    print(scheduled.describe("scheduled, due at once"))
    print(f"a claim among {_MILLION:,} scheduled messages: {nothing:.2f} ms if nothing is due, {due:.2f} ms of 150")
    ratio = median(ours / theirs for ours, theirs in zip(scheduled.rates, batch.rates, strict=True))
    calls = median(median(ours) / median(theirs) for ours, theirs in zip(scheduled.reads, batch.reads, strict=True))
    held = ratio >= 0.95 and calls <= 1.1
    cpu = median(sum(ours) / sum(theirs) for ours, theirs in zip(scheduled.cpu, batch.cpu, strict=True))
    result = {"scheduled/batch": round(ratio, 2), "CPU": round(cpu, 2), "other calls": round(calls, 2)}
    print(json.dumps({"bench": "scheduled", "promise": "at the rate of a batch", "ratio": result, "held": held}))


if __name__ == "__main__":
    uvloop.run(main(*(int(text) for text in (*sys.argv[1:], *("10000", "5")[len(sys.argv) - 1 :]))))
