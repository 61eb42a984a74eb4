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
    """A dataclass field. An empty string is checked against `value_format` unless it is the default."""
    metadata = {"doc": doc, "format": value_format, "low": low, "high": high, "secret": secret}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)
