"""`make prove-stack`: kill -9 of every part of the full profile in turn under a stream of mail out and in, then
PostgreSQL away for a minute. ARGS="--rounds 3 --away 60 --pace 10": how often, how long (seconds), how much a second
each way.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time

from tests.crash.stack import DAEMONS, OURS, Stack, Stream, running
from tests.prove.circumstances import circumstances

_ALLOWED = 60.0


async def _away(stack: Stack, stream: Stream, seconds: float) -> dict[str, float]:
    """PostgreSQL ended at once, and nobody starts it for so long; seconds until mail flows again after that."""
    assert stack.process is not None
    stack.process.send_signal(signal.SIGSTOP)  # its children go on; it starts nothing anew
    await stack.kill("postgresql", signal.SIGQUIT)
    await asyncio.sleep(seconds)
    stack.process.send_signal(signal.SIGCONT)
    return await stream.recovery(time.monotonic(), _ALLOWED)


def _told(took: dict[str, float]) -> str:
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in took.items())
    return f"mail flows again after {max(took.values()):5.2f} s ({stages})"


async def _prove(rounds: int, away: float, pace: float) -> int:
    wrong: list[str] = []
    killed: list[tuple[float, str]] = [(0.0, "the start")]
    async with running() as stack:
        stream = Stream(stack, a_second=pace)
        async with stream.flowing():
            await asyncio.sleep(5)
            for number in range(1, rounds + 1):
                for name in (*OURS, *DAEMONS, "postgresql"):
                    killed_at = time.monotonic()
                    killed.append((killed_at, name))
                    await stack.kill(name)
                    took = await stream.recovery(killed_at, _ALLOWED)
                    print(f"  {number:2}  {name:12} {_told(took)}", flush=True)
                    await asyncio.sleep(2)
                for _ in range(3):
                    await asyncio.to_thread(stack.rotate)
                    await asyncio.sleep(0.7)
                print(f"  {number:2}  Postfix's log rotated three times", flush=True)
            if away:
                took = await _away(stack, stream, away)
                print(f"      PostgreSQL away for {away:.0f} s; after it {_told(took)}", flush=True)
        await stream.settle()
        print(stream.out)
        print(stream.inbound)
        for balance in await stream.balances(far_may_double=True):
            print(f"  {balance}")
            for token in {*balance.lost, *balance.unexpected, *balance.phantom, *balance.duplicated}:
                wrong.append(token)
                before = [(at, name) for at, name in killed if at < stream.begun.get(token, 0) + 1]
                print(f"    {token}: begun {stream.begun.get(token, 0) - before[-1][0]:.1f} s after {before[-1][1]}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--away", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=10.0)
    asked = parser.parse_args()
    print(circumstances(f"kill -9 of each part of the full profile under {asked.pace:g} messages a second each way"))
    return asyncio.run(_prove(asked.rounds, asked.away, asked.pace))


if __name__ == "__main__":
    sys.exit(main())
