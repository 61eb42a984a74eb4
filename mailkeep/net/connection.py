"""Connections of aiohttp that limit what they read and close at once.

When aiohttp closes a TLS connection, asyncio waits up to 30 seconds for the server's close_notify and reads all that
the server sends meanwhile. aiohttp also reads without limit what a server sends around the body: informational
responses, chunk extensions, trailers, data after the end. These connections are aborted instead of closed, and also
when a server sends more than allowed.
"""

from __future__ import annotations

from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

MAX_HEAD = 128 * 1024
"""Bytes before the body: status line, header fields and all informational responses."""
_CHUNK = 16 * 1024  # parsed at a time, so that many responses in one read can't block the event loop


class BoundedConnection(ResponseHandler):
    """A connection that aborts after reading `max_read` bytes for a response (None: unlimited body)."""

    def __init__(self, loop: Any, max_read: int | None) -> None:
        super().__init__(loop=loop)
        self._max_read = max_read
        self._read = 0
        self._head_complete = False

    def set_response_params(self, **params: Any) -> None:
        """Begin the next response."""
        self._read, self._head_complete = 0, False
        super().set_response_params(**params)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Note when the head of the final response is complete (RFC 9110 §15.2)."""
        self._head_complete = self._head_complete or data[0].code >= 200 or data[0].code == 101
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Parse data; abort if the server sends more than allowed, or data that is not HTTP."""
        if not data:
            super().data_received(data)
            return
        for start in range(0, len(data), _CHUNK):
            chunk = data[start : start + _CHUNK]
            self._read += len(chunk)
            if reason := self._excess():
                self._abort_with(reason)
                return
            super().data_received(chunk)
            if self.transport is None or self.transport.is_closing():
                break
        if self.transport is not None and self.transport.is_closing():
            self.transport.abort()

    def _excess(self) -> str | None:
        """The limit that the server has exceeded, as an error message; None if it has not."""
        if not self._head_complete:
            return "The head of the response is too long." if self._read > MAX_HEAD else None
        if self._payload is not None and self._payload.is_eof():
            return "The server sent data after its response."
        if self._max_read is not None and self._read > self._max_read:
            return "The response is too long."
        return None

    def _abort_with(self, reason: str) -> None:
        error = aiohttp.ClientPayloadError(reason)
        if self._payload is not None and not self._payload.is_eof():
            self._payload.set_exception(error)
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()

    def close(self) -> None:
        """Abort: nothing more is read or written."""
        self.abort()


class BoundedConnector(aiohttp.TCPConnector):
    """A connector that creates `BoundedConnection`s."""

    def __init__(self, *, max_read: int | None, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType] socket_factory
        loop = self._loop
        self._factory = lambda: BoundedConnection(loop, max_read)
