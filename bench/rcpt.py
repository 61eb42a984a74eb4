"""RCPT on a running Postfix with 1,000 and with 1,000,000 aliases: time of the reply over SMTP, and the ratio.

Promise: ratio of the medians ≤ 1.2, p99 < 5 ms. Starts a full instance (root, `mailkeep install`). Each RCPT queries
the functions for access, aliases and mailboxes, over one connection, interleaved.
`python -m bench.rcpt [LARGE] [SMALL] [TURNS]`.
"""

from __future__ import annotations

import asyncio
import random
import smtplib
import statistics
import sys
import time
from uuid import UUID

from mailkeep.core.clock import utc_now
from tests.crash.stack import ALICE, Stack, running

_A_SESSION = 90


async def _fill(stack: Stack, name: str, count: int) -> None:
    domain = await stack("POST", "/domains", {"name": name})
    await stack.db.execute(
        """
        INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys, active,
                             created_at, updated_at)
        SELECT (lpad(to_hex(1767225600000 + %(shift)s + i), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
               %(domain)s, 'a' || i, 'a' || i, ARRAY[%(to)s], ARRAY[%(to)s], true, %(at)s, %(at)s
        FROM generate_series(1, %(count)s) i
        """,
        {"domain": UUID(domain["id"]), "count": count, "shift": count, "to": ALICE, "at": utc_now()},
    )


def _ask(stack: Stack, sides: dict[str, int], turns: int) -> dict[str, list[float]]:
    """Milliseconds of each RCPT, by domain."""
    host, _, port = stack.smtp.rpartition(":")
    took: dict[str, list[float]] = {name: [] for name in sides}
    with smtplib.SMTP(host, int(port), timeout=60) as client:
        client.ehlo("bench.test")
        for turn in range(turns):
            if turn % _A_SESSION == 0:
                client.rset()
                client.mail("x@far.test")
            for name, count in sides.items():
                began = time.perf_counter()
                code, text = client.rcpt(f"a{random.randint(1, count)}@{name}")
                took[name].append((time.perf_counter() - began) * 1000)
                assert code == 250, text
    return took


async def _bench(large: int, small: int, turns: int) -> None:
    async with running() as stack:
        sides = {"small.test": small, "large.test": large}
        for name, count in sides.items():
            await _fill(stack, name, count)
        await asyncio.to_thread(_ask, stack, sides, 100)
        took = await asyncio.to_thread(_ask, stack, sides, turns)
        medians: list[float] = []
        for name, count in sides.items():
            found = sorted(took[name])
            medians.append(statistics.median(found))
            p95, p99 = found[int(len(found) * 0.95)], found[int(len(found) * 0.99)]
            print(f"{count:9,} aliases: median {medians[-1]:.2f} ms, p95 {p95:.2f}, p99 {p99:.2f}")
        print(f"ratio of the medians {medians[1] / medians[0]:.2f} (promised ≤ 1.2)")


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    asyncio.run(_bench(*(given + [1_000_000, 1_000, 2_000][len(given) :])))


if __name__ == "__main__":
    main()
