"""Large strings of a JSON body, left where they are: slices of the bytes that came, not decoded, not copied.

A body of 49 MB is mostly one attachment. Its large strings are cut out before the rest is parsed as strictly
as any body; whoever reads such a field either takes the raw bytes (`raw`) or has them decoded (`text`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, cast

from mailkeep.core.errors import InvalidJson

CUT_BODIES_OVER = 64 << 10
CUT_STRINGS_OVER = 32 << 10

_BACKSLASH = 0x5C


@dataclass(frozen=True, slots=True)
class Slice:
    """A JSON string as it stands in the body, without its quotes; `plain` says that it holds no escapes."""

    raw: memoryview
    plain: bool

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


def cut(body: bytes | bytearray) -> tuple[bytes | bytearray, dict[str, Slice]]:
    """The body with a short string in place of each large one, and what these stand for: the body must not change."""
    view, mark = memoryview(body), os.urandom(12).hex()
    kept: list[bytes | memoryview] = []
    slices: dict[str, Slice] = {}
    done = at = 0
    while (start := body.find(b'"', at)) >= 0 and (end := _end_of_string(body, start + 1)) >= 0:
        if end - start > CUT_STRINGS_OVER:
            name = f"{mark}:{len(slices)}"
            slices[name] = Slice(view[start + 1 : end], body.find(b"\\", start + 1, end) < 0)
            kept += [view[done:start], f'"{name}"'.encode()]
            done = end + 1
        at = end + 1
    if not slices:
        return body, slices
    kept.append(view[done:])
    return b"".join(kept), slices


def _end_of_string(body: bytes | bytearray, start: int) -> int:
    """Where the string begun at `start` is closed: the next quote after an even run of backslashes."""
    end = body.find(b'"', start)
    while end > start and body[end - 1] == _BACKSLASH:
        first = end - 1
        while first > start and body[first - 1] == _BACKSLASH:
            first -= 1
        if (end - first) % 2 == 0:
            break
        end = body.find(b'"', end + 1)
    return end


def restore(value: Any, slices: dict[str, Slice]) -> Any:
    """The parsed value with the slices in their places; a large key is no field of ours and stays cut."""
    if isinstance(value, str):
        return slices.get(value, value)
    if isinstance(value, list):
        return [restore(item, slices) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {name: restore(item, slices) for name, item in cast(dict[str, Any], value).items()}
    return value
