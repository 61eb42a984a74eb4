"""Large strings of a JSON body, left where they are: slices of the bytes that came, not decoded, not copied.

A body of 49 MB is mostly one attachment. Its large strings are cut out before the rest is parsed as strictly
as any body; whoever reads such a field either takes the raw bytes (`raw`) or has them decoded (`text`).
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
    """A body in pages of its own, which other processes can be given by the descriptor `fd`."""

    fd: int

    @classmethod
    def of(cls, fd: int, size: int) -> MappedBody:
        """All of a file; the descriptor is closed with it."""
        self = cls(fd, size)
        self.fd = fd
        return self

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)


JsonText = bytes | bytearray | mmap
CUT_BODIES_OVER = 64 << 10
CUT_STRINGS_OVER = 32 << 10
MAX_VALUES = 1_000_000
FEW_STRINGS = 1000

_TOO_MANY = f"The body has more than {MAX_VALUES:,} values."
_BACKSLASH = 0x5C
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NOT_PLAIN = (b"\\", b"\n", b"\r")


@dataclass(frozen=True, slots=True)
class StringView:
    """A JSON string as it stands in the body, without its quotes; `plain`: no escapes, no line breaks."""

    raw: memoryview
    plain: bool
    start: int = 0
    """Where in the body it begins."""

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
    """Whether a body has few strings, and little besides large ones: looking costs less than reading it would."""
    at = rest = 0
    for _ in range(FEW_STRINGS):
        start = body.find(b'"', at)
        end = _end_of_string(body, start + 1) if start >= 0 else -1
        if end < 0:
            return rest + len(body) - at <= CUT_BODIES_OVER
        rest += start - at
        if end - start <= CUT_STRINGS_OVER:
            rest += end - start
        at = end + 1
        if rest > CUT_BODIES_OVER:
            return False
    return False


def extract_large_strings(body: JsonText) -> tuple[bytes, dict[str, StringView]]:
    """The body with a short string in place of each large one, and what these stand for: the body must not change.

    INVALID_JSON for a body of more values than memory and time should be spent on: some bytes of JSON can become
    fifty of memory.
    """
    view, mark = memoryview(body), os.urandom(12).hex()
    kept: list[bytes | memoryview] = []
    slices: dict[str, StringView] = {}
    done = at = 0
    for _ in range(MAX_VALUES):
        start = body.find(b'"', at)
        end = _end_of_string(body, start + 1) if start >= 0 else -1
        if end < 0:
            break
        if end - start > CUT_STRINGS_OVER:
            name = f"{mark}:{len(slices)}"
            plain = all(body.find(char, start + 1, end) < 0 for char in _NOT_PLAIN)
            slices[name] = StringView(view[start + 1 : end], plain, start + 1)
            kept += [view[done:start], f'"{name}"'.encode()]
            done = end + 1
        at = end + 1
    else:
        raise InvalidJson(_TOO_MANY)
    kept.append(view[done:])
    rest = b"".join(kept)
    if rest.count(b",") > MAX_VALUES:
        raise InvalidJson(_TOO_MANY)
    return rest, slices


def _end_of_string(body: JsonText, start: int) -> int:
    """Where the string begun at `start` is closed, -1 where it is not."""
    end = body.find(b'"', start)
    if end > start and body[end - 1] == _BACKSLASH:
        found = _STRING_REST.match(body, start)
        end = found.end() - 1 if found else -1
    return end


def restore_strings(value: Any, slices: dict[str, StringView]) -> Any:
    """The parsed value with the slices in their places; INVALID_JSON for a large key, which is no field of ours."""
    if isinstance(value, str):
        return slices.get(value, value)
    if isinstance(value, list):
        return [restore_strings(item, slices) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value)
        if not slices.keys().isdisjoint(entries):
            raise InvalidJson(f"A key is longer than {CUT_STRINGS_OVER >> 10} KiB.")
        return {name: restore_strings(item, slices) for name, item in entries.items()}
    return value
