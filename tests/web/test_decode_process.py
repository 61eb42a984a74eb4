"""Large bodies, read in child processes: the same answers as on the event loop, and limits that hold."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core.errors import InvalidField, InvalidJson, MissingFields, Refusal
from mailkeep.features.mailflow.sending.wire import BatchBody, SendBody
from mailkeep.web.decode import read_json
from mailkeep.web.decode_process import INLINE_BYTES, DecodeLimits, Decoder
from mailkeep.web.fields import OneOf
from mailkeep.web.string_views import StringView

MODULE = "mailkeep.features.mailflow.sending.wire"
LETTER: dict[str, Any] = {
    "from": {"email": "a@example.test"},
    "to": [{"email": "b@elsewhere.test"}],
    "subject": "Größe",
    "text_body": "Hi.",
}
MANY = [{"email": f"a{n}@elsewhere.test", "name": "x" * 100} for n in range(1000)]


@pytest.fixture
async def decoder() -> AsyncIterator[Decoder]:
    made = Decoder([MODULE], DecodeLimits(seconds=60, wait_seconds=60))
    yield made
    await made.close()


def body(**more: Any) -> bytes:
    return json.dumps(LETTER | more).encode()


async def test_a_large_body_is_read_in_a_child_as_it_would_be_here(decoder: Decoder):
    for into in (SendBody, OneOf((SendBody, BatchBody))):
        given = body(to=MANY, headers={"X-A": "b"}, list_unsubscribe={"mailto": "a@example.test"})
        assert len(given) > INLINE_BYTES
        assert await decoder.read(given, into) == read_json(given, into)
        assert len(decoder.pids) == 1


async def test_an_attachment_stays_where_it_is_and_needs_no_child(decoder: Decoder):
    content = "QUJD" * 50_000
    attached = [{"filename": "a", "content_type": "a/b", "content": content}]
    alone = await decoder.read(body(attachments=attached), SendBody)
    assert decoder.pids == []
    beside = await decoder.read(body(attachments=attached, to=MANY), SendBody)
    assert len(decoder.pids) == 1
    for found in (alone, beside):
        slice_ = found.attachments[0].content
        assert isinstance(slice_, StringView)
        assert bytes(slice_.raw) == content.encode()


@pytest.mark.parametrize(
    "given, refusal",
    [
        (body(to=MANY * 2), InvalidField),
        (json.dumps({"to": MANY}).encode(), MissingFields),
        (b"[" * 100_000, InvalidJson),
        (b'{"a": "' + b"\xff" * 10 + b'", "b": [' + b"1," * 100_000 + b"1]}", InvalidJson),
    ],
)
async def test_what_is_refused_in_a_child_is_refused_alike(decoder: Decoder, given: bytes, refusal: type[Refusal]):
    with pytest.raises(refusal) as there:
        await decoder.read(given, SendBody)
    with pytest.raises(refusal) as here:
        read_json(given, SendBody)
    assert (there.value.message, there.value.details) == (here.value.message, here.value.details)
    assert len(decoder.pids) == 1


async def test_items_of_a_batch_are_read_one_by_one(decoder: Decoder):
    given = json.dumps({"messages": [LETTER | {"to": MANY}, {"from": 5}, LETTER]}).encode()
    first, second, third = (await decoder.read(given, BatchBody)).messages
    assert (len(first.to), third.subject) == (1000, "Größe")
    assert isinstance(second, MissingFields)
    surplus = await decoder.read(json.dumps({"messages": [LETTER] * 2000}).encode(), BatchBody)
    assert surplus.messages == [None] * 2000


async def test_a_body_that_takes_too_much_is_refused():
    hasty = Decoder([MODULE], DecodeLimits(cpu_seconds=0, seconds=60, wait_seconds=60))  # less than a second
    with pytest.raises(InvalidJson, match="too much time or memory"):
        await hasty.read(body(to=[[[[{"é" * 8: 1}] * 10]]] * 90_000), None)
    await hasty.close()
    decoder = Decoder([MODULE], DecodeLimits(seconds=60, wait_seconds=60))
    assert await decoder.read(body(to=MANY), SendBody) == read_json(body(to=MANY), SendBody)
    (pid,) = decoder.pids
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(InvalidJson, match="too much time or memory"):
        await decoder.read(body(to=MANY), SendBody)
    await decoder.read(body(to=MANY), SendBody)
    assert decoder.pids != [pid]
    await decoder.close()
    assert decoder.pids == []


async def test_a_child_is_confined_and_ends_without_work():
    decoder = Decoder([MODULE], DecodeLimits(seconds=60, wait_seconds=60, idle_seconds=0.2))
    await decoder.read(body(to=MANY), SendBody)
    (pid,) = decoder.pids
    status = Path(f"/proc/{pid}/status").read_text()
    assert "Seccomp:\t2" in status
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    await decoder.close()


async def test_one_send_call_does_not_block_the_process(decoder: Decoder):
    """200,000 recipients at a non-ASCII domain: 27.7 s of the event loop, before."""
    given = body(to=[{"email": "a@bücher.test"}] * 200_000)
    with pytest.raises(InvalidField, match="at most 1000 items"):
        await decoder.read(given, SendBody)
    assert len(decoder.pids) == 1, "it was read beside the event loop"
