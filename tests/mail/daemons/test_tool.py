"""Command-line tools of the daemons: input, output, failures."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.tool import run


async def test_a_tool_gets_its_input_and_its_output_is_returned() -> None:
    assert await run("cat", content="an id\nand another\n") == b"an id\nand another\n"
    assert await run("cat") == b""


async def test_a_failure_has_the_last_error_line_of_the_tool() -> None:
    with pytest.raises(Failure, match="sh failed with status 1: no such queue"):
        await run("sh", "-c", "echo first >&2; echo no such queue >&2; exit 1")
    with pytest.raises(Failure, match="false failed with status 1: no error message"):
        await run("false")


def test_a_tool_may_end_without_reading_its_input() -> None:
    async def many() -> None:
        assert set(await asyncio.gather(*(run("true", content="x" * 100_000) for _ in range(20)))) == {b""}

    uvloop.run(many())  # the event loop of our processes, whose pipes report their end at once
