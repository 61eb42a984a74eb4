"""Parsing in child processes: reuse, limits, replacement."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mailkeep.mail.message.parse_process import ParsedMessage, ParseLimits, Parser, UnparsableMessage

HEAD = b"From: a@b.test\r\nMIME-Version: 1.0\r\n"
MESSAGE = HEAD + b"\r\nHi.\r\n"
# Quadratic in the library: encoded words that never end, in the name of a file.
SLOW = (
    HEAD
    + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n"
    + b'Content-Disposition: attachment; filename="'
    + b"=?a?q?" * 2_000_000
    + b'"\r\n\r\nx\r\n--b--\r\n'
)


def attached(size: int) -> bytes:
    line = b"A" * 76 + b"\r\n"
    return (
        HEAD
        + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee below\r\n--b\r\n"
        + b"Content-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + line * (size // 57)
        + b"--b--\r\n"
    )


@asynccontextmanager
async def open_parser(**limits: Any) -> AsyncIterator[Parser]:
    # The wall-clock time includes the start of a child, which takes seconds on a busy machine.
    patient: dict[str, Any] = {"seconds": 60.0, "wait_seconds": 60.0}
    parser = Parser(None, ParseLimits(**(patient | limits)))
    try:
        yield parser
    finally:
        await parser.close()


async def parse(parser: Parser, content: bytes) -> ParsedMessage:
    def chunks() -> Iterator[bytes]:
        for start in range(0, len(content), 1 << 18):
            yield content[start : start + (1 << 18)]

    return await parser.parse(chunks)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_child_is_reused_and_ends_with_the_parser():
    async with open_parser() as parser:
        assert parser.pids == []
        for _ in range(3):
            parsed = await parse(parser, MESSAGE)
            assert msgspec.json.decode(parsed.content) == {"body_text": "Hi.\r\n", "body_html": None, "attachments": []}
        (pid,) = parser.pids
    assert not is_alive(pid)


async def test_attachments_have_metadata_and_content():
    async with open_parser() as parser:
        parsed = await parse(parser, attached(57))
    described = {"filename": "a.png", "content_type": "image/png", "size": 57}
    assert (parsed.attachments, parsed.truncated) == ([described], False)
    assert msgspec.json.decode(parsed.content)["attachments"] == [described | {"content_base64": "A" * 76}]


async def one(parser: Parser, content: bytes, number: int) -> tuple[str, bytes] | None:
    parsed = await parser.attachment(lambda: [content], number)
    if parsed is None:
        return None
    with parsed.file:
        content = parsed.file.read()
    assert len(content) == parsed.size
    return parsed.filename, content


async def test_a_single_attachment_of_any_size_is_complete():
    async with open_parser(content=100_000) as parser:
        for size in (57, 5_700_000):
            parsed = await one(parser, attached(size), 0)
            assert parsed is not None
            assert (parsed[0], len(parsed[1])) == ("a.png", size)
        assert await one(parser, attached(57), 1) is None
        assert len(parser.pids) == 1


async def test_an_attachment_with_an_invalid_encoding_is_none():
    async with open_parser() as parser:
        broken = attached(57).replace(b"A" * 76, b"!" * 76)
        assert await one(parser, broken, 0) is None
        with pytest.raises(UnparsableMessage, match="larger than 256 KiB"):
            await parser.attachment(lambda: [b"A: b\r\n" * 60_000], 0)
        assert len(parser.pids) == 1


async def test_content_ids_are_returned():
    async with open_parser() as parser:
        named = attached(57).replace(
            b"Content-Type: image/png;", b"Content-ID: <logo@b.test>\r\nContent-Type: image/png;"
        )
        assert (await parse(parser, named)).content_ids == ["logo@b.test"]
        assert (await parse(parser, attached(57))).content_ids == [""]


async def test_content_above_the_limit_is_omitted():
    async with open_parser(content=100_000) as parser:
        parsed = await parse(parser, attached(100_000))
        assert parsed.truncated
        content = msgspec.json.decode(parsed.content)
        assert content["body_text"].strip() == "see below"
        assert content["attachments"][0]["content_base64"] is None
        parsed = await parse(parser, HEAD + b"Content-Type: text/html\r\n\r\n" + b"<\x01>" * 60_000)
        content = msgspec.json.decode(parsed.content)
        assert (parsed.truncated, content["body_html"]) == (True, None)
        assert 0 < len(parsed.content) <= 100_000


async def test_a_too_large_header_does_not_end_the_child():
    async with open_parser() as parser:
        await parse(parser, MESSAGE)
        before = parser.pids
        with pytest.raises(UnparsableMessage, match="larger than 256 KiB"):
            await parse(parser, b"A: b\r\n" * 60_000)
        assert parser.pids == before


@pytest.mark.parametrize(
    "limits, content, why",
    [
        ({"cpu_seconds": 1, "seconds": 60}, SLOW, "too much time or memory"),
        ({"seconds": 0.5}, SLOW, "too long"),
        ({"memory": 120 << 20, "seconds": 60}, attached(30 << 20), "memory"),
    ],
)
async def test_a_message_that_exceeds_a_limit_fails_alone(limits: dict[str, Any], content: bytes, why: str):
    async with open_parser(**limits) as parser:
        with pytest.raises(UnparsableMessage, match=why):
            await parse(parser, content)
    async with open_parser() as parser:
        assert (await parse(parser, MESSAGE)).attachments == []


async def test_after_a_crash_there_is_a_new_child():
    async with open_parser() as parser:
        await parse(parser, MESSAGE)
        (pid,) = parser.pids
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(UnparsableMessage):
            await parse(parser, MESSAGE)
        await parse(parser, MESSAGE)
        assert parser.pids not in ([], [pid])


async def test_a_child_ends_when_idle_or_after_its_last_message():
    async with open_parser(idle_seconds=0.2, messages=2) as parser:
        await parse(parser, MESSAGE)
        (pid,) = parser.pids
        await parse(parser, MESSAGE)
        assert parser.pids == []
        await parse(parser, MESSAGE)
        assert parser.pids != [pid]
        (pid,) = parser.pids
        for _ in range(1000):
            if not is_alive(pid):
                break
            await asyncio.sleep(0.05)
        assert not is_alive(pid)
        assert parser.pids == []


async def test_a_message_that_waits_too_long_fails_alone():
    begun = threading.Event()

    def late() -> Iterator[bytes]:
        begun.wait(60)
        yield SLOW

    async with open_parser(children=1, seconds=1.0, cpu_seconds=10, wait_seconds=0.2) as parser:
        slow = asyncio.create_task(parser.parse(late))
        await asyncio.sleep(0)
        with pytest.raises(UnparsableMessage, match="busy parsing"):
            await parse(parser, MESSAGE)
        begun.set()
        with pytest.raises(UnparsableMessage):
            await slow
        parser.limits = replace(parser.limits, seconds=60.0, wait_seconds=60.0)
        await parse(parser, MESSAGE)


async def test_a_cancelled_caller_leaves_the_child_usable():
    async with open_parser(children=1) as parser:
        await parse(parser, MESSAGE)
        cancelled = asyncio.create_task(parse(parser, attached(10 << 20)))
        await asyncio.sleep(0.01)
        cancelled.cancel()
        assert (await parse(parser, MESSAGE)).attachments == []


async def test_large_results_are_limited():
    async with open_parser(large=100, large_held=1, wait_seconds=0.1) as parser:
        async with parser.parse_and_hold(lambda: [MESSAGE], 100) as first:
            assert not first.truncated
            async with parser.parse_and_hold(lambda: [MESSAGE], 99):
                with pytest.raises(UnparsableMessage, match="busy parsing"):
                    async with parser.parse_and_hold(lambda: [MESSAGE], 100):
                        pass
        async with parser.parse_and_hold(lambda: [MESSAGE], 100):
            pass


async def test_the_child_is_confined():
    async with open_parser() as parser:
        # A rare charset: its codec was loaded before the process was confined.
        body = "Пр\u0438вет".encode("koi8_u")
        parsed = await parse(parser, HEAD + b"Content-Type: text/plain; charset=koi8-u\r\n\r\n" + body)
        assert msgspec.json.decode(parsed.content)["body_text"] == "Привет"
        (pid,) = parser.pids
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    uid = 65534 if os.geteuid() == 0 else os.geteuid()
    assert status["Uid"].split() == [str(uid)] * 4
    assert status["Groups"].split() == [] or os.geteuid() != 0
    assert (status["CapEff"].strip(), status["Seccomp"].strip()) == ("0" * 16, "2")
