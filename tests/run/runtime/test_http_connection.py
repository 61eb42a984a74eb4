"""Slow, endless and too many connections to a listener; deadlines are short where needed."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from mailkeep.run.runtime.connection_limits import ConnectionLimiter, HttpLimits
from mailkeep.run.runtime.http import HttpListener

PATIENT = HttpLimits(connections=8, per_address=6, header_seconds=60, body_seconds=60, read_seconds=60)
QUICK = replace(PATIENT, header_seconds=0.8, body_seconds=0.8, read_seconds=2, slowest_bytes_per_second=10**9)
LATE = 1.2  # beyond the deadline of a head
LARGE = 16 << 20
HEAD = b"GET /hello HTTP/1.1\r\nHost: x\r\n"
HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


async def application(scope: Any, receive: Any, send: Any) -> None:
    """/hello answers at once, /late after `LATE`, /large with 16 MiB in one piece, /refused without reading, /echo with
    the body.
    """
    body = b""
    if scope["path"] == "/late":
        await asyncio.sleep(LATE)
    elif scope["path"] != "/refused":
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body")
    content = {"/large": b"x" * LARGE, "/echo": body}.get(scope["path"], b"hello")
    headers = [(b"content-length", str(len(content)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})


@asynccontextmanager
async def listening(limits: HttpLimits) -> AsyncIterator[HttpListener]:
    listener = HttpListener("127.0.0.1", 0, "The test")
    await listener.start(application, grace_seconds=1, limits=limits)
    try:
        yield listener
    finally:
        for client in Client.all:
            client.close()
        await asyncio.sleep(0.01)
        Client.all.clear()
        await listener.stop()


@pytest.fixture
async def listener() -> AsyncIterator[HttpListener]:
    async with listening(PATIENT) as found:
        yield found


@pytest.fixture
async def quick() -> AsyncIterator[HttpListener]:
    async with listening(QUICK) as found:
        yield found


class Client:
    all: ClassVar[list[Client]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.all.append(self)

    async def send(self, *pieces: bytes, pause: float = 0) -> Client:
        for piece in pieces:
            self.writer.write(piece)
            await asyncio.sleep(pause)
        return self

    async def rest(self, seconds: float = 30) -> bytes:
        """Everything until the server closes, also what came before a reset."""
        received = b""
        try:
            async with asyncio.timeout(seconds):
                while piece := await self.reader.read(1 << 20):
                    received += piece
        except ConnectionError:
            return received or b"(reset)"
        return received

    async def answer(self, length: int = 5) -> bytes:
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 30)
        kept = [line for line in head.split(b"\r\n") if not line.startswith(b"date: ")]
        return b"\r\n".join(kept) + await self.reader.readexactly(length)

    def close(self) -> None:
        self.writer.transport.abort()


async def connect(listener: HttpListener, address: str = "127.0.0.1") -> Client:
    return Client(*await asyncio.open_connection(listener.host, listener.port, local_addr=(address, 0), limit=LARGE))


@pytest.mark.parametrize(
    "pieces, expected",
    [
        ([], b""),
        ([b"\r\n"], b""),
        ([b"\r\n"] * 100, b""),
        ([b"G"], b"HTTP/1.1 408 "),
        ([HEAD], b"HTTP/1.1 408 "),
        ([HEAD, *[b"X-A: b\r\n"] * 100], b"HTTP/1.1 408 "),
        ([HEAD, *[b"a"] * 100], b"HTTP/1.1 408 "),
    ],
)
async def test_an_incomplete_head_times_out(quick: HttpListener, pieces: list[bytes], expected: bytes):
    began = asyncio.get_running_loop().time()
    client = await connect(quick)
    sending = asyncio.create_task(client.send(*pieces, pause=0.02))
    answer = await client.rest(9)
    assert asyncio.get_running_loop().time() - began > 0.75
    assert len(pieces) < 100 or not sending.done(), "more pieces do not extend the deadline"
    assert answer.startswith(expected)
    assert expected or answer in (b"", b"(reset)")
    sending.cancel()
    client.close()


async def test_the_next_head_on_a_connection_has_its_own_deadline():
    async with listening(replace(QUICK, header_seconds=2)) as listener:
        client = await connect(listener)
        for rest in (2.1, 0):  # it may be idle between requests; then the deadline starts again
            await client.send(HEAD, b"\r\n", pause=0.05)
            assert (await client.answer()).startswith(b"HTTP/1.1 200 ")
            await asyncio.sleep(rest)
        await client.send(HEAD)
        assert (await client.rest(20)).startswith(b"HTTP/1.1 408 ")


async def test_a_request_is_answered_though_the_next_head_hangs(quick: HttpListener):
    client = await connect(quick)
    await client.send(b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n" + HEAD)
    answer = await client.rest()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"hello")


@pytest.mark.parametrize(
    "sent, expected",
    [
        (HEAD + b"X-Long: " + b"a" * (2 << 20), b"HTTP/1.1 431 "),
        (HEAD + b"X-Many: b\r\n" * 201 + b"\r\n", b"HTTP/1.1 431 "),
        (b"GET /" + b"a" * (2 << 20), b"HTTP/1.1 431 "),
        (b"NONSENSE\r\n\r\n", b"HTTP/1.1 400 "),
    ],
)
async def test_an_endless_head_is_refused(listener: HttpListener, sent: bytes, expected: bytes):
    client = await connect(listener)
    answer = (await client.send(*[sent[at : at + 20_000] for at in range(0, len(sent), 20_000)])).rest
    assert (await answer()).startswith(expected)


POST = b"POST /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent", [b"0\r\nX-Trailer: " + b"a" * (2 << 20), b"1;" + b"a" * (2 << 20)], ids=["trailers", "chunk extensions"]
)
async def test_trailers_and_chunk_extensions_are_limited(listener: HttpListener, sent: bytes):
    client = await connect(listener)
    await client.send(POST, *[sent[at : at + 20_000] for at in range(0, len(sent), 20_000)])
    assert await client.rest() in (b"", b"(reset)")


async def test_trailers_are_ignored(listener: HttpListener):
    client = await connect(listener)
    await client.send(POST, b"5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n", HEAD + b"\r\n")
    assert [await client.answer() for _ in range(2)] == [HELLO] * 2
    client.close()


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
ECHO = b"POST /echo HTTP/1.1\r\nHost: x\r\n" + OFFER
BODY = HEAD + b"\r\n"  # looks like a request
OFFERED = {
    "length": ECHO + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    "chunked": ECHO + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nX-A: b\r\n\r\n" % (len(BODY), BODY),
    "websocket": ECHO.replace(b"h2c", b"websocket") + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
}


@pytest.mark.parametrize("offered", OFFERED.values(), ids=OFFERED.keys())
@pytest.mark.parametrize("at_once", [1, 40, 1000])
async def test_offers_of_another_protocol_are_ignored(listener: HttpListener, offered: bytes, at_once: int):
    echo = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
    sent = offered + HEAD + OFFER + b"\r\n" + offered + HEAD + b"\r\n"
    client = await connect(listener)
    await client.send(*[sent[at : at + at_once] for at in range(0, len(sent), at_once)])
    for expected in (echo, HELLO, echo, HELLO):
        assert await client.answer(len(expected.partition(b"\r\n\r\n")[2])) == expected
    client.close()


@pytest.mark.parametrize("pause", [0, 0.05], ids=["together", "apart"])
async def test_the_body_after_an_offer_may_come_later(listener: HttpListener, pause: float):
    client = await connect(listener)
    head, _, body = OFFERED["length"].partition(b"\r\n\r\n")
    await client.send(head + b"\r\n\r\n", body, HEAD + b"Connection: close\r\n\r\n", pause=pause)
    assert (await client.answer(len(BODY))).endswith(BODY)
    assert (await client.rest()).count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "framing", [b"Transfer-Encoding: identity", b"Content-Length: 5\r\nTransfer-Encoding: chunked"]
)
async def test_an_offer_does_not_allow_ambiguous_framing(listener: HttpListener, framing: bytes):
    client = await connect(listener)
    await client.send(ECHO + framing + b"\r\n\r\n" + BODY)
    assert b"HTTP/1.1 200 " not in await client.rest()


async def test_pipelined_requests_are_answered_up_to_a_limit(listener: HttpListener):
    client = await connect(listener)
    await client.send((HEAD + b"\r\n") * 20)
    assert [await client.answer() for _ in range(20)] == [HELLO] * 20
    await client.send((HEAD + b"\r\n") * 10_000)
    assert (await client.rest()).count(b"hello") < 100


async def test_a_disconnect_during_answers_is_not_logged_as_an_error(
    quick: HttpListener, caplog: pytest.LogCaptureFixture
):
    late = b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n"
    for sent in (late + b"{}" * 10, late * 5 + b"{}", late * 40):
        client = await connect(quick)
        await client.send(sent, pause=0.05)
        assert await client.rest() in (b"", b"(reset)")
    gone = await connect(quick)
    await gone.send(late * 5, pause=0.05)
    gone.close()
    await asyncio.sleep(LATE + 0.3)
    assert [line for line in caplog.messages if "Exception" in line] == []


async def test_the_rest_of_a_refused_body_is_read_for_a_limited_time(quick: HttpListener):
    client = await connect(quick)
    began = asyncio.get_running_loop().time()
    await client.send(b"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    sending = asyncio.create_task(client.send(*[b"a"] * 1000, pause=0.01))
    assert (await client.rest()).endswith(b"hello")
    assert asyncio.get_running_loop().time() - began > 0.75
    assert not sending.done(), "it is not read for ever"
    sending.cancel()


async def test_an_answer_that_is_not_read_is_dropped(quick: HttpListener):
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect((quick.host, quick.port))
        reader.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        limiter = _limiter_of(quick)
        for count in (1, 0):
            async with asyncio.timeout(60):
                while limiter.count != count:
                    await asyncio.sleep(0.01)
    reading = await connect(quick)
    await reading.send(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await reading.rest()).count(b"x") >= LARGE


def _limiter_of(listener: HttpListener) -> ConnectionLimiter:
    assert listener._server
    made: Any = listener._server.config.http
    return made.args[0]


def _refusal(answer: bytes) -> tuple[int, str]:
    """Status and code of an answer that must be a whole envelope."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    content = json.loads(body)
    assert int(headers["content-length"]) == len(body)
    assert headers["x-request-id"] == content["meta"]["request_id"]
    assert (
        headers.items()
        >= {"content-type": "application/json", "connection": "close", "cache-control": "no-store"}.items()
    )
    assert content.keys() == {"data", "error", "meta"}
    assert content["data"] is None
    assert content["error"].keys() == {"code", "message", "details"}
    return int(status.split()[1]), content["error"]["code"]


