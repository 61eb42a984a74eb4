"""Figures are those of the history, after a day of mail with crashes and around a change to or from summer time."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.sandbox import service as sandbox
from mailkeep.features.record.analytics import service
from mailkeep.features.record.analytics.service import Selection
from tests.plugins.post import Post, letter

WHO = Principal(None, "test", Role.SUPER_ADMIN, ActorType.CLI)
# Counts the events in small batches, and is killed in the transaction of one of them.
PROGRAM = """
import asyncio, os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.secret import Vault
from mailkeep.db.pool import DatabasePool
from mailkeep.features.record.analytics import service
from mailkeep.settings import Settings
left = int(sys.argv[2])
def reach(name):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
failpoint.reach = reach
service._BATCH = 5
async def main():
    db = DatabasePool(sys.argv[1])
    await db.open()
    await service.count(App(Settings(), Path("."), lambda: datetime.now(UTC), Vault(bytes(32)), db))
asyncio.run(main())
"""


async def count_killed(post: Post, batches: int) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, post.api.app.db._conninfo, str(batches))
    assert await asyncio.wait_for(child.wait(), 60) == -signal.SIGKILL


async def deliver_cancelled(post: Post, chance: random.Random) -> None:
    """Deliver what is due, ended at any time, in a transaction or between two."""
    work = asyncio.create_task(sandbox.deliver_due(post.api.app))
    await asyncio.sleep(chance.uniform(0, 0.05))
    work.cancel()
    await asyncio.wait([work], timeout=30)


@pytest.mark.parametrize(
    "begin, hours",
    [(datetime(2026, 3, 28, 20, tzinfo=UTC), 23), (datetime(2026, 10, 24, 20, tzinfo=UTC), 25)],
    ids=["summer time begins", "summer time ends"],
)
async def test_a_day_with_crashes_is_counted_as_the_history_has_it(post: Post, begin: datetime, hours: int):
    chance = random.Random(begin.month)
    post.api.clock.now = begin
    for _ in range(12):
        tags = chance.sample(["news", "bill"], chance.randint(0, 2))
        kinds = chance.sample(["bounce", "defer", "fail", "customer", "other"], chance.randint(1, 4))
        messages = [letter(to=[{"email": f"{each}@elsewhere.test"} for each in kinds], tags=tags)]
        answer = await post.api.unscoped.post("/send/batch", {"messages": messages})
        assert answer.status == 200, answer.body
        await deliver_cancelled(post, chance)
        post.api.clock.advance(minutes=chance.uniform(60, 210))
    await count_killed(post, 1)
    await count_killed(post, 3)
    for _ in range(3):  # also those that were never attempted above fail
        await post.run_queue(60)
    post.api.clock.now = begin + timedelta(days=2)
    zone = "Europe/Berlin"
    rows = await post.api.sql(
        "SELECT kind, date_trunc('day', at AT TIME ZONE %(zone)s) AT TIME ZONE %(zone)s AS day,"
        " date_trunc('hour', at) AS hour, count(*) FROM message_attempts"
        " WHERE kind <> 'deferred' OR attempt = 1 GROUP BY 1, 2, 3",
        zone=zone,
    )
    assert {"delivered", "deferred", "bounced", "failed"} == {row["kind"] for row in rows}
    for interval in ("day", "hour"):
        expected: dict[tuple[str, datetime], int] = {}
        for row in rows:
            key = row["kind"], row[interval]
            expected[key] = expected.get(key, 0) + row["count"]
        series = await service.read_series(post.api.app, WHO, Selection("7d", zone), interval, previous=False)
        counted = {
            (kind, at): figures.numbers[kind]
            for at, figures in series
            for kind in ("delivered", "deferred", "bounced", "failed")
            if figures.numbers[kind]
        }
        assert counted == expected, interval
        if interval == "hour":
            assert len({at for at, _ in series}) == len(series)
    days = [at for at, _ in await service.read_series(post.api.app, WHO, Selection("7d", zone), None, previous=False)]
    ends = [int((end - start).total_seconds()) // 3600 for start, end in pairwise(days)]
    assert hours in ends
