"""A request's body as it comes: what is refused of it, how fast it must come, where it lies meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping

from starlette.requests import Request

from mailkeep.core.errors import InvalidJson, PayloadTooLarge, UnsupportedMediaType
from mailkeep.settings.tree import HttpSettings
from mailkeep.web.memory_budget import SMALL, MemoryReservation
from mailkeep.web.string_views import JsonText, MappedBody

LARGE = 1 << 20
"""Bytes above which a body lies in pages of its own, and is parsed beside the event loop."""

_GRACE_SECONDS = 60.0  # seconds that any body may take, whatever its pace


async def read_body(request: Request, limit: int, share: MemoryReservation, http: HttpSettings) -> JsonText:
    """The body, at most `limit` bytes, read within `share` of the memory and the deadlines of `http`.

    Refused before it is read where the head says enough (length, encoding), at its first byte if no JSON.
    """
    headers = request.headers
    announced = headers.get("content-length")
    if announced is None:
        if "transfer-encoding" not in headers:
            return b""  # RFC 9112 §6.3: there is none
        announced = "0"
    if not _is_number(announced) or int(announced) > limit:
        raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Encoded bodies are not taken.")
    is_announced = "content-length" in headers
    if is_announced:
        await share.reserve(int(announced))
    body = _BodyBuffer(int(announced))
    async for piece in _read_chunks(request, http):
        if piece and not body.size and not _is_json(headers):
            raise UnsupportedMediaType
        if body.size + len(piece) > limit:
            raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
        if not is_announced and body.size <= SMALL < body.size + len(piece):
            await share.reserve(limit)  # it may become that large, and must not wait a second time
        body.add(piece)
    share.shrink(body.size)
    return body.whole()


class _BodyBuffer:
    """The pieces of a body become one, without being there twice.

    A large one of announced length goes into pages of its own: the system gives them as they are written to, has them
    back at once when the call is over, and can show them to a child process.
    """

    __slots__ = ("_pages", "_rest", "size")

    def __init__(self, announced: int) -> None:
        self._pages = _allocate(announced) if announced > LARGE else None
        self._rest: bytes | bytearray = b""
        self.size = 0

    def add(self, piece: bytes) -> None:
        start, self.size = self.size, self.size + len(piece)
        if self._pages is not None and self.size <= len(self._pages):
            self._pages[start : self.size] = piece
        elif self._pages is not None:  # more than announced: no HTTP server lets it through
            raise InvalidJson("The body is longer than announced.")
        elif not start:
            self._rest = piece
        else:
            if isinstance(self._rest, bytes):
                self._rest = bytearray(self._rest)
            self._rest += piece

    def whole(self) -> JsonText:
        if self._pages is None:
            return self._rest
        return self._pages if self.size == len(self._pages) else self._pages[: self.size]


def _allocate(size: int) -> MappedBody:
    file = os.memfd_create("body", os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    return MappedBody.of(file, size)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


async def _read_chunks(request: Request, http: HttpSettings) -> AsyncIterator[bytes]:
    """The body as it comes: neither silent for too long nor, on the whole, too slow."""
    stream = aiter(request.stream())
    time = asyncio.get_running_loop().time
    left = _GRACE_SECONDS
    while True:
        begun = time()
        try:
            async with asyncio.timeout(min(left, http.body_timeout_seconds)):
                piece = await anext(stream, None)
        except TimeoutError as slow:
            if left <= http.body_timeout_seconds:
                raise InvalidJson(
                    f"The body came with fewer than {http.slowest_bytes_per_second} bytes a second."
                ) from slow
            raise InvalidJson(f"The body did not go on for {http.body_timeout_seconds:g} seconds.") from slow
        if piece is None:
            return
        left += len(piece) / http.slowest_bytes_per_second - (time() - begun)
        yield piece


def _is_json(headers: Mapping[str, str]) -> bool:
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.strip(" ;").removeprefix("charset=").strip('"')
    return kind.strip() == "application/json" and charset in ("", "utf-8", "utf8")
