"""A client of NTP servers (RFC 5905 §14, SNTP): how far a clock is off. It never sets one."""

from __future__ import annotations

import asyncio
import secrets
import struct
from datetime import UTC, datetime, timedelta

from mailkeep.core.clock import Clock

_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)
_ERA = timedelta(seconds=1 << 32)
_PACKET = struct.Struct("!BBbb11I")
_REQUEST = 0x23  # version 4, mode 3 (client)
_SERVER_MODE, _NOT_SYNCHRONIZED, _MAX_STRATUM = 4, 3, 15


class NtpError(Exception):
    """No useful answer; the text says why."""


async def find_offset(host: str, port: int, clock: Clock, seconds: float) -> float:
    """The seconds that `clock` is ahead of the server's, within `seconds`. NtpError."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()
    try:
        async with asyncio.timeout(seconds):
            transport, _ = await loop.create_datagram_endpoint(lambda: _Receiver(answer), remote_addr=(host, port))
            try:
                token = secrets.token_bytes(8)  # instead of our time, which the server only repeats (§14)
                sent_at = clock()
                transport.sendto(bytes([_REQUEST]) + bytes(39) + token)
                packet = await answer
                received_at = clock()
            finally:
                transport.close()
    except TimeoutError as error:
        raise NtpError("It does not answer.") from error
    except OSError as error:
        raise NtpError(f"{error.strerror or error}.") from error
    server = _read(packet, token)
    return (sent_at + (received_at - sent_at) / 2 - _nearest(server, sent_at)).total_seconds()


class _Receiver(asyncio.DatagramProtocol):
    def __init__(self, answer: asyncio.Future[bytes]) -> None:
        self._answer = answer

    def datagram_received(self, data: bytes, addr: object) -> None:
        if not self._answer.done():
            self._answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc)


def _read(packet: bytes, token: bytes) -> datetime:
    """The middle of the times at which the server received the request and answered it."""
    if len(packet) < _PACKET.size or packet[24:32] != token:
        raise NtpError("What answers is no NTP server.")
    flags, stratum, _, _, *words = _PACKET.unpack_from(packet)
    if flags & 7 != _SERVER_MODE or flags >> 6 == _NOT_SYNCHRONIZED or not 1 <= stratum <= _MAX_STRATUM:
        raise NtpError("Its own clock is not synchronized, or it refuses to answer.")
    received, transmitted = (words[at] + words[at + 1] / 2**32 for at in (7, 9))
    if not transmitted:
        raise NtpError("Its answer has no time.")
    return _EPOCH + timedelta(seconds=(received + transmitted) / 2)


def _nearest(server: datetime, at: datetime) -> datetime:
    """The server's time in the era of 136 years that is nearest to ours (§6)."""
    while at - server > _ERA / 2:
        server += _ERA
    return server