@pytest.mark.parametrize(
    "sent, status, code",
    [
        (b"NONSENSE\r\n\r\n", 400, "BAD_REQUEST"),
        (b"GET /hello?q=\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "BAD_REQUEST"),
        (HEAD, 408, "REQUEST_TIMEOUT"),
        (HEAD + b"X-Many: b\r\n" * 201 + b"\r\n", 431, "HEAD_TOO_LARGE"),
        (HEAD + b"X-Long: " + b"a" * (33 << 10), 431, "HEAD_TOO_LARGE"),
        (b"GET /hello?" + b"a" * (33 << 10) + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431, "HEAD_TOO_LARGE"),
    ],
    ids=["nonsense", "not ascii", "late", "many", "long", "long address"],
)
async def test_refusals_of_a_head_are_in_the_json_envelope(sent: bytes, status: int, code: str):
    async with listening(QUICK if status == 408 else PATIENT) as listener:
        client = await connect(listener)
        await client.send(sent)
        assert _refusal(await client.rest()) == (status, code)


async def test_connections_are_limited_by_address_and_in_total(listener: HttpListener):
    clients = [await connect(listener, "127.0.0.2") for _ in range(6)]
    crowded = await connect(listener, "127.0.0.2")
    crowd = await crowded.rest()
    assert _refusal(crowd) == (503, "UNAVAILABLE")
    assert b"retry-after: 5" in crowd
    clients += [await connect(listener, "127.0.0.3") for _ in range(2)]
    assert (await (await connect(listener, "127.0.0.4")).rest()).startswith(b"HTTP/1.1 503 ")
    for client in clients:
        client.close()
    async with asyncio.timeout(60):
        while _limiter_of(listener).count:
            await asyncio.sleep(0.01)
    client = await connect(listener, "127.0.0.2")
    await client.send(HEAD, b"\r\n")
    assert await client.answer() == HELLO
    client.close()


async def test_a_trusted_proxy_has_no_limit_by_address():
    async with listening(HttpLimits(connections=8, per_address=1, trusted=("127.0.0.2/32",))) as listener:
        clients = [await connect(listener, "127.0.0.2") for _ in range(4)]
        for client in clients:
            await client.send(HEAD, b"\r\n")
            assert await client.answer() == HELLO
            client.close()


@pytest.mark.parametrize(
    "fields, expected",
    [
        (["Authorization: Bearer a", "authorization: Bearer b"], "Authorization is given more than once"),
        (["Authorization: Bearer a", "AUTHORIZATION: Bearer a"], "Authorization is given more than once"),
        (["Host: y"], "Host is given more than once"),
        (["Idempotency-Key: a", "X-A: b", "Idempotency-Key: a"], "Idempotency-Key is given more than once"),
        (None, "Host is missing"),
    ],
)
async def test_duplicate_single_fields_and_a_missing_host_are_refused(
    listener: HttpListener, fields: list[str] | None, expected: str
):
    head = ["GET /hello HTTP/1.1", *([] if fields is None else ["Host: x", *fields]), "", ""]
    client = await connect(listener)
    await client.send("\r\n".join(head).encode())
    answer = await client.rest()
    assert answer.startswith(b"HTTP/1.1 400 ")
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] == "BAD_REQUEST"
    assert expected in error["message"]


