"""Errors about the shape of a value (a list instead of text, a missing member) in plain words."""

from __future__ import annotations

import re

import msgspec

_NAMES = {
    "array": "a list",
    "object": "a table",
    "str": "text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
_PLACE = re.compile(r" - at `(.*)`$")
_OTHER_TYPE = re.compile(r"Expected `([a-z |]+)`, got `([a-z]+)`$")
_MEMBER = re.compile(r"Object (missing required|contains unknown) field `(.*)`$")


def explain(fault: ValueError) -> str:
    """The text of an error; msgspec's about other types and members in plain words, with the place."""
    if not isinstance(fault, msgspec.ValidationError):
        return "it is not JSON" if isinstance(fault, msgspec.DecodeError) else str(fault)
    found = _PLACE.search(str(fault))
    text = _PLACE.sub("", str(fault))
    place = _name_place(found[1]) if found else "the value"
    if match := _OTHER_TYPE.match(text):
        expected = " or ".join(_NAMES.get(each, each) for each in match[1].split(" | "))
        return f"{place} is {_NAMES.get(match[2], match[2])}, not {expected}"
    if match := _MEMBER.match(text):
        verb = "has no" if match[1] == "missing required" else "must not have"
        return f"{place} {verb} `{match[2]}`"
    return text if not found else f"{place}: {text}"


def _name_place(path: str) -> str:
    """`$[0].scopes[1]` as `entry 2 of scopes of entry 1`."""
    parts = re.findall(r"\[([0-9]+)\]|\.([^.\[\]]+)|(\[\.\.\.\])", path)
    names = [f"entry {int(index) + 1}" if index else f"`{name}`" if name else "a value" for index, name, _ in parts]
    return " of ".join(reversed(names)) or "the value"
