"""Connections of aiohttp that read a bounded amount and end at once.

aiohttp closes a TLS connection politely: asyncio then waits up to 30 seconds for the server's close_notify, and reads
all that the server sends meanwhile. It also reads what a server sends beside its answer (informational answers, chunk
extensions, trailers, data after the end) for as long as the server sends. Connections made here are aborted instead
of closed, and lose a server that sends more than an answer may have.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

MAX_HEAD = 128 * 1024
"""Bytes before the body: the status line, the header fields and all informational answers."""
_PIECE = 16 * 1024  # parsed at a time, so that many answers in one read can't hold up the event loop


class BoundedConnection(ResponseHandler):
    """A connection that reads at most `max_read` bytes for each answer (None: an unlimited body), then aborts."""

    def __init__(self, loop: Any, max_read: int | None) -> None:
        super().__init__(loop=loop)
        self._max_read = max_read
        self._read = 0
        self._answered = False

    def set_response_params(self, **params: Any) -> None:
        """Begin the next answer."""
        self._read, self._answered = 0, False
        super().set_response_params(**params)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Note when the head of the answer is complete: informational ones precede it (RFC 9110 §15.2)."""
        self._answered = self._answered or data[0].code >= 200 or data[0].code == 101
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Parse what came; abort when the server sends more than it may, or what is no HTTP."""
        if not data:
            super().data_received(data)
            return
        for start in range(0, len(data), _PIECE):
            piece = data[start : start + _PIECE]
            self._read += len(piece)
            if reason := self._excess():
                self._lose(reason)
                return
            super().data_received(piece)
            if self.transport is None or self.transport.is_closing():
                break
        if self.transport is not None and self.transport.is_closing():
            self.transport.abort()

    def _excess(self) -> str | None:
        """Why the server may not send any more, None where it may."""
        if not self._answered:
            return "The head of the answer is too long." if self._read > MAX_HEAD else None
        if self._payload is not None and self._payload.is_eof():
            return "The server sent data after its answer."
        if self._max_read is not None and self._read > self._max_read:
            return "The answer is too long for its content."
        return None

    def _lose(self, reason: str) -> None:
        error = aiohttp.ClientPayloadError(reason)
        if self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()

    def close(self) -> None:
        """End at once: nothing more is read or written."""
        self.abort()


class BoundedConnector(aiohttp.TCPConnector):
    """A connector of such connections."""

    def __init__(self, *, max_read: int | None, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType] socket_factory
        loop = self._loop
        self._factory = lambda: BoundedConnection(loop, max_read)
