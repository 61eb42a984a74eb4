"""Reading a request body: which bodies are rejected, how slow a client may be, and where the bytes are kept."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence

from starlette.requests import Request

from mailkeep.core.errors import BadRequest, InvalidJson, PayloadTooLarge, UnsupportedMediaType
from mailkeep.settings.http import HttpSettings
from mailkeep.web.decode_process import LARGE_BODY_BYTES
from mailkeep.web.memory_budget import SMALL, MemoryReservation
from mailkeep.web.string_views import JsonText, MappedBody

_MAX_LENGTH_DIGITS = 18  # of Content-Length
_GRACE_SECONDS = 60.0  # every body may take this long, however slowly it arrives


async def read_body(
    request: Request,
    limit: int,
    reservation: MemoryReservation,
    http: HttpSettings,
    *,
    accepts_csv: bool = False,
    raw_types: Sequence[str] = (),
) -> JsonText:
    """The body, at most `limit` bytes, read within the deadlines of `http`; `reservation` reserves the memory for it.

    A body with a wrong length or encoding is rejected by its header fields, one that is not JSON (or, with
    `accepts_csv`, CSV; with `raw_types`, one of these media types) at its first byte.
    """
    headers = request.headers
    length = headers.get("content-length")
    if length is None and "transfer-encoding" not in headers:
        return b""  # RFC 9112 §6.3: no body
    if length is not None and not (length.isascii() and length.isdigit()):
        raise BadRequest("Content-Length is not a number.")
    if length is not None and (len(length) > _MAX_LENGTH_DIGITS or int(length) > limit):
        raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding (uncompressed).")
    if length is not None:
        await reservation.reserve(int(length))
    body = _BodyBuffer(int(length or 0))
    async for chunk in _read_chunks(request, http):
        if chunk and not body.size:
            _check_media_type(headers, accepts_csv=accepts_csv, raw_types=raw_types)
        if body.size + len(chunk) > limit:
            raise PayloadTooLarge(f"The body is larger than {limit} bytes.", limit=limit)
        if length is None and body.size <= SMALL < body.size + len(chunk):
            await reservation.reserve(limit)  # the body may become that large, and a request reserves only once
        body.add(chunk)
    reservation.shrink(body.size)
    return body.content()


class _BodyBuffer:
    """Collects the chunks of a body without a second copy of it.

    A large body with a Content-Length is written to a memory file: the kernel allocates its pages as they are written,
    frees them as soon as the request is over, and can share them with a child process.
    """

    __slots__ = ("_buffer", "_file", "size")

    def __init__(self, content_length: int) -> None:
        self._file = _allocate(content_length) if content_length > LARGE_BODY_BYTES else None
        self._buffer: bytes | bytearray = b""
        self.size = 0

    def add(self, chunk: bytes) -> None:
        start, self.size = self.size, self.size + len(chunk)
        if self._file is not None and self.size <= len(self._file):
            self._file[start : self.size] = chunk
        elif self._file is not None:  # the HTTP server stops at Content-Length
            raise InvalidJson("The body is longer than its Content-Length.")
        elif not start:
            self._buffer = chunk
        else:
            if isinstance(self._buffer, bytes):
                self._buffer = bytearray(self._buffer)
            self._buffer += chunk

    def content(self) -> JsonText:
        if self._file is None:
            return self._buffer
        return self._file if self.size == len(self._file) else self._file[: self.size]


def _allocate(size: int) -> MappedBody:
    file = os.memfd_create("body", os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    return MappedBody.of(file, size)


async def _read_chunks(request: Request, http: HttpSettings) -> AsyncIterator[bytes]:
    """The chunks of the body; INVALID_JSON if the client pauses for too long or is too slow overall."""
    stream = aiter(request.stream())
    time = asyncio.get_running_loop().time
    remaining = _GRACE_SECONDS
    while True:
        started_at = time()
        try:
            async with asyncio.timeout(min(remaining, http.body_timeout_seconds)):
                chunk = await anext(stream, None)
        except TimeoutError as slow:
            if remaining <= http.body_timeout_seconds:
                raise InvalidJson(
                    f"The body arrived at less than {http.slowest_bytes_per_second} bytes per second."
                ) from slow
            raise InvalidJson(
                f"The body is incomplete: no data arrived for {http.body_timeout_seconds:g} seconds."
            ) from slow
        if chunk is None:
            return
        remaining += len(chunk) / http.slowest_bytes_per_second - (time() - started_at)
        yield chunk


def _check_media_type(headers: Mapping[str, str], *, accepts_csv: bool, raw_types: Sequence[str]) -> None:
    if raw_types:
        if headers.get("content-type", "").partition(";")[0].strip().lower() not in raw_types:
            raise UnsupportedMediaType(f"The body must be {' or '.join(raw_types)}.")
    elif not (_is_json(headers) or (accepts_csv and is_csv(headers))):
        text = "The body must be application/json or text/csv, in UTF-8." if accepts_csv else None
        raise UnsupportedMediaType(text)


def _is_json(headers: Mapping[str, str]) -> bool:
    return _is_utf8(headers, "application/json", "")


def is_csv(headers: Mapping[str, str]) -> bool:
    """Whether the body is CSV; the parameter `header` (RFC 4180 §3) is not required."""
    return _is_utf8(headers, "text/csv", "header=present")


def _is_utf8(headers: Mapping[str, str], media_type: str, ignored: str) -> bool:
    kind, *parameters = (part.strip() for part in headers.get("content-type", "").lower().split(";"))
    charsets = [part.removeprefix("charset=").strip('"') for part in parameters if part not in ("", ignored)]
    return kind == media_type and len(charsets) <= 1 and all(each in ("utf-8", "utf8") for each in charsets)
