"""An NTP server on loopback."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import cast

from mailkeep.core.clock import utc_now

_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)


class _Server(asyncio.DatagramProtocol):
    def __init__(self, ahead: float, stratum: int) -> None:
        self._ahead, self._stratum = timedelta(seconds=ahead), stratum
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport
        assert data[0] == 0x23
        seconds = (utc_now() + self._ahead - _EPOCH) / timedelta(seconds=1)
        whole = int(seconds) % 2**32, int(seconds % 1 * 2**32)
        head = bytes([0x24, self._stratum, 0, 0]) + bytes(12)
        self._transport.sendto(head + bytes(8) + data[40:48] + struct.pack("!4I", *whole, *whole), addr)


@asynccontextmanager
async def ntp_server(*, ahead: float = 0, stratum: int = 2) -> AsyncGenerator[str]:
    """A server whose clock is `ahead` seconds ahead of ours; stratum 0 refuses to answer. Its HOST:PORT."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Server(ahead, stratum), local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")[:2]
    try:
        yield f"{host}:{port}"
    finally:
        transport.close()
