"""The declaration of a setting: a dataclass field with default, documentation and bounds."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from mailkeep.settings.formats import ValueFormat

Effect = Literal["none", "restart"]
"""What a change needs: nothing, because running processes use the new value, or a restart of Mailkeep."""


def setting(  # noqa: PLR0913 - keywords
    default: Any,
    doc: str,
    value_format: ValueFormat | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
    effect: Effect = "none",
    stored: bool = True,
) -> Any:
    """A dataclass field. `low` and `high` are the bounds of a number; an empty string that is the default is always
    valid. `stored`: the API may change it (never a setting that names a file).
    """
    metadata = {"doc": doc, "format": value_format, "low": low, "high": high, "secret": secret}
    metadata |= {"effect": effect, "stored": stored}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)
