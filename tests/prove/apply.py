"""`make prove-apply`: kill -9 of the process `node`, and of the supervisor, at each step of an apply, under a stream of
mail; and a port whose change nobody confirms. ARGS="--rounds 2 --victims node --steps Rspamd": how often, of what, and
only steps whose names contain this.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from tests.crash.applies import STEPS, Applies, Then, Victim, applies
from tests.prove.circumstances import circumstances

_CONFIRM_SECONDS = 120.0


async def _prove(rounds: int, victims: Sequence[Victim], steps: Sequence[str]) -> int:
    """One instance for each victim, side by side."""
    wrong = sum(await asyncio.gather(*(_rounds_of(victim, list(steps) * rounds) for victim in victims)))
    print(f"{wrong} rounds in which something did not add up.")
    return 1 if wrong else 0


async def _rounds_of(victim: Victim, steps: Sequence[str]) -> int:
    async with applies() as found:
        wrong = sum([await _round(found, step, victim) for step in steps])
        return wrong + (await _ports(found) if victim == "node" else 0)


async def _round(found: Applies, step: str, victim: Victim) -> int:
    began = time.monotonic()
    try:
        state = await found.round(step, victim)
    except AssertionError as error:
        print(f"  WRONG  {victim:10} {step}: {error}", flush=True)
        return 1
    print(
        f"  {victim:10} killed after: {step:46} {state:12} {time.monotonic() - began:5.1f} s, ledger empty", flush=True
    )
    return 0


async def _ports(found: Applies) -> int:
    wrong = 0
    ways: Sequence[tuple[Then, str]] = (("confirm", "succeeded"), ("kill", "rolled_back"), ("nothing", "rolled_back"))
    for then, expected in ways:
        began = time.monotonic()
        state = await found.change_port(then)
        seconds = time.monotonic() - began
        is_right = state == expected and (then != "nothing" or seconds >= _CONFIRM_SECONDS)
        wrong += not is_right
        print(f"  {'' if is_right else 'WRONG '}another port, then {then:8} {state:12} {seconds:5.1f} s", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--victims", nargs="+", default=("node", "supervisor"), choices=("node", "supervisor"))
    parser.add_argument("--steps", default="")
    asked = parser.parse_args()
    print(circumstances("kill -9 at each step of an apply, 2 messages a second each way"))
    return asyncio.run(_prove(asked.rounds, asked.victims, [step for step in STEPS if asked.steps in step]))


if __name__ == "__main__":
    sys.exit(main())
