"""`make prove-scheduling`: kill -9 at each step of scheduled messages that are due, some cancelled at that moment; then
the database killed; then, as root, the full profile with each of its parts killed while hundreds are due.

ARGS="--rounds 10 --minutes 15 --full 0": rounds of each place, a bound in time, messages due in the full profile (0:
none).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import time
from collections import Counter

from tests.crash.rounds import NotReached
from tests.crash.scheduled_stack import kill_parts
from tests.crash.scheduling import PLACES, scheduled_rounds
from tests.prove.circumstances import circumstances


def percentile(ascending: list[float], share: float) -> float:
    return ascending[min(len(ascending) - 1, int(len(ascending) * share))] if ascending else 0.0


def describe(lateness: list[float]) -> str:
    """Seconds after the scheduled time, of all messages that were sent."""
    points = ", ".join(f"{name} {percentile(lateness, share):.2f}" for name, share in (("p50", 0.5), ("p99", 0.99)))
    return f"{len(lateness)} sent: lateness in s {points}, max {lateness[-1] if lateness else 0:.2f}"


async def embedded(times: int, deadline: float) -> tuple[Counter[str], list[str]]:
    """Rounds at every place; returns how many there were, and what went wrong."""
    made, wrong = Counter[str](), list[str]()
    for turn in range(times):
        if time.monotonic() > deadline:
            break
        async with scheduled_rounds() as found:
            await found.load.run(20.0)  # nothing is killed: what lateness is without that
            await found.weigh("nothing")
            calm = len(found.lateness())
            print(f"turn {turn + 1}, nothing killed: {describe(found.lateness())}", flush=True)
            for name in (*PLACES, "database"):
                try:
                    await (found.database_killed(signal.SIGKILL) if name == "database" else found.killed_at(name))
                    made[name] += 1
                except NotReached:
                    print(f"  {name} was not reached in time")
                except (AssertionError, TimeoutError) as error:
                    wrong.append(f"{name}: {error!r}")
            late = sorted(found.lateness())
            print(f"  with the kills: {describe(late)} ({len(late) - calm} in these rounds)", flush=True)
            print(f"  {found.load.sends}; cancelled {len(found.load.cancelled)}", flush=True)
    return made, wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10, help="for each place")
    parser.add_argument("--minutes", type=float, default=60, help="no turn begins later")
    parser.add_argument("--full", type=int, default=600, help="messages due in the full profile")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    asked = parser.parse_args()
    random.seed(asked.seed)
    print(circumstances(f"scheduled messages, kill -9 at {len(PLACES)} places, seed {asked.seed}"), flush=True)
    made, wrong = asyncio.run(embedded(asked.rounds, time.monotonic() + 60 * asked.minutes))
    for name in (*PLACES, "database"):
        print(f"  {name:26}{made[name]:4} rounds, ledger empty, none early")
    if asked.full:
        lines, faults = asyncio.run(kill_parts(asked.full))
        print("\n".join(lines))
        wrong += faults
    for each in wrong:
        print(f"WRONG {each}")
    print(f"{len(wrong)} rounds in which something did not add up.")
    return 1 if wrong or not all(made[name] for name in PLACES) else 0


if __name__ == "__main__":
    sys.exit(main())
