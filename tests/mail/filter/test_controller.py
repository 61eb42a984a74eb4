"""The client of Rspamd's controller, with answers that Rspamd 3.4 gives, and others."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mailkeep.mail.filter import controller
from mailkeep.mail.filter.controller import ControllerUnavailable, LearnedCounts, LessonRefused, learn, read_statistics

MESSAGE = b"Subject: x\r\n\r\nWords.\r\n"
STATISTICS = b'{"learned":7,"statfiles":[{"revision":24,"symbol":"BAYES_SPAM"},{"revision":41,"symbol":"BAYES_HAM"}]}'


def answer(status: str, body: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(body)) + body


@asynccontextmanager
async def controller_with(*parts: bytes) -> AsyncIterator[tuple[Path, list[bytes]]]:
    """A controller that sends these parts after a request; an empty list: it never answers."""
    requests: list[bytes] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split()[0])
        requests.append(head + await reader.readexactly(length))
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.01)
        if not parts:
            await reader.read()
        writer.close()
        await writer.wait_closed()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "controller.sock"
        server = await asyncio.start_unix_server(converse, path)
        try:
            yield path, requests
        finally:
            server.close()
            await asyncio.sleep(0.05)  # connections end


@pytest.mark.parametrize(
    "parts, result",
    [
        ((answer("200 OK", b'{"success":true}'),), "taught"),
        ((answer("200 OK", b'{"success":true}')[:20], answer("200 OK", b'{"success":true}')[20:]), "taught"),
        ((answer("208 <x> has been already learned as spam, ignore it", b"{}"),), "known"),
        # Rspamd sends no body with 204, but its length.
        ((b"HTTP/1.1 204 <x> contains less tokens than required\r\nContent-Length: 83\r\n\r\n",), "skipped"),
    ],
)
async def test_lessons(parts: tuple[bytes, ...], result: str) -> None:
    async with controller_with(*parts) as (path, requests):
        assert await learn(path, "spam", MESSAGE) == result
        (request,) = requests
        assert request.startswith(b"POST /learnspam HTTP/1.1\r\n")
        assert request.endswith(b"\r\n\r\n" + MESSAGE)
        assert b"\r\nLearn-Type: bulk\r\n" in request


@pytest.mark.parametrize(
    "parts, error",
    [
        ((answer("400 Empty body is not permitted", b"{}"),), LessonRefused),
        ((answer("500 Internal error", b"{}"),), ControllerUnavailable),
        ((b"",), ControllerUnavailable),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}",), ControllerUnavailable),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",), ControllerUnavailable),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",), ControllerUnavailable),
        ((b"SSH-2.0-x\r\n\r\n",), ControllerUnavailable),
        ((b"HTTP/1.1 two\r\n\r\n",), ControllerUnavailable),
        ((b"x" * 100_000,), ControllerUnavailable),
        ((), ControllerUnavailable),
    ],
)
async def test_failures(monkeypatch: pytest.MonkeyPatch, parts: tuple[bytes, ...], error: type[Exception]) -> None:
    if not parts:
        monkeypatch.setattr(controller, "_LEARN_SECONDS", 0.2)
    async with controller_with(*parts) as (path, _):
        with pytest.raises(error):
            await learn(path, "ham", MESSAGE)


async def test_without_a_controller(tmp_path: Path) -> None:
    with pytest.raises(ControllerUnavailable):
        await read_statistics(tmp_path / "controller.sock")


async def test_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    async with controller_with(answer("200 OK", STATISTICS)) as (path, _):
        assert await read_statistics(path) == LearnedCounts(24, 41)
    for body in (b"[]", b"{", b'{"statfiles":[{"symbol":"BAYES_HAM","revision":"x"}]}'):
        async with controller_with(answer("200 OK", body)) as (path, _):
            with pytest.raises(ControllerUnavailable):
                await read_statistics(path)
    async with controller_with(answer("403 Unauthorized")) as (path, _):
        with pytest.raises(ControllerUnavailable):
            await read_statistics(path)
