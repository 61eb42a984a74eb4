"""The types of values in `overlays.toml`, with their bounds: `time 5s to 10m`, `number 30 to 100`, `decimal -10 to 10`,
`size 64k to 1M`, `yes/no`, `one of a, b`, `some of a, b` (several, with commas or spaces between), and `words`.

Each daemon writes times, sizes and words for yes and no in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_MAX_WORDS = 200
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20}
_BOUND = re.compile(r"(-?[0-9]+)([a-zA-Z]?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a daemon reads values. The first letter of a unit decides."""

    time: re.Pattern[str]
    times: str
    yes_no: tuple[str, ...]


_SYNTAX: Mapping[str, _Syntax] = {
    # Without a unit, Postfix takes another one for each parameter; Dovecot refuses it.
    "postfix": _Syntax(re.compile(r"([0-9]{1,9})([smhdw])"), "with its unit: s, m, h, d or w", ("yes", "no")),
    "dovecot": _Syntax(
        re.compile(r"([0-9]{1,9}) ?(s|secs?|m|mins?|h|hours?|d|days?|w|weeks?)"),
        "with its unit: s, m, h, d or w",
        ("yes", "no"),
    ),
    # To Rspamd 10m is ten million.
    "rspamd": _Syntax(
        re.compile(r"([0-9]{1,9})(|s|min|h|d|w)"),
        "in seconds or with its unit: s, min, h, d or w",
        ("yes", "no", "true", "false", "on", "off"),
    ),
}
_SIZE = re.compile(r"([0-9]{1,12}) ?(|[bkm]|kb|mb)", re.IGNORECASE)


@cache
def _split(spec: str) -> tuple[str, tuple[str, ...]]:
    """The type of a value, and its two bounds or its possible words. ValueError if the text is none."""
    kind = next((each for each in ("one of", "some of") if spec.startswith(f"{each} ")), spec.split(" ", 1)[0])
    rest = spec.removeprefix(kind).strip()
    match kind:
        case "one of" | "some of" if rest:
            return kind, tuple(rest.split(", "))
        case "time" | "number" | "decimal" | "size" if rest.count(" to ") == 1:
            return kind, tuple(rest.split(" to "))
        case "yes/no" | "words" if not rest:
            return kind, ()
        case _:
            raise ValueError(f"{spec!r} is no type of a value")


def check_value(service: str, spec: str, value: str) -> str | None:
    """What is wrong with a parameter's value; None if nothing. `spec`: its type, with the bounds."""
    return None if _fits(service, spec, value) else f"expected {_describe(service, spec)}, not {value!r}"


def _describe(service: str, spec: str) -> str:
    kind, parts = _split(spec)
    between = " to ".join(parts)
    match kind:
        case "time":
            return f"a time from {between}, {_SYNTAX[service].times}"
        case "number":
            return f"a whole number from {between}"
        case "decimal":
            return f"a number from {between}"
        case "size":
            return f"a size from {between}"
        case "yes/no":
            return "yes or no"
        case "words":
            return f"at most {_MAX_WORDS} characters, and at least one word"
        case _:
            return spec


def _fits(service: str, spec: str, value: str) -> bool:
    kind, parts = _split(spec)
    match kind:
        case "time":
            match = _SYNTAX[service].time.fullmatch(value)
            return match is not None and _is_between(int(match[1]) * _UNITS[match[2][:1]], parts, _UNITS)
        case "number":
            return bool(re.fullmatch(r"-?[0-9]{1,12}", value, re.ASCII)) and _is_between(int(value), parts, {"": 1})
        case "decimal":
            found = re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", value, re.ASCII)
            return found is not None and _is_between(float(value), parts, {"": 1})
        case "size":
            match = _SIZE.fullmatch(value)
            return match is not None and _is_between(int(match[1]) * _SIZES[match[2][:1].lower()], parts, _SIZES)
        case "yes/no":
            return value in _SYNTAX[service].yes_no
        case "one of":
            return value in parts
        case "some of":
            return set(re.split(r",? +", value)) <= set(parts)
        case _:
            return 0 < len(value) <= _MAX_WORDS


def _is_between(found: float, bounds: tuple[str, ...], units: Mapping[str, int]) -> bool:
    low, high = (
        int(match[1]) * units[match[2].lower()] for bound in bounds if (match := _BOUND.fullmatch(bound)) is not None
    )
    return low <= found <= high
