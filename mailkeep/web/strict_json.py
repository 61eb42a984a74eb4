"""Strict JSON parsing (RFC 8259).

INVALID_JSON is raised for anything but UTF-8 without BOM, duplicate keys, NaN and Infinity, numbers that overflow, lone
surrogates, and more than 64 levels of nesting.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from itertools import accumulate
from typing import Any, NoReturn

import msgspec

from mailkeep.core.errors import InvalidJson
from mailkeep.web.string_views import EXTRACT_FROM_BODIES_OVER, JsonText, extract_large_strings, restore_strings

MAX_DEPTH = 64


def parse_json(body: JsonText) -> Any:
    """The value of a JSON text, or INVALID_JSON. Large strings of a large body become `StringView`s."""
    if len(body) > EXTRACT_FROM_BODIES_OVER:
        reduced, views = extract_large_strings(body)
        return restore_strings(_parse(reduced), views) if views else _parse(reduced)
    return _parse(bytes(body))


def _parse(body: bytes) -> Any:
    try:
        text = str(body, "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJson("The body is not UTF-8.") from error
    if text.startswith("\ufeff"):
        raise InvalidJson("The body starts with a byte order mark.")
    if _is_too_deep(body):
        raise InvalidJson(f"The body is nested deeper than {MAX_DEPTH} levels.")
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}.") from error
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _is_too_deep(body: bytes) -> bool:
    """Whether brackets outside strings are nested too deeply. Takes linear time for any body."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return False
    steps = _STRING.sub(b"", body).translate(_STEPS, _NO_BRACKETS)
    depth = 0
    for start in range(0, len(steps), _CHUNK):  # in chunks, so that the event loop can run if this is in a thread
        chunk = array("b", steps[start : start + _CHUNK])
        if max(accumulate(chunk, initial=depth)) > MAX_DEPTH:
            return True
        depth += sum(chunk)
    return False


# A string that is not closed matches to the end; otherwise each quote in it would be tried as the start of a string.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
# Steps of the depth as signed bytes: +1 for an opening bracket, -1 for a closing one.
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_CHUNK = 1 << 16
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {duplicate[:80]!r} is duplicated")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _parse_int(text: str) -> int | float:
    """An integer; beyond 64 bits the nearest float, which integer fields reject."""
    number = int(text) if len(text) <= 20 else _parse_float(text)
    return number if -(1 << 63) <= number < 1 << 63 else float(number)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicates,
    parse_constant=_refuse_constant,
    parse_float=_parse_float,
    parse_int=_parse_int,
)


def _refuse_surrogates(value: Any) -> None:
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError) as error:
        raise InvalidJson("A string contains a lone surrogate.") from error
