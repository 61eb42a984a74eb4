"""A receiver of webhooks over TLS that answers 200 at once: `python -m bench.rig.hook_sink CERTIFICATE`.

It prints its port. For each line on standard input it prints JSON: {id of the body: time of its first arrival in
nanoseconds of the monotonic clock}, and the number of requests.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
from typing import Any

import uvloop

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_ID = b'"id":"'


class Hook(asyncio.Protocol):
    """One connection."""

    heard: dict[str, int] = {}
    count = 0

    def __init__(self) -> None:
        self._read = b""
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # of uvloop, which is no WriteTransport

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            at = head.index(b"content-length:") + 15
            size = int(head[at:].split(b"\r\n", 1)[0])
            if len(self._read) < end + 4 + size:
                return
            body, self._read = self._read[end + 4 : end + 4 + size], self._read[end + 4 + size :]
            Hook.count += 1
            if (start := body.find(_ID)) >= 0:
                Hook.heard.setdefault(body[start + 6 : start + 42].decode(), time.monotonic_ns())
            self._transport.write(_ANSWER)


async def main(certificate: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.get_running_loop().create_server(Hook, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps({"count": Hook.count, "heard": Hook.heard}), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