async def test_other_fields_may_be_repeated_and_http_1_0_needs_no_host(listener: HttpListener):
    client = await connect(listener)
    await client.send(HEAD, b"Accept: a\r\nAccept: b\r\nAuthorization: Bearer a\r\nConnection: close\r\n\r\n")
    assert (await client.rest()).endswith(b"hello")
    old = await connect(listener)
    await old.send(b"GET /hello HTTP/1.0\r\n\r\n")
    assert (await old.rest()).endswith(b"hello")


async def test_a_stopping_listener_answers_what_has_arrived():
    listener = HttpListener("127.0.0.1", 0, "The test")
    await listener.start(application, grace_seconds=5, limits=PATIENT)
    request = HEAD + b"\r\n"
    idle, running, unread = [await (await connect(listener)).send(b"") for _ in range(3)]
    for each in (idle, unread):
        assert await (await each.send(request)).answer() == HELLO
    await running.send(request.replace(b"/hello", b"/late"), pause=0.1)
    silent = await connect(listener)
    fresh = await connect(listener)
    unread.writer.write(request)  # received by the kernel; the server's side reads it only after it was asked to stop
    stopping = asyncio.create_task(listener.stop())
    closing = HELLO.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    await asyncio.sleep(0.3)
    await fresh.send(request)
    for each in (unread, running, fresh):
        assert await each.answer() == closing
        assert await each.rest() == b""
    assert (await idle.rest(), await silent.rest()) == (b"", b"")
    await asyncio.wait_for(stopping, 30)


async def test_a_listener_passes_all_requests_on_to_the_next_one():
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    address = listening.getsockname()[:2]
    is_over = False

    async def ask_again_and_again() -> int:
        times = 0
        while not is_over:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(HEAD + b"\r\n")
            assert (await asyncio.wait_for(reader.readexactly(len(b"HTTP/1.1 200 OK")), 60)) == b"HTTP/1.1 200 OK"
            writer.close()
            times += 1
        return times

    clients = [asyncio.create_task(ask_again_and_again()) for _ in range(6)]
    for _ in range(4):
        listener = HttpListener.on_socket(listening.dup())
        await listener.start(application, grace_seconds=5)
        await asyncio.sleep(0.3)
        await listener.stop()
    listener = HttpListener.on_socket(listening)
    await listener.start(application, grace_seconds=5)
    is_over = True
    assert sum(await asyncio.gather(*clients)) > 20
    await listener.stop()
