"""How a setting is declared: a dataclass field with default, meaning and bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

from mailkeep.settings.grammar import Grammar


def setting(
    default: Any,
    doc: str,
    grammar: Grammar | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
) -> Any:
    """A field: an empty text passes its grammar only where it is the default."""
    told = {"doc": doc, "grammar": grammar, "low": low, "high": high, "secret": secret}
    return dataclasses.field(default=default, metadata=told, repr=not secret)
