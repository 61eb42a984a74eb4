"""`make prove-crash`: kill -9 at each place on the way of a message, 100 rounds each, under 50 sends a second.

ARGS="--rounds 20 --minutes 15 --jobs 2": fewer rounds, a bound in time, several installations side by side. It goes
round all places again and again, so that each has had as many rounds as the others when the time is over.
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

from tests.crash.rounds import PLACES, NotReached, rounds
from tests.prove.circumstances import circumstances
from tests.support.ledger import Ledger

_RENEWED_AFTER = 96
_LEDGERS = ("sends", "inbound", "created", "deleted")


@dataclass
class Proof:
    """Rounds that were made, by place, what went wrong in them, and the tries of all installations."""

    made: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    totals: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    async def work(self, turns: Iterator[str], deadline: float) -> None:
        """Take turns until there are none, on one installation after the other."""
        went_on = True
        while went_on and time.monotonic() < deadline:
            try:
                went_on = await self._work(turns, deadline)
            except NotReached as missed:
                self.missed.append(str(missed))
            except (AssertionError, TimeoutError) as error:
                self.wrong.append(f"{error!r}")

    async def _work(self, turns: Iterator[str], deadline: float) -> bool:
        """Some turns on one installation; whether there may be more."""
        async with rounds() as found:
            try:
                for _ in range(_RENEWED_AFTER):
                    name = next(turns, None) if time.monotonic() < deadline else None
                    if name is None:
                        return False
                    await found.killed_at(name)
                    self.made[name] += 1
            finally:
                for each in _LEDGERS:
                    self._add(getattr(found.load, each))
        return True

    def _add(self, ledger: Ledger) -> None:
        total = self.totals.setdefault(ledger.what, Counter())
        total += Counter(
            {
                "asked for": len(ledger.attempts),
                "tries": ledger.attempts.total(),
                "with a key": len(ledger.keyed),
                "ok": len(ledger.succeeded),
                "fail": len(ledger.failed),
                "doubtful at some time": len(ledger.doubtful),
            }
        )
        self.totals[ledger.what] = total


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100, help="for each place")
    parser.add_argument("--minutes", type=float, default=24 * 60, help="no round begins later")
    parser.add_argument("--jobs", type=int, default=1, help="installations side by side")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    asked = parser.parse_args()
    random.seed(asked.seed)
    proof, began = Proof(), time.monotonic()
    print(circumstances(f"kill -9 at {len(PLACES)} places, {asked.rounds} rounds asked for each, seed {asked.seed}"))
    asyncio.run(_prove(proof, asked.rounds, asked.jobs, began + 60 * asked.minutes))
    print(f"{proof.made.total()} rounds in {(time.monotonic() - began) / 60:.1f} minutes, {asked.jobs} side by side:")
    for name in PLACES:
        print(f"  {name:26}{proof.made[name]:4} rounds, ledger empty")
    print("Under a load of 50 calls a second that send (one in ten a batch of four), 10 inbound messages, 6 changes:")
    for what, total in proof.totals.items():
        print(f"  {what:16}" + ", ".join(f"{name} {count}" for name, count in total.items()))
    for missed in proof.missed:
        print(f"not made: {missed} was not reached in time")
    for wrong in proof.wrong:
        print(f"WRONG {wrong}")
    print(f"{len(proof.wrong)} rounds in which something did not add up.")
    return 1 if proof.wrong or not all(proof.made[name] for name in PLACES) else 0


async def _prove(proof: Proof, times: int, jobs: int, deadline: float) -> None:
    turns = iter([name for _ in range(times) for name in PLACES])
    await asyncio.gather(*(proof.work(turns, deadline) for _ in range(jobs)))


if __name__ == "__main__":
    sys.exit(main())
