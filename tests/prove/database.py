"""`make prove-database`: PostgreSQL killed and restarted under load, twenty times (ARGS="--times 5" for fewer)."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

from tests.crash.rounds import BACK_WITHIN, rounds
from tests.prove.circumstances import circumstances

_SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)


async def _prove(times: int) -> list[float]:
    took: list[float] = []
    async with rounds() as found:
        for turn in range(times):
            number = _SIGNALS[turn % len(_SIGNALS)]
            took.append(await found.database_killed(number))
            print(f"  {turn + 1:3}  {number.name}: API and listener back after {took[-1]:.2f} s, ledger empty")
        print(found)
    return took


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    asked = parser.parse_args()
    print(circumstances("PostgreSQL ended by a signal under 50 sends a second, and started again"))
    took = asyncio.run(_prove(asked.times))
    print(f"longest {max(took):.2f} s, allowed {BACK_WITHIN:.0f} s")
    return 0 if max(took) < BACK_WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
