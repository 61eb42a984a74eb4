"""The declaration of a setting: a dataclass field with default, documentation and bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from mailkeep.settings.formats import ValueFormat

ALL = ("mailkeep",)
"""All of Mailkeep: file and environment are read at its start."""


def setting(  # noqa: PLR0913 - keywords
    default: Any,
    doc: str,
    value_format: ValueFormat | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
    read_at_start: Sequence[str] = (),
    embedded: bool | None = None,
    applies_with: str = "",
    stored: bool = True,
) -> Any:
    """A dataclass field. `low` and `high` are the bounds of a number; an empty string that is the default is always
    valid. `stored`: the API may change it (never a setting that names a file).

    `read_at_start`: our processes (full profile) that read it only at their start, instead of `app.settings` at each
    use; `mailkeep`: all of Mailkeep. `embedded`: whether the embedded profile's process reads it only at its start;
    None: if any process does. `applies_with`: the setting that it must take effect with.
    """
    metadata = {"doc": doc, "format": value_format, "low": low, "high": high, "secret": secret}
    metadata |= {"read_at_start": tuple(read_at_start), "embedded": embedded, "applies_with": applies_with}
    metadata |= {"stored": stored}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)
