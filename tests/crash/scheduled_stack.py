"""The full profile with each of its parts killed while hundreds of scheduled messages are due."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

from tests.crash.stack import DOMAIN, Stack, running

PARTS = ("worker", "logs", "postfix", "api", "postgresql", "worker")
_SPREAD = 20.0  # seconds in which the messages are due
# An attempt of a killed worker is only repeated when Postfix's log, 20 minutes later, shows no acceptance.
_SETTLED_WITHIN = 45 * 60.0


async def kill_parts(count: int) -> tuple[list[str], list[str]]:
    """Schedule, kill, wait until all is settled; lines about it, and what was wrong."""
    async with running() as stack:
        tokens = await _schedule(stack, count)
        for name in PARTS:
            await asyncio.sleep(_SPREAD / len(PARTS))
            await stack.kill(name)
        began = time.monotonic()
        await _settle(stack)
        await _arrive(stack, tokens)
        return await _weigh(stack, tokens, time.monotonic() - began)


async def _schedule(stack: Stack, count: int) -> list[str]:
    first = datetime.now(UTC) + timedelta(seconds=20)
    tokens = [f"due-{number}" for number in range(count)]
    bodies = [
        {
            "from": {"email": f"shop@{DOMAIN}"},
            "to": [{"email": f"{token}@far.test"}],
            "subject": token,
            "text_body": "Hello.\n",
            "scheduled_at": (first + timedelta(seconds=_SPREAD * index / count)).isoformat(),
        }
        for index, token in enumerate(tokens)
    ]
    for start in range(0, count, 100):
        answer = await stack("POST", "/send/batch", {"messages": bodies[start : start + 100]})
        assert answer["failed"] == 0, answer["results"][:3]
    await asyncio.sleep(max(0.0, (first - datetime.now(UTC)).total_seconds()))
    return tokens


async def _settle(stack: Stack) -> None:
    deadline = time.monotonic() + _SETTLED_WITHIN
    while left := (await stack.rows("SELECT count(*) FROM scheduled_messages"))[0][0]:
        assert time.monotonic() < deadline, f"{left} messages are not settled"
        await asyncio.sleep(2)


async def _arrive(stack: Stack, tokens: list[str]) -> None:
    deadline = time.monotonic() + 180
    while set(tokens) - set(stack.far.taken) and time.monotonic() < deadline:
        await asyncio.to_thread(stack.flush)
        await asyncio.sleep(1)


async def _weigh(stack: Stack, tokens: list[str], seconds: float) -> tuple[list[str], list[str]]:
    rows = await stack.rows(
        """
        SELECT m.subject, extract(epoch FROM m.accepted_at - m.scheduled_at)::float8,
               (SELECT count(*) FROM events e WHERE e.message_id = m.id AND e.kind = 'mail.sent')
        FROM messages m WHERE m.scheduled_at IS NOT NULL AND m.accepted_at IS NOT NULL ORDER BY 2
        """
    )
    late = [row[1] for row in rows]
    accepted = Counter(row[0] for row in rows)
    taken = Counter(stack.far.taken)
    p50, p99 = late[len(late) // 2], late[len(late) * 99 // 100]
    lines = [
        f"full profile: {len(tokens)} messages due within {_SPREAD:.0f} s; killed {', '.join(PARTS)}",
        f"  settled in {seconds / 60:.1f} minutes; more than 60 s late: {sum(each > 60 for each in late)}",
        f"  {len(late)} accepted, lateness in s p50 {p50:.2f}, p99 {p99:.2f}, max {late[-1]:.2f}",
        f"  at the other server {len(taken)}, more than once {sum(number > 1 for number in taken.values())}",
    ]
    wrong: list[str] = []
    if accepted != Counter(tokens):
        wrong.append(f"accepted: {Counter(tokens) - accepted} missing, {accepted - Counter(tokens)} too many")
    if any(row[2] != 1 for row in rows):
        wrong.append("mail.sent is not there once for each")
    if late and late[0] < 0:
        wrong.append(f"one was sent {-late[0]} s early")
    if set(taken) != set(tokens):
        wrong.append(f"not at the other server: {sorted(set(tokens) - set(taken))[:5]}")
    # Postfix repeats what it was delivering when it was killed.
    if sum(number - 1 for number in taken.values()) > 20:
        wrong.append("more messages arrived twice than Postfix delivers at once")
    return lines, wrong
