"""Reading a request body: which bodies are rejected, how slow a client may be, and where the bytes are kept."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping

from starlette.requests import Request

from mailkeep.core.errors import BadRequest, InvalidJson, PayloadTooLarge, UnsupportedMediaType
from mailkeep.settings.tree import HttpSettings
from mailkeep.web.memory_budget import SMALL, MemoryReservation
from mailkeep.web.string_views import JsonText, MappedBody

LARGE = 1 << 20
"""Bodies of more bytes are kept in a memory file of their own and parsed outside the event loop."""

_MAX_DIGITS = 18  # of a Content-Length
_GRACE_SECONDS = 60.0  # every body may take this long, however slowly it arrives


async def read_body(request: Request, limit: int, share: MemoryReservation, http: HttpSettings) -> JsonText:
    """The body, at most `limit` bytes, read within the deadlines of `http`; `share` reserves the memory for it.

    A body is rejected before it is read if its header fields suffice (length, encoding), and at its first byte if it is
    not JSON.
    """
    headers = request.headers
    announced = headers.get("content-length")
    if announced is None:
        if "transfer-encoding" not in headers:
            return b""  # RFC 9112 §6.3: no body
        announced = "0"
    if not announced.isascii() or not announced.isdigit():
        raise BadRequest("Content-Length is not a number.")
    if len(announced) > _MAX_DIGITS or int(announced) > limit:
        raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding (uncompressed).")
    is_announced = "content-length" in headers
    if is_announced:
        await share.reserve(int(announced))
    body = _BodyBuffer(int(announced))
    async for chunk in _read_chunks(request, http):
        if chunk and not body.size and not _is_json(headers):
            raise UnsupportedMediaType
        if body.size + len(chunk) > limit:
            raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
        if not is_announced and body.size <= SMALL < body.size + len(chunk):
            await share.reserve(limit)  # it may become that large, and must reserve only once
        body.add(chunk)
    share.shrink(body.size)
    return body.content()


class _BodyBuffer:
    """Collects the chunks of a body without a second copy of it.

    A large body of announced length is written to a memory file: the kernel allocates its pages as they are written,
    frees them as soon as the call is over, and can share them with a child process.
    """

    __slots__ = ("_pages", "_rest", "size")

    def __init__(self, announced: int) -> None:
        self._pages = _allocate(announced) if announced > LARGE else None
        self._rest: bytes | bytearray = b""
        self.size = 0

    def add(self, chunk: bytes) -> None:
        start, self.size = self.size, self.size + len(chunk)
        if self._pages is not None and self.size <= len(self._pages):
            self._pages[start : self.size] = chunk
        elif self._pages is not None:  # HTTP servers stop at the announced length
            raise InvalidJson("The body is longer than its Content-Length.")
        elif not start:
            self._rest = chunk
        else:
            if isinstance(self._rest, bytes):
                self._rest = bytearray(self._rest)
            self._rest += chunk

    def content(self) -> JsonText:
        if self._pages is None:
            return self._rest
        return self._pages if self.size == len(self._pages) else self._pages[: self.size]


def _allocate(size: int) -> MappedBody:
    file = os.memfd_create("body", os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    return MappedBody.of(file, size)


async def _read_chunks(request: Request, http: HttpSettings) -> AsyncIterator[bytes]:
    """The chunks of the body; INVALID_JSON if the client pauses for too long or is too slow overall."""
    stream = aiter(request.stream())
    time = asyncio.get_running_loop().time
    left = _GRACE_SECONDS
    while True:
        started = time()
        try:
            async with asyncio.timeout(min(left, http.body_timeout_seconds)):
                chunk = await anext(stream, None)
        except TimeoutError as slow:
            if left <= http.body_timeout_seconds:
                raise InvalidJson(
                    f"The body arrived at less than {http.slowest_bytes_per_second} bytes per second."
                ) from slow
            raise InvalidJson(f"No data of the body arrived for {http.body_timeout_seconds:g} seconds.") from slow
        if chunk is None:
            return
        left += len(chunk) / http.slowest_bytes_per_second - (time() - started)
        yield chunk


def _is_json(headers: Mapping[str, str]) -> bool:
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.strip(" ;").removeprefix("charset=").strip('"')
    return kind.strip() == "application/json" and charset in ("", "utf-8", "utf8")
