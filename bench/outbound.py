"""A POST of 600 bytes by the outbound client on a kept connection, compared with plain aiohttp: CPU of the client.

Measures the cost of the guard: URL parsing, address checks, the pinned connection, limits. The receiver is a separate
process; the sides alternate. `python -m bench.outbound [POSTS] [TURNS]`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import multiprocessing
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import cast

import aiohttp
import uvloop

from mailkeep.net.client import OutboundClient, OutboundRequest

BODY = b"x" * 600
AT_ONCE = 16
JSON = {"Content-Type": "application/json"}


class Receiver(asyncio.Protocol):
    """Answers each request of BODY's length without parsing it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._buffer = cast(asyncio.Transport, transport), b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0 and len(self._buffer) >= end + 4 + len(BODY):
            self._buffer = self._buffer[end + 4 + len(BODY) :]
            self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def receive(pipe: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.Event().wait()

    uvloop.run(serve())


async def cpu(post: Callable[[], Awaitable[object]], posts: int) -> float:
    """CPU seconds of this process per POST."""

    async def some() -> None:
        for _ in range(posts // AT_ONCE):
            await post()

    started = time.process_time()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return (time.process_time() - started) / (posts // AT_ONCE * AT_ONCE)


async def main(port: int, posts: int, turns: int) -> None:
    url, loopback = f"http://127.0.0.1:{port}/hooks", (ipaddress.ip_network("127.0.0.0/8"),)
    outbound = OutboundClient()

    async def ours() -> None:
        request = OutboundRequest(
            method="POST", url=url, headers=JSON, body=BODY, allowed_networks=loopback, allow_http=True
        )
        assert (await outbound.send(request)).status == 200

    async with aiohttp.ClientSession() as session:

        async def plain() -> None:
            async with session.post(url, data=BODY, headers=JSON) as answer:
                await answer.read()
                assert answer.status == 200

        seconds: dict[str, list[float]] = {"ours": [], "plain": []}
        for turn in range(turns + 1):
            for name, post in (("ours", ours), ("plain", plain)):
                took = await cpu(post, posts)
                if turn:  # the first warms up
                    seconds[name].append(took)
    await outbound.close()
    own, theirs = (statistics.median(seconds[name]) * 1e6 for name in ("ours", "plain"))
    print(f"a POST of {len(BODY)} bytes, {turns} × {posts:,}, {AT_ONCE} at once, CPU of the client, medians")
    print(f"outbound client {own:.0f} µs, aiohttp as it comes {theirs:.0f} µs: {own / theirs:.2f} ×")
    print("promise: ≤ 2 ×")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    posts, turns = numbers + [4_000, 9][len(numbers) :]
    near, far = multiprocessing.Pipe()
    receiver = multiprocessing.Process(target=receive, args=(far,), daemon=True)
    receiver.start()
    uvloop.run(main(near.recv(), posts, turns))
    receiver.terminate()
    receiver.join(5)
