"""`make prove-webhooks`: kill -9 of who delivers, at each step, 100 rounds each; every event arrives, with one id.

ARGS="--rounds 20 --minutes 15 --jobs 2": fewer rounds, a bound in time, several installations side by side. Instance
and worker take turns, and all steps again and again, so that each has had as many rounds as the others at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.crash.webhooks import LEASE_SECONDS, PLACES, NotReached, Rounds, Victim, rounds
from tests.prove.circumstances import circumstances

_RENEWED_AFTER = 4 * len(PLACES)
_VICTIMS: tuple[Victim, ...] = ("instance", "worker")


@dataclass
class Proof:
    """Rounds that were made, what went wrong in them, and what all installations have counted."""

    made: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    wrong: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    counted: Counter[str] = field(default_factory=Counter[str])
    longest: float = 0.0

    async def work(self, turns: Iterator[Victim], rounds_each: int, deadline: float) -> None:
        """Take installations until there are none left to take."""
        for victim in turns:
            if time.monotonic() > deadline:
                return
            try:
                await self._work(victim, rounds_each, deadline)
            except NotReached as missed:
                self.missed.append(f"{victim}: {missed}")
            except (AssertionError, TimeoutError) as error:
                self.wrong.append(f"{victim}: {error!r}")

    async def _work(self, victim: Victim, rounds_each: int, deadline: float) -> None:
        async with rounds(victim) as found:
            try:
                for _ in range(_RENEWED_AFTER // len(PLACES)):
                    for name in PLACES:
                        if time.monotonic() > deadline or self.made[victim, name] >= rounds_each:
                            continue
                        await found.killed_at(name)
                        self.made[victim, name] += 1
            finally:
                self._count(found)

    def _count(self, found: Rounds) -> None:
        posted = Counter(each.id for each in found.sink.posted)
        self.counted += Counter(
            {
                "events": len(found.events),
                "requests": posted.total(),
                "events posted more than once": sum(1 for times in posted.values() if times > 1),
                "attempts that were cut off": found.interrupted,
            }
        )
        self.longest = max(self.longest, found.longest)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100, help="for each step and victim")
    parser.add_argument("--minutes", type=float, default=24 * 60, help="no round begins later")
    parser.add_argument("--jobs", type=int, default=1, help="installations side by side")
    parser.add_argument("--victims", nargs="+", default=_VICTIMS, choices=_VICTIMS, help="who is killed")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    asked = parser.parse_args()
    random.seed(asked.seed)
    proof, began = Proof(), time.monotonic()
    print(circumstances(f"kill -9 of who delivers at {len(PLACES)} steps, {asked.rounds} rounds asked for each"))
    asyncio.run(_prove(proof, tuple(asked.victims) * _installations(asked.rounds), asked))
    minutes = (time.monotonic() - began) / 60
    print(f"seed {asked.seed}; {proof.made.total()} rounds in {minutes:.1f} minutes, {asked.jobs} side by side:")
    for victim in asked.victims:
        for name in PLACES:
            print(f"  {victim:9} {name:20}{proof.made[victim, name]:4} rounds, every event arrived")
    print("  " + ", ".join(f"{count} {name}" for name, count in proof.counted.items()))
    print(f"  lease {LEASE_SECONDS:g} s; from a cut to the next try at most {proof.longest:.1f} s, restart and all")
    for missed in proof.missed:
        print(f"not made: {missed} was not reached in time")
    for wrong in proof.wrong:
        print(f"WRONG {wrong}")
    print(f"{len(proof.wrong)} rounds in which something did not add up.")
    return 1 if proof.wrong or not all(proof.made[who, name] for who in asked.victims for name in PLACES) else 0


def _installations(times: int) -> int:
    """The required number of each kind."""
    return -(-times * len(PLACES) // _RENEWED_AFTER)


async def _prove(proof: Proof, victims: tuple[Victim, ...], asked: argparse.Namespace) -> None:
    turns, deadline = iter(victims), time.monotonic() + 60 * asked.minutes
    await asyncio.gather(*(proof.work(turns, asked.rounds, deadline) for _ in range(asked.jobs)))


if __name__ == "__main__":
    sys.exit(main())
