"""Scheduled messages that are all due at the same moment, compared with `/send/batch`, in the full profile.

With the instance of `bench/full.py`: messages of 2 KB are signed and queued by Postfix, and delivered to `smtp-sink` at
the same time. Sent by `/send/batch` (10 concurrent calls of 100), and by the worker, when they are due. Promise: the
rate of the batch. Meanwhile one client reads `GET /domains` again and again. Both take turns; the result is the median
of the ratios of the rounds.

Root only, after `mailkeep install`. `python -m bench.scheduled_full [MESSAGES] [ROUNDS] [CALLS]`: fewer
concurrent calls on a machine that is so busy that it refuses ten with UNAVAILABLE.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import psycopg
import uvloop

from bench.full import SINK, our_cpu, wait_for_empty_queue
from bench.rig.calls import call_all
from bench.rig.sends import message
from bench.scheduled import BATCH, CALLS, percentiles
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack import harness
from tests.stack.harness import Stack

WORKING = ("api", "worker", "logs")


@asynccontextmanager
async def reading(stack: Stack) -> AsyncGenerator[list[float]]:
    """Read again and again during the block; the milliseconds of each call."""
    took: list[float] = []
    port = int(stack.api.rpartition(":")[2])

    async def read() -> None:
        while True:
            start = time.perf_counter()
            await call_all(port, "GET", "/api/v1/domains?limit=5", {"Cookie": stack.cookie}, [b""], 1)
            took.append((time.perf_counter() - start) * 1000)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(read())
    try:
        yield took
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send_batches(stack: Stack, count: int, calls: int, **more: str) -> None:
    body = json.dumps({"messages": [message(**more)] * BATCH}).encode()
    headers = {"Cookie": stack.cookie, "Content-Type": "application/json"}
    port = int(stack.api.rpartition(":")[2])
    answers = await call_all(port, "POST", "/api/v1/send/batch", headers, [body] * (count // BATCH), calls)
    assert all(json.loads(answer)["data"]["failed"] == 0 for answer in answers)


class Side:
    """Rates, calls of the reader, and CPU of one of the two, of each round."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.reads: list[list[float]] = []
        self.cpu: list[dict[str, float]] = []

    def describe(self, name: str) -> str:
        parts = {part: median(each[part] for each in self.cpu) for part in self.cpu[0]}
        costs = ", ".join(f"{part} {spent:.2f}" for part, spent in parts.items())
        reads = percentiles([took for each in self.reads for took in each])
        return f"{name:24}{median(self.rates):6,.0f} a second; CPU a message in ms {costs}; GET /domains {reads}"


async def run(stack: Stack, places: InstancePaths, count: int, rounds: int, calls: int) -> None:
    batch, scheduled = Side(), Side()
    with psycopg.connect(socket_urls(places.run).owner, autocommit=True) as conn:
        await send_batches(stack, 500, calls)
        for _ in range(rounds):
            for side in (batch, scheduled):
                await asyncio.to_thread(wait_for_empty_queue, places)
                if side is scheduled:
                    await schedule(stack, conn, count, calls)
                before = our_cpu(stack, places, WORKING)
                async with reading(stack) as took:
                    start = time.perf_counter()
                    if side is batch:
                        await send_batches(stack, count, calls)
                    else:
                        while conn.execute("SELECT 1 FROM scheduled_messages LIMIT 1").fetchone():
                            await asyncio.sleep(0.05)
                    side.rates.append(count / (time.perf_counter() - start))
                after = our_cpu(stack, places, WORKING)
                side.cpu.append({name: (after[name] - before[name]) * 1000 / count for name in after})
                side.reads.append(took)
    print(f"{rounds} rounds of {count} messages of 2 KB, full profile, load {os.getloadavg()[0]:.1f}")
    print(batch.describe(f"/send/batch, {calls} × {BATCH}"))
    print(scheduled.describe("scheduled, due at once"))
    ratio = median(ours / theirs for ours, theirs in zip(scheduled.rates, batch.rates, strict=True))
    other_calls = median(
        median(ours) / median(theirs) for ours, theirs in zip(scheduled.reads, batch.reads, strict=True)
    )
    result = {"scheduled/batch": round(ratio, 2), "other calls": round(other_calls, 2)}
    held = ratio >= 0.95 and other_calls <= 1.1
    print(json.dumps({"bench": "scheduled_full", "promise": "at the rate of a batch", "ratio": result, "held": held}))


async def schedule(stack: Stack, conn: psycopg.Connection, count: int, calls: int) -> None:
    """Schedule messages, and wait until they are due, all at the same moment."""
    later = datetime.now(UTC) + timedelta(minutes=30)
    await send_batches(stack, count, calls, scheduled_at=later.isoformat())
    due = datetime.now(UTC) + timedelta(seconds=3)
    conn.execute("UPDATE scheduled_messages SET scheduled_at = %(due)s, due_at = %(due)s", {"due": due})
    await asyncio.sleep(max(0.0, (due - datetime.now(UTC)).total_seconds()))


def main() -> None:
    count, rounds, calls = (int(text) for text in (*sys.argv[1:], *("3000", "3", str(CALLS))[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends child processes too
    try:
        harness.start(folder, SINK, ABUSE__SENDER_PER_HOUR="1000000000", ABUSE__DOMAIN_PER_HOUR="1000000000")
        stack = Stack(folder)
        stack.make_domain("example.test")
        uvloop.run(run(stack, InstancePaths(stack.data_dir, run_folder(stack.data_dir)), count, rounds, calls))
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
