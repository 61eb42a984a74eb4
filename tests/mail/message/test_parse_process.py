"""Messages taken apart in other processes: used again, limited, replaced."""

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
LETTER = HEAD + b"\r\nHi.\r\n"
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
async def parser(**limits: Any) -> AsyncIterator[Parser]:
    # The time of day is for the start of a child too, which takes seconds where many others run.
    patient: dict[str, Any] = {"seconds": 60.0, "wait_seconds": 60.0}
    made = Parser(None, ParseLimits(**(patient | limits)))
    try:
        yield made
    finally:
        await made.close()


async def apart(made: Parser, content: bytes) -> ParsedMessage:
    def chunks() -> Iterator[bytes]:
        for start in range(0, len(content), 1 << 18):
            yield content[start : start + (1 << 18)]

    return await made.parse(chunks)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_one_child_serves_one_message_after_the_other_and_ends_with_the_parser():
    async with parser() as made:
        assert made.pids == []
        for _ in range(3):
            found = await apart(made, LETTER)
            assert msgspec.json.decode(found.content) == {"body_text": "Hi.\r\n", "body_html": None, "attachments": []}
        (pid,) = made.pids
    assert not is_alive(pid)


async def test_attachments_come_as_a_description_and_with_their_content():
    async with parser() as made:
        found = await apart(made, attached(57))
    described = {"filename": "a.png", "content_type": "image/png", "size": 57}
    assert (found.attachments, found.truncated) == ([described], False)
    assert msgspec.json.decode(found.content)["attachments"] == [described | {"content_base64": "A" * 76}]


async def one(made: Parser, content: bytes, number: int) -> tuple[str, bytes] | None:
    found = await made.attachment(lambda: [content], number)
    if found is None:
        return None
    with found.file:
        content = found.file.read()
    assert len(content) == found.size
    return found.filename, content


async def test_one_attachment_comes_whole_however_large_it_is():
    async with parser(content=100_000) as made:
        for size in (57, 5_700_000):
            found = await one(made, attached(size), 0)
            assert found is not None
            assert (found[0], len(found[1])) == ("a.png", size)
        assert await one(made, attached(57), 1) is None
        assert len(made.pids) == 1


async def test_an_attachment_whose_encoding_is_broken_is_none():
    async with parser() as made:
        broken = attached(57).replace(b"A" * 76, b"!" * 76)
        assert await one(made, broken, 0) is None
        with pytest.raises(UnparsableMessage, match="too long"):
            await made.attachment(lambda: [b"A: b\r\n" * 60_000], 0)
        assert len(made.pids) == 1


async def test_what_the_html_names_attachments_by_is_told():
    async with parser() as made:
        named = attached(57).replace(
            b"Content-Type: image/png;", b"Content-ID: <logo@b.test>\r\nContent-Type: image/png;"
        )
        assert (await apart(made, named)).content_ids == ["logo@b.test"]
        assert (await apart(made, attached(57))).content_ids == [""]


async def test_what_does_not_fit_is_left_out():
    async with parser(content=100_000) as made:
        found = await apart(made, attached(100_000))
        assert found.truncated
        content = msgspec.json.decode(found.content)
        assert content["body_text"].strip() == "see below"
        assert content["attachments"][0]["content_base64"] is None
        found = await apart(made, HEAD + b"Content-Type: text/html\r\n\r\n" + b"<\x01>" * 60_000)
        content = msgspec.json.decode(found.content)
        assert (found.truncated, content["body_html"]) == (True, None)
        assert 0 < len(found.content) <= 100_000


async def test_what_is_too_much_is_refused_by_the_same_child():
    async with parser() as made:
        await apart(made, LETTER)
        before = made.pids
        with pytest.raises(UnparsableMessage, match="too long"):
            await apart(made, b"A: b\r\n" * 60_000)
        assert made.pids == before


@pytest.mark.parametrize(
    "limits, content, why",
    [
        ({"cpu_seconds": 1, "seconds": 60}, SLOW, "too much time or memory"),
        ({"seconds": 0.5}, SLOW, "too long"),
        ({"memory": 120 << 20, "seconds": 60}, attached(30 << 20), "memory"),
    ],
)
async def test_a_message_that_takes_too_much_takes_only_itself(limits: dict[str, Any], content: bytes, why: str):
    async with parser(**limits) as made:
        with pytest.raises(UnparsableMessage, match=why):
            await apart(made, content)
    async with parser() as made:
        assert (await apart(made, LETTER)).attachments == []


async def test_after_a_crash_there_is_a_new_child():
    async with parser() as made:
        await apart(made, LETTER)
        (pid,) = made.pids
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(UnparsableMessage):
            await apart(made, LETTER)
        await apart(made, LETTER)
        assert made.pids not in ([], [pid])


async def test_a_child_ends_when_there_is_no_work_or_it_has_done_enough():
    async with parser(idle_seconds=0.2, messages=2) as made:
        await apart(made, LETTER)
        (pid,) = made.pids
        await apart(made, LETTER)
        assert made.pids == []
        await apart(made, LETTER)
        assert made.pids != [pid]
        (pid,) = made.pids
        for _ in range(1000):
            if not is_alive(pid):
                break
            await asyncio.sleep(0.05)
        assert not is_alive(pid)
        assert made.pids == []


async def test_a_message_that_waits_too_long_is_refused_and_the_others_parsed():
    begun = threading.Event()

    def late() -> Iterator[bytes]:
        begun.wait(60)
        yield SLOW

    async with parser(children=1, seconds=1.0, cpu_seconds=10, wait_seconds=0.2) as made:
        slow = asyncio.create_task(made.parse(late))
        await asyncio.sleep(0)
        with pytest.raises(UnparsableMessage, match="too many messages"):
            await apart(made, LETTER)
        begun.set()
        with pytest.raises(UnparsableMessage):
            await slow
        made.limits = replace(made.limits, seconds=60.0, wait_seconds=60.0)
        await apart(made, LETTER)


async def test_nobody_waiting_any_more_leaves_the_child_in_order():
    async with parser(children=1) as made:
        await apart(made, LETTER)
        left = asyncio.create_task(apart(made, attached(10 << 20)))
        await asyncio.sleep(0.01)
        left.cancel()
        assert (await apart(made, LETTER)).attachments == []


async def test_few_large_results_are_held_at_a_time():
    async with parser(large=100, large_held=1, wait_seconds=0.1) as made:
        async with made.hold(lambda: [LETTER], 100) as first:
            assert not first.truncated
            async with made.hold(lambda: [LETTER], 99):
                with pytest.raises(UnparsableMessage, match="too many messages"):
                    async with made.hold(lambda: [LETTER], 100):
                        pass
        async with made.hold(lambda: [LETTER], 100):
            pass


async def test_the_parser_is_not_root_and_has_no_way_out():
    async with parser() as made:
        # A charset that is rarely met: whatever it takes to read it was loaded before the process gave up its rights.
        body = "Пр\u0438вет".encode("koi8_u")
        found = await apart(made, HEAD + b"Content-Type: text/plain; charset=koi8-u\r\n\r\n" + body)
        assert msgspec.json.decode(found.content)["body_text"] == "Привет"
        (pid,) = made.pids
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    uid = 65534 if os.geteuid() == 0 else os.geteuid()
    assert status["Uid"].split() == [str(uid)] * 4
    assert status["Groups"].split() == [] or os.geteuid() != 0
    assert (status["CapEff"].strip(), status["Seccomp"].strip()) == ("0" * 16, "2")
