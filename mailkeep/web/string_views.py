"""Large strings of a JSON body as views of its bytes, neither decoded nor copied.

A body of 49 MB is mostly one attachment. Its large strings are extracted before the rest is parsed as strictly as any
body; the reader of such a field uses the raw bytes (`raw`) or decodes them (`text`).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from mmap import mmap
from typing import Any, cast

from mailkeep.core.errors import InvalidJson


class MappedBody(mmap):
    """A body in a memory file, which can be shared with another process by its descriptor `fd`."""

    fd: int

    @classmethod
    def of(cls, fd: int, size: int) -> MappedBody:
        """Map a whole file; the descriptor is closed with the map."""
        body = cls(fd, size)
        body.fd = fd
        return body

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)


JsonText = bytes | bytearray | mmap
EXTRACT_FROM_BODIES_OVER = 64 << 10
EXTRACT_STRINGS_OVER = 32 << 10
MAX_VALUES = 1_000_000
FEW_STRINGS = 1000

_TOO_MANY = f"The body has more than {MAX_VALUES:,} values."
_BACKSLASH = 0x5C
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NOT_PLAIN = (b"\\", b"\n", b"\r")


@dataclass(frozen=True, slots=True)
class StringView:
    """A JSON string as it is in the body, without its quotes; `plain`: without escapes and line breaks."""

    raw: memoryview
    plain: bool
    start: int = 0
    """Its offset in the body."""

    def text(self) -> str:
        """The string's value; INVALID_JSON for bad escapes, control characters, bytes that are not UTF-8."""
        try:
            value: str = json.loads(b'"' + bytes(self.raw) + b'"')
            value.encode()
        except ValueError as error:
            raise InvalidJson(f"A string of the body is not valid JSON: {error}.") from error
        return value

    def __len__(self) -> int:
        """Bytes in the body: at least as many as the value has characters."""
        return len(self.raw)


def is_mostly_large_strings(body: JsonText) -> bool:
    """Whether a body has at most `FEW_STRINGS` strings, and little besides large ones. Cheaper than parsing."""
    position = other_bytes = 0
    for _ in range(FEW_STRINGS):
        start = body.find(b'"', position)
        end = _end_of_string(body, start + 1) if start >= 0 else -1
        if end < 0:
            return other_bytes + len(body) - position <= EXTRACT_FROM_BODIES_OVER
        other_bytes += start - position
        if end - start <= EXTRACT_STRINGS_OVER:
            other_bytes += end - start
        position = end + 1
        if other_bytes > EXTRACT_FROM_BODIES_OVER:
            return False
    return False


def extract_large_strings(body: JsonText) -> tuple[bytes, dict[str, StringView]]:
    """The body with placeholders for large strings, and the strings by placeholder. The body must not change later.

    INVALID_JSON if the body has more than `MAX_VALUES` values: one byte of JSON can take fifty bytes of memory.
    """
    view, prefix = memoryview(body), os.urandom(12).hex()
    pieces: list[bytes | memoryview] = []
    views: dict[str, StringView] = {}
    copied = position = 0
    for _ in range(MAX_VALUES):
        start = body.find(b'"', position)
        end = _end_of_string(body, start + 1) if start >= 0 else -1
        if end < 0:
            break
        if end - start > EXTRACT_STRINGS_OVER:
            placeholder = f"{prefix}:{len(views)}"
            plain = all(body.find(char, start + 1, end) < 0 for char in _NOT_PLAIN)
            views[placeholder] = StringView(view[start + 1 : end], plain, start + 1)
            pieces += [view[copied:start], f'"{placeholder}"'.encode()]
            copied = end + 1
        position = end + 1
    else:
        raise InvalidJson(_TOO_MANY)
    pieces.append(view[copied:])
    reduced = b"".join(pieces)
    if reduced.count(b",") > MAX_VALUES:
        raise InvalidJson(_TOO_MANY)
    return reduced, views


def _end_of_string(body: JsonText, start: int) -> int:
    """The offset of the closing quote of the string that starts at `start`; -1 if there is none."""
    end = body.find(b'"', start)
    if end > start and body[end - 1] == _BACKSLASH:
        match = _STRING_REST.match(body, start)
        end = match.end() - 1 if match else -1
    return end


def restore_strings(value: Any, views: dict[str, StringView]) -> Any:
    """The parsed value with the views in place of the placeholders; INVALID_JSON for a large key."""
    if isinstance(value, str):
        return views.get(value, value)
    if isinstance(value, list):
        return [restore_strings(item, views) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value)
        if not views.keys().isdisjoint(entries):
            raise InvalidJson(f"A key is longer than {EXTRACT_STRINGS_OVER >> 10} KiB.")
        return {name: restore_strings(item, views) for name, item in entries.items()}
    return value


def read_views(value: Any) -> Any:
    """A parsed value with strings in place of views, for readers that do not know views. INVALID_JSON."""
    if isinstance(value, StringView):
        return value.text()
    if isinstance(value, list):
        return [read_views(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {name: read_views(item) for name, item in cast(dict[str, Any], value).items()}
    return value
