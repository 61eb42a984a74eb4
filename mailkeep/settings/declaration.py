"""The declaration of a setting: a dataclass field with default, documentation and bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

from mailkeep.settings.formats import ValueFormat


def setting(
    default: Any,
    doc: str,
    value_format: ValueFormat | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
) -> Any:
    """A dataclass field. `low` and `high` are the bounds of a number; an empty string that is the default is always
    valid.
    """
    metadata = {"doc": doc, "format": value_format, "low": low, "high": high, "secret": secret}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)
