"""Pigeonhole's script protocol: what Dovecot sends, and what others might."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.dovecot import script_server
from mailkeep.mail.dovecot.script_server import (
    MalformedScriptRequest,
    ScriptRequest,
    is_unresponsive,
    parse_head,
    serve_scripts,
)

HEAD = b"VERSION\tscript\t4\t0\nalarm=2\n-\nspam\n01a1ff88-06cb-700a-b704-740430818f21\n\n"
ARGUMENTS = ["spam", "01a1ff88-06cb-700a-b704-740430818f21"]
LIMIT = 1000


@asynccontextmanager
async def serving(**changes: object) -> AsyncIterator[tuple[Path, list[ScriptRequest]]]:
    """A server on a socket, and the requests that it got."""
    with tempfile.TemporaryDirectory() as folder:
        path, requests = Path(folder) / "learn", list[ScriptRequest]()
        options = {"accounts": {os.getuid()}, "max_bytes": LIMIT, "group": os.getgid()} | changes
        server = await serve_scripts(path, requests.append, **options)  # type: ignore[arg-type]
        try:
            yield path, requests
        finally:
            server.close()


async def say(path: Path, *parts: bytes, ends: bool = True) -> bytes:
    """The answer to what a client sends, part by part, until the server closes the connection."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        if ends:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "parts, content, answer",
    [
        ((HEAD, b"Subject: x\r\n\r\n"), b"Subject: x\r\n\r\n", b"+\n"),
        ((HEAD[:9], HEAD[9:30], HEAD[30:] + b"a", b"b\n\n-\n"), b"ab\n\n-\n", b"+\n"),
        ((HEAD.replace(b"\n-\n", b"\nnoreply\n"), b"a"), b"a", b""),
        ((HEAD,), b"", b"+\n"),
        ((HEAD, b"a" * LIMIT), b"a" * LIMIT, b"+\n"),
        ((HEAD, b"a" * LIMIT, b"a" * 300_000), None, b"+\n"),
    ],
    ids=["message", "in parts", "noreply", "empty", "largest", "too large"],
)
async def test_requests(parts: tuple[bytes, ...], content: bytes | None, answer: bytes) -> None:
    async with serving() as (path, requests):
        assert await say(path, *parts) == answer
        assert requests == [ScriptRequest(ARGUMENTS, content)]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\n\n",
        HEAD[:-1],
        HEAD.replace(b"4", b"5", 1),
        HEAD.replace(b"\n-\n", b"\n"),
        HEAD.replace(b"spam", b"\xff"),
        HEAD.replace(b"spam", b"s" * 100_000),
        HEAD.replace(b"spam\n", b"spam\n" * 10_000),
        b"\0" * 1_000_000,
    ],
)
async def test_a_malformed_request_ends_the_connection_and_is_not_taken(sent: bytes) -> None:
    async with serving() as (path, requests):
        assert await say(path, sent) == b""
        assert requests == []
        assert await say(path, HEAD, b"after it") == b"+\n"
        assert len(requests) == 1


@given(st.lists(st.binary(max_size=40), max_size=40))
def test_any_head_is_parsed_or_malformed(lines: list[bytes]) -> None:
    try:
        arguments, _ = parse_head(lines)
    except MalformedScriptRequest:
        return
    assert len(arguments) < len(lines)


async def test_other_accounts_are_refused() -> None:
    async with serving(accounts={os.getuid() + 1}) as (path, requests):
        assert await say(path, HEAD, b"a") == b""
        assert requests == []
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


@pytest.mark.parametrize(
    "sent", [b"", HEAD[:20], HEAD + b"half a mess"], ids=["nothing", "half a head", "half a message"]
)
async def test_half_open_connections_end_and_leave_room_for_others(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    for name in ("_HEAD_SECONDS", "_IDLE_SECONDS"):
        monkeypatch.setattr(script_server, name, 0.5)
    async with serving() as (path, requests):
        answers = await asyncio.gather(*(say(path, sent, ends=False) for _ in range(script_server._MAX_CONNECTIONS)))
        assert set(answers) == {b""}
        assert requests == []
        assert await say(path, HEAD, b"a") == b"+\n"


async def test_a_slow_sender_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_server, "_WHOLE_SECONDS", 0.5)
    async with serving() as (path, requests):
        with pytest.raises(ConnectionError):
            await send_slowly(path)
        assert requests == []


async def send_slowly(path: Path) -> None:
    _, writer = await asyncio.open_unix_connection(path)
    try:
        async with asyncio.timeout(30):
            writer.write(HEAD)
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.05)
    finally:
        writer.close()


async def test_more_connections_than_the_limit_are_closed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_server, "_MAX_CONNECTIONS", 2)
    async with serving() as (path, requests):
        held = [await asyncio.open_unix_connection(path) for _ in range(2)]
        while await say(path, HEAD, b"a") == b"+\n":  # the server has not counted both yet
            requests.clear()
        assert requests == []
        for _, writer in held:
            writer.close()
        async with asyncio.timeout(30):
            while await say(path, HEAD, b"a") != b"+\n":
                await asyncio.sleep(0.05)


async def test_a_client_that_does_not_wait_for_the_answer_is_no_error() -> None:
    async with serving() as (path, requests):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(HEAD + b"a")
        await _until(lambda: len(requests) == 1)


async def _until(is_done: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_done():
            await asyncio.sleep(0.02)


async def test_whether_a_server_is_responsive(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as (path, requests):
        assert not await is_unresponsive(path)
        assert requests == []
    monkeypatch.setattr(script_server, "_ALIVE_SECONDS", 0.2)
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as hanging:
        path = Path(folder) / "learn"
        assert not await is_unresponsive(path)
        hanging.bind(str(path))
        hanging.listen()
        assert await is_unresponsive(path)
