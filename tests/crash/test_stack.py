"""A stream of mail through the full profile, over rotations of the log and the death of its parts (a short run; all of
them, and PostgreSQL away for a minute: `make prove-stack`).
"""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.crash.stack import Stream, shared
from tests.stack import harness


@pytest.mark.root
@pytest.mark.timeout(600)
async def test_rotations_and_killed_agents_lose_and_repeat_no_message(
    alone: harness.Stack,
) -> None:
    async with shared(alone) as stack:
        stream = Stream(stack, a_second=10)
        calm_at = 0.0
        async with stream.flowing():
            for name in ("logs", "lmtp", "postfix"):
                calm_at = await stream.catch_up()
                await asyncio.to_thread(stack.rotate)
                killed_at = time.monotonic()
                await stack.kill(name)
                assert max((await stream.recovery(killed_at, 90)).values()) < 45
        await stream.settle()
        # Postfix's end is the last: the lines of what it had under way may be gone with it.
        assert {token for token in await stream.unknown() if stream.begun[token] < calm_at} == set()
        assert len(stream.out.succeeded) > 10
        assert [str(each) for each in await stream.balances(far_may_double=True) if not each.empty] == []
