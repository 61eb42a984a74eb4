"""All settings by key, with type, default and declaration."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mailkeep.settings.formats import ValueFormat
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


SECTIONS: dict[str, type[Any]] = get_type_hints(Settings)
FIELDS = {
    f"{name}.{field.name}": SettingField(get_type_hints(section)[field.name], field.default, **field.metadata)
    for name, section in SECTIONS.items()
    for field in dataclasses.fields(section)
}
"""All settings by key, in the order of the tree."""
