"""All settings by key, with type, default and declaration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mailkeep.settings.formats import PATH, ValueFormat
from mailkeep.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting: its type and its declaration."""

    base: Any
    default: object
    doc: str
    format: ValueFormat | None
    low: float | None
    high: float | None
    secret: bool
    read_at_start: tuple[str, ...]
    embedded: bool | None
    applies_with: str
    stored: bool

    @property
    def is_text(self) -> bool:
        """Whether its values are text, which is written without quotes in the environment."""
        return self.base is str or get_origin(self.base) is Literal

    @property
    def expectation(self) -> str:
        """What a value must be, for errors and documentation."""
        if self.format:
            return self.format.expected + (", or an empty string" if self.default == "" else "")
        if get_origin(self.base) is Literal:
            return "one of " + ", ".join(get_args(self.base))
        if self.base is str:
            return "text"
        if self.base is bool:
            return "true or false"
        return f"{'a whole number' if self.base is int else 'a number'} from {self.low} to {self.high}"


NEVER_STORED = ("http", "database")
"""Sections that only file, environment and options set: no change by the API can lock its administrators out."""
SECTIONS: dict[str, type[Any]] = get_type_hints(Settings)
FIELDS = {
    f"{name}.{field.name}": SettingField(get_type_hints(section)[field.name], field.default, **field.metadata)
    for name, section in SECTIONS.items()
    for field in dataclasses.fields(section)
}
"""All settings by key, in the order of the tree."""


def is_storable(key: str) -> bool:
    """Whether the API may change this setting: not those of `NEVER_STORED`, and none that names a file."""
    field = FIELDS[key]
    return field.stored and field.format is not PATH and key.partition(".")[0] not in NEVER_STORED
