"""Tools of the daemons: what they are given, what they say, and those that end without having listened."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run


async def test_a_tool_gets_its_input_and_its_words_come_back() -> None:
    assert await run("cat", content="an id\nand another\n") == b"an id\nand another\n"
    assert await run("cat") == b""


async def test_a_tool_that_fails_is_told_by_its_last_words() -> None:
    with pytest.raises(Failure, match="sh failed: no such queue"):
        await run("sh", "-c", "echo first >&2; echo no such queue >&2; exit 1")
    with pytest.raises(Failure, match="false failed: 1"):
        await run("false")


def test_a_tool_that_ends_at_once_does_not_care_for_its_input() -> None:
    async def many() -> None:
        assert set(await asyncio.gather(*(run("true", content="x" * 100_000) for _ in range(20)))) == {b""}

    uvloop.run(many())  # the loop of our processes: its pipes tell of their end at once
