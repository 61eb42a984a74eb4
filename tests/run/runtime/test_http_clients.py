"""A refused body of 80 MiB, or whatever follows a refused head: each HTTP client must see the answer."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mailkeep.run.runtime.connection_limits import HttpLimits
from mailkeep.run.runtime.http import HttpListener
from tests.support.node import run_node
from tests.web.pipeline_setup import PipelineSetup

SIZE = 80 << 20
JSON = {"content-type": "application/json", "authorization": "Bearer svc_ada"}


@asynccontextmanager
async def listening(**limits: Any) -> AsyncIterator[HttpListener]:
    listener = HttpListener("127.0.0.1", 0, "The test")
    await listener.start(PipelineSetup().pipeline, grace_seconds=1, limits=HttpLimits(**limits))
    try:
        yield listener
    finally:
        await listener.stop()


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with listening() as listener:
        yield f"{listener.url}/api/v1/large"


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("body") / "body.json"
    path.write_bytes(b'"' + b"x" * (SIZE - 2) + b'"')
    return path


def by_http_client(url: str, body: Path) -> tuple[int, Any]:
    netloc, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(netloc, timeout=60)
    try:
        connection.request("POST", f"/{path}", body.read_bytes(), JSON)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def by_urllib(url: str, body: Path) -> tuple[int, Any]:
    """It requests to close the connection after the answer."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url, body.read_bytes(), JSON), timeout=60)
    with refused.value as answer:
        return answer.code, json.loads(answer.read())


def by_chunks(url: str, body: Path) -> tuple[int, Any]:
    """Without a content length, so that the limit is only noticed while reading."""
    netloc, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(netloc, timeout=60)
    pieces = (piece for piece in [body.read_bytes()[:65536]] * (SIZE >> 16))
    try:
        connection.request("POST", f"/{path}", pieces, JSON | {"connection": "close"}, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def by_curl(url: str, body: Path, *options: str) -> tuple[int, Any]:
    fields = [option for name, value in JSON.items() for option in ("-H", f"{name}: {value}")]
    command = ["curl", "-sS", "-m", "60", *options, *fields, "--data-binary", f"@{body}", "-w", "\n%{http_code}", url]
    output = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
    content, _, status = output.rpartition("\n")
    return int(status), json.loads(content)


def by_eager_curl(url: str, body: Path) -> tuple[int, Any]:
    """It does not wait for 100 Continue, and closes afterwards."""
    return by_curl(url, body, "-H", "Expect:", "-H", "Connection: close")


def by_aiohttp(url: str, body: Path) -> tuple[int, Any]:
    async def post() -> tuple[int, Any]:
        with body.open("rb") as file:
            async with aiohttp.ClientSession() as session, session.post(url, data=file, headers=JSON) as answer:
                return answer.status, await answer.json()

    return asyncio.run(post())


def by_node(url: str, body: Path) -> tuple[int, Any]:
    program = """
        import { readFileSync } from "node:fs";
        const { url, body, headers } = JSON.parse(readFileSync(0));
        const answer = await fetch(url, { method: "POST", headers, body: readFileSync(body) });
        console.log(JSON.stringify([answer.status, await answer.json()]));
    """
    script = body.with_name("post.mjs")
    script.write_text(program)
    request = json.dumps({"url": url, "body": str(body), "headers": JSON}).encode()
    status, answer = json.loads(run_node(script, request, timeout=90))
    return status, answer


@pytest.mark.parametrize(
    "post",
    [by_http_client, by_urllib, by_chunks, by_curl, by_eager_curl, by_aiohttp, by_node],
    ids=lambda each: each.__name__,
)
async def test_a_body_of_80_mib_gets_a_clean_413(url: str, body: Path, post: Callable[[str, Path], tuple[int, Any]]):
    status, answer = await asyncio.to_thread(post, url, body)
    assert (status, answer["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")


async def test_an_endless_body_is_not_read_for_ever():
    async with listening(unread_bytes=1 << 20) as listener:
        reader, writer = await asyncio.open_connection(listener.host, listener.port)
        fields = "".join(f"{name}: {value}\r\n" for name, value in JSON.items())
        writer.write(f"POST /api/v1/large HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {1 << 40}\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        assert answer.startswith(b"HTTP/1.1 413 ")
        sent = 0
        with suppress(ConnectionError):
            async with asyncio.timeout(30):
                while sent < 256 << 20:
                    writer.write(b"x" * 65536)
                    await writer.drain()
                    sent += 65536
        assert sent < 64 << 20
        writer.transport.abort()


FLOOD = 16 << 20


def _exchange(listener: HttpListener, *sent: bytes) -> bytes:
    """The answer to a client that reads after it has sent everything; raises if the server resets."""
    with socket.create_connection((listener.host, listener.port), timeout=20) as client:
        for piece in sent:
            client.sendall(piece)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
        return answer


@pytest.mark.parametrize(
    "sent, expected",
    [
        ([b"POST /x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % FLOOD, b"x" * FLOOD], b"HTTP/1.1 400 "),
        ([b"NONSENSE\r\n\r\n", b"x" * FLOOD], b"HTTP/1.1 400 "),
        ([b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-Many: b\r\n" * (FLOOD // 11)], b"HTTP/1.1 431 "),
        ([b"GET / HTTP/1.1\r\nHost: x\r\n"], b"HTTP/1.1 408 "),
    ],
    ids=["without Host", "nonsense", "header flood", "late"],
)
async def test_data_after_a_refused_head_is_read_so_the_answer_arrives(sent: list[bytes], expected: bytes):
    async with listening(header_seconds=1) as listener:
        assert (await asyncio.to_thread(_exchange, listener, *sent)).startswith(expected)


@pytest.mark.parametrize(
    "framing",
    [
        b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx",
        b"Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n{}",
    ],
)
async def test_a_body_with_wrong_framing_gets_400(framing: bytes, caplog: pytest.LogCaptureFixture):
    fields = "".join(f"{name}: {value}\r\n" for name, value in JSON.items())
    head = f"POST /api/v1/large HTTP/1.1\r\nHost: x\r\n{fields}".encode()
    async with listening() as listener:
        answer = await asyncio.to_thread(_exchange, listener, head + framing + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(content)["error"]["code"] == "BAD_REQUEST"
    assert [line for line in caplog.messages if "Exception" in line or "ASGI" in line] == []


async def test_a_client_that_keeps_sending_after_a_refusal_is_cut_off():
    async with listening(unread_bytes=1 << 20) as listener:
        with pytest.raises(ConnectionError):
            await asyncio.to_thread(_exchange, listener, b"NONSENSE\r\n\r\n", *[b"x" * 65536] * 1024)
