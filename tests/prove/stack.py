"""`make prove-stack`: kill -9 of every part of the full profile in turn under a stream of mail out and in, then
PostgreSQL away for a minute. ARGS="--rounds 3 --away 60 --pace 10 --back-within 5 --parts lmtp dovecot": how often, how
long (seconds), how much a second each way, in how many seconds mail flows again once the database answers, and which.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Sequence

from tests.crash.stack import DAEMONS, OURS, Stack, Stream, running
from tests.prove.circumstances import circumstances

_ALLOWED = 60.0
_UNDER_WAY = 3.0


async def _without_database(stack: Stack, stream: Stream, seconds: float) -> tuple[float, dict[str, float]]:
    """PostgreSQL killed, where `seconds` is 0; else ended at once, and nobody starts it for so long.

    Seconds until it answers again, from when it may be started, and from then until mail flows again.
    """
    assert stack.process is not None
    if seconds:
        stack.process.send_signal(signal.SIGSTOP)  # its children go on; it restarts nothing
        await stack.kill("postgresql", signal.SIGQUIT)
        await asyncio.sleep(seconds)
        stack.process.send_signal(signal.SIGCONT)
    else:
        await stack.kill("postgresql")
    began = time.monotonic()
    await stack.database_answers(_ALLOWED)
    answered = time.monotonic()
    return answered - began, await stream.recovery(answered, _ALLOWED)


def _summary(took: dict[str, float]) -> str:
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in took.items())
    return f"mail flows again after {max(took.values()):5.2f} s ({stages})"


def _database(what: str, back_within: float, answers_after: float, took: dict[str, float]) -> list[str]:
    """Tell how it went; what is wrong with it."""
    print(f"  {what}: it answers after {answers_after:.2f} s; from then {_summary(took)}", flush=True)
    slow = max(took.values()) > back_within
    return [f"mail flowed only {max(took.values()):.1f} s after the database was back"] if slow else []


def _unaccounted(unknown: set[str], begun: dict[str, float], killed: list[tuple[float, str]]) -> list[str]:
    """The messages of an unknown outcome that were not under way when Postfix was killed, and who writes its log."""
    deaths = [at for at, name in killed if name == "postfix"]
    excused = {token for token in unknown if any(-_UNDER_WAY < begun[token] - at < 1 for at in deaths)}
    print(f"  outcome unknown, with an alert, of messages that were under way when Postfix was killed: {len(excused)}")
    return sorted(unknown - excused)


async def _prove(rounds: int, away: float, pace: float, back_within: float, parts: Sequence[str]) -> int:
    wrong: list[str] = []
    killed: list[tuple[float, str]] = [(0.0, "the start")]
    async with running() as stack:
        stream = Stream(stack, a_second=pace)
        async with stream.flowing():
            await asyncio.sleep(5)
            for number in range(1, rounds + 1):
                for name in parts:
                    killed_at = time.monotonic()
                    killed.append((killed_at, name))
                    await stack.kill(name)
                    took = await stream.recovery(killed_at, _ALLOWED)
                    print(f"  {number:2}  {name:12} {_summary(took)}", flush=True)
                    await asyncio.sleep(2)
                killed.append((time.monotonic(), "postgresql"))
                wrong += _database(f"{number:2}  postgresql", back_within, *await _without_database(stack, stream, 0))
                await asyncio.sleep(2)
                for _ in range(3):
                    await asyncio.to_thread(stack.rotate)
                    await asyncio.sleep(0.7)
                print(f"  {number:2}  Postfix's log rotated three times", flush=True)
            if away:
                killed.append((time.monotonic(), "postgresql"))
                times = await _without_database(stack, stream, away)
                wrong += _database(f"    PostgreSQL away for {away:.0f} s", back_within, *times)
        await stream.settle()
        print(stream.out)
        print(stream.inbound)
        for balance in await stream.balances(far_may_double=True):
            print(f"  {balance}")
            for token in {*balance.lost, *balance.unexpected, *balance.phantom, *balance.duplicated}:
                wrong.append(token)
                before = [(at, name) for at, name in killed if at < stream.begun.get(token, 0) + 1]
                print(f"    {token}: begun {stream.begun.get(token, 0) - before[-1][0]:.1f} s after {before[-1][1]}")
        wrong += _unaccounted(await stream.unknown(), stream.begun, killed)
        print("".join(f"  wrong: {each}\n" for each in wrong), end="")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--away", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=10.0)
    parser.add_argument("--back-within", type=float, default=5.0)
    parser.add_argument("--parts", nargs="+", default=(*OURS, *DAEMONS), choices=(*OURS, *DAEMONS))
    asked = parser.parse_args()
    print(circumstances(f"kill -9 of each part of the full profile under {asked.pace:g} messages a second each way"))
    print("A part that is killed again within a minute of its start waits longer each time, up to 5 s.")
    return asyncio.run(_prove(asked.rounds, asked.away, asked.pace, asked.back_within, asked.parts))


if __name__ == "__main__":
    sys.exit(main())
